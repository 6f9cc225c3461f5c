// Package openapi reads an OpenAPI document for those who render it for readers:
// every operation with its parameters, its body, its responses and examples, with
// all references resolved.
package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Document is the part of an OpenAPI document that is rendered.
type Document struct {
	Info       struct{ Title, Summary, Description string }
	Tags       []Tag
	Security   []Requirement
	Paths      map[string]pathItem
	Components struct {
		Parameters      map[string]Parameter
		Responses       map[string]Response
		Schemas         map[string]Schema
		SecuritySchemes map[string]struct{ Name string }
	}

	// Operations are all operations, in the order of their tags, then of their paths.
	Operations []*Operation `json:"-"`
}

// Tag is a group of operations.
type Tag struct{ Name, Description string }

// Requirement is a set of security schemes that together authorize a request.
// An empty one authorizes any request.
type Requirement map[string][]string

type pathItem struct{ Get, Post, Put, Patch, Delete *Operation }

// Operation is a method of a path.
type Operation struct {
	Method, Path         string `json:"-"`
	NeedsCredential      bool   `json:"-"`
	ID                   string `json:"operationId"`
	Tags                 []string
	Summary, Description string
	Security             *[]Requirement
	Parameters           []Parameter
	RequestBody          struct {
		Description string
		Content     map[string]Media
	}
	Responses map[string]Response

	Body        []Field `json:"-"` // the fields of the body
	BodyType    string  `json:"-"`
	BodyExample string  `json:"-"`
}

// Parameter is a parameter of an operation.
type Parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      Schema
	Example     any
	Examples    map[string]struct {
		Summary string
		Value   any
	}
}

// Media is a body in one format.
type Media struct {
	Schema   Schema
	Example  json.RawMessage
	Examples map[string]struct{ Value json.RawMessage }
}

// Response is a response with a status.
type Response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]Media

	Name    string   `json:"-"` // among the components, or ""
	Status  string   `json:"-"`
	Types   []string `json:"-"` // of its bodies
	Fields  []Field  `json:"-"` // of its body in JSON, nested ones after their object
	Example string   `json:"-"`
}

// Failed reports whether the response is an error.
func (r *Response) Failed() bool { return r.Status >= "400" }

// Schema describes values.
type Schema struct {
	Ref              string `json:"$ref"`
	Type             any    // a word, or a list of them
	Description      string
	Format           string
	Enum             []any
	Const            any
	Minimum, Maximum json.Number
	Default          any
	Properties       map[string]Schema
	Required         []string
	Items            *Schema
	AnyOf            []Schema
	Examples         []json.RawMessage
}

// Field is one member of an object.
type Field struct {
	Name, Kind, Description string
	Required                bool
}

// Parse reads a document in JSON.
func Parse(document []byte) (*Document, error) {
	d := &Document{}
	if err := json.Unmarshal(document, d); err != nil {
		return nil, fmt.Errorf("the OpenAPI document: %w", err)
	}
	for path, item := range d.Paths {
		for method, op := range map[string]*Operation{
			"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete,
		} {
			if op != nil {
				op.Method, op.Path = method, path
				d.resolve(op)
				d.Operations = append(d.Operations, op)
			}
		}
	}
	rank := func(o *Operation) int {
		return slices.IndexFunc(d.Tags, func(t Tag) bool { return slices.Contains(o.Tags, t.Name) })
	}
	slices.SortFunc(d.Operations, func(a, b *Operation) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return d, nil
}

// resolve replaces the references of an operation.
func (d *Document) resolve(op *Operation) {
	for i, p := range op.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			op.Parameters[i] = d.Components.Parameters[name]
		}
	}
	security := d.Security
	if op.Security != nil {
		security = *op.Security
	}
	op.NeedsCredential = len(security) > 0 &&
		!slices.ContainsFunc(security, func(q Requirement) bool { return len(q) == 0 })
	for name, media := range op.RequestBody.Content {
		op.BodyType, op.Body = name, d.Fields(media.Schema)
		if strings.Contains(name, "json") {
			op.BodyExample = d.example(media)
		}
	}
	for status, r := range op.Responses {
		if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
			r = d.Components.Responses[name]
			r.Name = name
		}
		r.Status = status
		op.Responses[status] = d.complete(r)
	}
}

