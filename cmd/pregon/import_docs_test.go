package main

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/query"
)

// TestImportDocs checks that the sample lines of docs/import.md can be imported
// unchanged, and that its tables have every field that import knows or the API returns.
func TestImportDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	samples := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllStringSubmatch(string(text), -1)
	if len(samples) != 3 {
		t.Fatalf("docs/import.md has %d samples, want one of a report, an issuer and a position", len(samples))
	}
	if _, err := disclosure.ReadReport([]byte(samples[0][1])); err != nil {
		t.Error(err)
	}
	if _, err := disclosure.ReadIssuer([]byte(samples[1][1])); err != nil {
		t.Error(err)
	}
	if _, err := disclosure.ReadPosition([]byte(samples[2][1])); err != nil {
		t.Error(err)
	}
	reports, rest, _ := strings.Cut(string(text), "## Issuers")
	issuers, positions, _ := strings.Cut(rest, "## Positions")
	for _, test := range []struct {
		section string
		types   []reflect.Type
		known   []string // beside the fields of the types
	}{
		{reports, []reflect.Type{reflect.TypeFor[disclosure.Report](), reflect.TypeFor[query.Report]()}, nil},
		{issuers, []reflect.Type{reflect.TypeFor[disclosure.Issuer](), reflect.TypeFor[query.Issuer]()}, nil},
		{positions, []reflect.Type{reflect.TypeFor[disclosure.Position]()}, apiPositionNames(t)},
	} {
		known := test.known
		for _, of := range test.types {
			known = append(known, jsonNames(of)...)
		}
		var listed []string
		for line := range strings.Lines(test.section) {
			if cell, ok := strings.CutPrefix(line, "| `"); ok {
				cell, _, _ = strings.Cut(cell, " |")
				listed = append(listed, strings.Split(strings.TrimSuffix(cell, "`"), "`, `")...)
			}
		}
		for _, name := range known {
			if !slices.Contains(listed, name) {
				t.Errorf("docs/import.md does not list %s", name)
			}
		}
		for _, name := range listed {
			if !slices.Contains(known, name) {
				t.Errorf("docs/import.md lists %s, which no record has", name)
			}
		}
	}
}

// apiPositionNames returns the names of the fields of positions in the API.
func apiPositionNames(t *testing.T) []string {
	t.Helper()
	fields := map[string]json.RawMessage{"attribution": nil, "as_of_seq": nil}
	for _, kind := range disclosure.PositionKinds {
		if err := json.Unmarshal(disclosure.AppendPosition(nil, &disclosure.Position{Kind: kind}), &fields); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Collect(maps.Keys(fields))
}

// jsonNames are the names of a record's fields.
func jsonNames(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
