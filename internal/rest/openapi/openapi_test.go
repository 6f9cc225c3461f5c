package openapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pregon/internal/rest"
	"pregon/internal/rest/openapi"
)

func parsed(t *testing.T) *openapi.Document {
	t.Helper()
	text, err := rest.OpenAPIJSON("https://pregon.example", true)
	if err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func operation(t *testing.T, d *openapi.Document, id string) *openapi.Operation {
	t.Helper()
	i := slices.IndexFunc(d.Operations, func(o *openapi.Operation) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("there is no operation %s", id)
	}
	return d.Operations[i]
}

// TestEveryOperation: nothing of our document is lost: every reference is resolved, and
// every response in JSON has fields and an example.
func TestEveryOperation(t *testing.T) {
	d := parsed(t)
	if len(d.Operations) < 40 {
		t.Fatalf("%d operations, want all", len(d.Operations))
	}
	for _, op := range d.Operations {
		if op.ID == "" || op.Summary == "" || op.Description == "" || len(op.Tags) == 0 {
			t.Errorf("%s %s: id %q, summary %q, tags %v", op.Method, op.Path, op.ID, op.Summary, op.Tags)
		}
		for _, p := range op.Parameters {
			if p.Name == "" || p.Description == "" || d.Kind(p.Schema) == "" || len(p.Samples()) == 0 {
				t.Errorf("%s: parameter %+v", op.ID, p)
			}
		}
		if len(op.Answers()) == 0 {
			t.Errorf("%s has no responses", op.ID)
		}
		for _, r := range op.Answers() {
			if r.Description == "" || r.Status == "" {
				t.Errorf("%s: response %+v", op.ID, r)
			}
			if slices.Contains(r.Types, "application/json") && !json.Valid([]byte(r.Example)) {
				t.Errorf("%s %s: example %q", op.ID, r.Status, r.Example)
			}
		}
		if op.BodyType == "application/json" && (!json.Valid([]byte(op.BodyExample)) || len(op.Body) == 0) {
			t.Errorf("%s: example of the body %q", op.ID, op.BodyExample)
		}
	}
}

func TestDetails(t *testing.T) {
	d := parsed(t)
	list := operation(t, d, "getReports")
	if list.NeedsCredential || !operation(t, d, "streamEvents").NeedsCredential {
		t.Error("lists need no credential, and streams do")
	}
	kind := ""
	for _, p := range list.Parameters {
		if p.Name == "limit" {
			kind = d.Kind(p.Schema)
		}
	}
	if kind != "integer, from 1 to 50, default 10" {
		t.Errorf("limit is %q", kind)
	}
	ok := list.Responses["200"]
	if !slices.ContainsFunc(ok.Fields, func(f openapi.Field) bool {
		return f.Name == "data[].company_name" && f.Kind != "" && f.Description != ""
	}) {
		t.Errorf("fields of a list: %+v", ok.Fields)
	}
	if !strings.Contains(ok.Example, `"company_name": "BODEGAS DE VALDEBRISA, S.A."`) {
		t.Errorf("example of a list: %s", ok.Example)
	}
	if r := list.Responses["400"]; r.Name != "Invalid" || !r.Failed() {
		t.Errorf("400: %+v", r)
	}
	if !strings.Contains(operation(t, d, "createWebhook").BodyExample, "dividendo") {
		t.Error("the body of a webhook has no example")
	}
	statuses := []string{}
	for _, r := range d.Errors() {
		statuses = append(statuses, r.Status+" "+r.Name)
	}
	if got := strings.Join(statuses, ", "); !strings.HasPrefix(got, "400 Invalid, ") || !strings.Contains(got, "429 Limited") || strings.Contains(got, "NotModified") {
		t.Errorf("errors %s", got)
	}
}

// TestSample: a body without an example gets one of its schema, even if the schema
// contains itself.
func TestSample(t *testing.T) {
	d, err := openapi.Parse([]byte(`{"paths":{"/a":{"post":{"operationId":"a",
		"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Node"}}}},
		"responses":{"200":{"description":"Yes.","content":{"application/json":{"schema":{"anyOf":[{"type":"null"},{"$ref":"#/components/schemas/Node"}]}}}}}}}},
		"components":{"schemas":{"Node":{"type":"object","required":["next","kind","at","n","many","yes"],"properties":{
			"next":{"$ref":"#/components/schemas/Node"},"kind":{"type":["string","null"],"enum":["x","y"]},"at":{"type":"string","format":"date"},
			"n":{"type":"integer","minimum":3},"many":{"type":"array","items":{"type":"string"}},"yes":{"type":"boolean"},"other":{"type":"string"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	op := operation(t, d, "a")
	var got struct {
		Kind, At string
		N        int
		Many     []string
		Yes      bool
		Next     map[string]any
		Other    *string
	}
	if err := json.Unmarshal([]byte(op.BodyExample), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "x" || got.At != "2026-04-22" || got.N != 3 || len(got.Many) != 1 || !got.Yes || got.Next["kind"] != "x" || got.Other != nil {
		t.Errorf("example %s", op.BodyExample)
	}
	if len(op.Responses["200"].Fields) == 0 || op.Responses["200"].Example == "" {
		t.Errorf("response %+v", op.Responses["200"])
	}
}

// The fields of a position are those of all kinds.
func TestAlternatives(t *testing.T) {
	ok := operation(t, parsed(t), "getPosition").Responses["200"]
	fields := map[string]bool{}
	for _, f := range ok.Fields {
		if _, twice := fields[f.Name]; twice {
			t.Errorf("the field %s is there twice", f.Name)
		}
		fields[f.Name] = f.Required
	}
	for name, required := range map[string]bool{"id": true, "percent": false, "percent_total": false, "trades[].price": true} {
		if got, known := fields[name]; !known || got != required {
			t.Errorf("%s: known %v, required %v, want %v", name, known, got, required)
		}
	}
	if !strings.Contains(ok.Example, `"short-es0sim000010-2026-03-04-1"`) {
		t.Errorf("the example is %s", ok.Example)
	}
}

func TestIntroduction(t *testing.T) {
	d := parsed(t)
	for limit, want := range map[int]string{60: "60 requests in any 60 seconds", 7: "7 requests in any 60 seconds", 0: "as often as you like"} {
		text, err := d.Introduction(limit)
		if err != nil || !strings.Contains(text, want) || limit != 60 && strings.Contains(text, "60 requests in") {
			t.Errorf("with a limit of %d: %v\n%s", limit, err, text)
		}
	}
	if _, err := (&openapi.Document{}).Introduction(0); err == nil {
		t.Error("a document that does not describe the limit is accepted")
	}
	if _, err := openapi.Parse([]byte("{")); err == nil {
		t.Error("text that is not JSON is accepted")
	}
}