// complete adds what follows from the bodies of a response.
func (d *Document) complete(r Response) Response {
	for name, media := range r.Content {
		r.Types = append(r.Types, name)
		if strings.HasSuffix(name, "json") {
			r.Fields, r.Example = d.nested(media.Schema, "", 0), d.example(media)
		}
	}
	slices.Sort(r.Types)
	return r
}

// Errors returns the errors that operations share, in the order of their statuses.
func (d *Document) Errors() []Response {
	var out []Response
	for name, r := range d.Components.Responses {
		r = d.complete(r)
		r.Name = name
		for _, op := range d.Operations {
			for status, other := range op.Responses {
				if other.Name == name && r.Status == "" || other.Name == name && status < r.Status {
					r.Status = status
				}
			}
		}
		if r.Failed() {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Response) int {
		return cmp.Or(strings.Compare(a.Status, b.Status), strings.Compare(a.Name, b.Name))
	})
	return out
}

// Answers returns the responses in the order of their statuses.
func (o *Operation) Answers() []Response {
	out := make([]Response, 0, len(o.Responses))
	for _, r := range o.Responses {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Response) int { return strings.Compare(a.Status, b.Status) })
	return out
}

// Resolve returns the schema that a reference names.
func (d *Document) Resolve(s Schema) Schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

