package main

import (
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
	if len(samples) != 2 {
		t.Fatalf("docs/import.md has %d samples, want one of a report and one of an issuer", len(samples))
	}
	if _, err := disclosure.ReadReport([]byte(samples[0][1])); err != nil {
		t.Error(err)
	}
	if _, err := disclosure.ReadIssuer([]byte(samples[1][1])); err != nil {
		t.Error(err)
	}
	_, issuers, _ := strings.Cut(string(text), "## Issuers")
	reports := strings.TrimSuffix(string(text), issuers)
	for _, test := range []struct {
		section string
		types   []reflect.Type
	}{
		{reports, []reflect.Type{reflect.TypeFor[disclosure.Report](), reflect.TypeFor[query.Report]()}},
		{issuers, []reflect.Type{reflect.TypeFor[disclosure.Issuer](), reflect.TypeFor[query.Issuer]()}},
	} {
		var known []string
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

// jsonNames are the names of a record's fields.
func jsonNames(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