// Fields returns the fields of an object, required ones first.
func (d *Document) Fields(s Schema) []Field {
	s = d.Resolve(s)
	var out []Field
	for name, property := range s.Properties {
		target := d.Resolve(property)
		out = append(out, Field{
			Name:        name,
			Kind:        d.Kind(property),
			Required:    slices.Contains(s.Required, name),
			Description: oneLine(cmp.Or(property.Description, target.Description)),
		})
	}
	slices.SortFunc(out, func(a, b Field) int {
		if a.Required != b.Required {
			return map[bool]int{true: -1, false: 1}[a.Required]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return out
}

// maxDepth bounds how deep fields are listed: schemas may contain themselves.
const maxDepth = 4

// nested returns the fields of an object and, after each, those inside it, with
// names such as data[].id.
func (d *Document) nested(s Schema, prefix string, depth int) (out []Field) {
	s = d.object(s)
	for _, f := range d.Fields(s) {
		inner, name := s.Properties[f.Name], prefix+f.Name
		if items := d.Resolve(inner).Items; items != nil {
			inner, name = *items, name+"[]"
		}
		f.Name = name
		out = append(out, f)
		if depth < maxDepth {
			out = append(out, d.nested(inner, name+".", depth+1)...)
		}
	}
	return out
}

// object returns the alternative of a schema that has fields. Of several, it returns one
// with the fields of all, of which those are required that every alternative requires.
func (d *Document) object(s Schema) Schema {
	s = d.Resolve(s)
	var objects []Schema
	for _, other := range s.AnyOf {
		if o := d.Resolve(other); len(o.Properties) > 0 {
			objects = append(objects, o)
		}
	}
	switch len(objects) {
	case 0:
		return s
	case 1:
		return objects[0]
	}
	all := Schema{
		Description: s.Description,
		Examples:    s.Examples,
		Properties:  map[string]Schema{},
		Required:    slices.Clone(objects[0].Required),
	}
	for _, o := range objects {
		for name, property := range o.Properties {
			if _, known := all.Properties[name]; !known {
				all.Properties[name] = property
			}
		}
		all.Required = slices.DeleteFunc(all.Required, func(name string) bool { return !slices.Contains(o.Required, name) })
	}
	return all
}

// example returns the example of a body, or else of its schema, as text.
func (d *Document) example(m Media) string {
	raw := m.Example
	for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
		if raw == nil {
			raw = m.Examples[name].Value
		}
	}
	if raw == nil {
		raw, _ = json.Marshal(d.sample(m.Schema, 0)) // texts, numbers and objects always encode
	}
	return indent(raw)
}

// sample returns a value of a schema: its example, or one made of its parts.
func (d *Document) sample(s Schema, depth int) any {
	s = d.object(s)
	kind, _ := s.Type.(string)
	if kinds, ok := s.Type.([]any); ok {
		kind = fmt.Sprint(kinds[0])
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Default != nil:
		return s.Default
	case depth > maxDepth:
		return nil
	case kind == "array" && s.Items != nil:
		return []any{d.sample(*s.Items, depth+1)}
	case len(s.Properties) > 0:
		object := map[string]any{}
		for name, property := range s.Properties {
			if len(s.Required) == 0 || slices.Contains(s.Required, name) {
				object[name] = d.sample(property, depth+1)
			}
		}
		return object
	}
	return plainSample(kind, s)
}

// plainSample returns a value of a schema without parts.
func plainSample(kind string, s Schema) any {
	switch kind {
	case "string":
		return cmp.Or(map[string]string{
			"date": "2026-04-22", "date-time": "2026-04-22T10:00:33+02:00",
			"uri": "https://example.com/",
		}[s.Format], "…")
	case "integer", "number":
		return cmp.Or(s.Minimum, "0")
	case "boolean":
		return true
	case "object":
		return struct{}{}
	}
	return nil
}

// Kind describes the values of a schema in a few words.
func (d *Document) Kind(s Schema) string {
	s = d.Resolve(s)
	var words []string
	switch t := s.Type.(type) {
	case string:
		words = append(words, t)
	case []any:
		words = append(words, strings.Join(texts(t), " or "))
	}
	switch s.Format {
	case "date":
		words = append(words, "YYYY-MM-DD")
	case "date-time", "uri":
		words = append(words, s.Format)
	}
	if len(s.Enum) > 0 {
		words = append(words, "one of "+strings.Join(texts(s.Enum), ", "))
	}
	if s.Minimum != "" && s.Maximum != "" && s.Maximum != "2147483647" {
		words = append(words, "from "+s.Minimum.String()+" to "+s.Maximum.String())
	} else if s.Minimum != "" {
		words = append(words, "from "+s.Minimum.String()+" on")
	}
	if s.Default != nil {
		words = append(words, fmt.Sprint("default ", s.Default))
	}
	return strings.Join(words, ", ")
}

// Values returns the enumerated values of a field of a schema.
func (d *Document) Values(schema, field string) ([]string, error) {
	values := texts(d.Resolve(d.Components.Schemas[schema].Properties[field]).Enum)
	if len(values) == 0 {
		return nil, fmt.Errorf("%s of %s is not an enumeration", field, schema)
	}
	return values, nil
}

// Open returns the public operations that a plain link can call.
func (d *Document) Open() []*Operation {
	var out []*Operation
	for _, op := range d.Operations {
		if op.Method == "GET" && !op.NeedsCredential && strings.HasPrefix(op.Path, "/api/v1/") &&
			!strings.Contains(op.Path, "{") {
			out = append(out, op)
		}
	}
	return out
}

// Tagged returns the operations with a tag.
func (d *Document) Tagged(tag string) []*Operation {
	var out []*Operation
	for _, op := range d.Operations {
		if slices.Contains(op.Tags, tag) {
			out = append(out, op)
		}
	}
	return out
}

// Samples returns the examples of a parameter.
func (p *Parameter) Samples() []string {
	if p.Example != nil {
		return []string{fmt.Sprint(p.Example)}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.Examples)) {
		out = append(out, fmt.Sprint(p.Examples[name].Value))
	}
	return out
}

// Placeholder matches the place of a parameter in a path.
var Placeholder = regexp.MustCompile(`\{[^}]*\}`)

// At returns the path with its placeholder replaced.
func (o *Operation) At(value string) string {
	return Placeholder.ReplaceAllLiteralString(o.Path, value)
}

// Takes reports whether the operation has a parameter or a field of its body with
// that name.
func (o *Operation) Takes(name string) bool {
	return slices.ContainsFunc(o.Parameters, func(p Parameter) bool { return p.Name == name }) ||
		slices.ContainsFunc(o.Body, func(f Field) bool { return f.Name == name })
}

// Names lists the parameters of an operation.
func (o *Operation) Names() string {
	names := make([]string, len(o.Parameters))
	for i, p := range o.Parameters {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}
