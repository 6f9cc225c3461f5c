package discovery

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// reference is the part of the OpenAPI document that is used here.
type reference struct {
	Info       struct{ Title, Summary, Description string }
	Tags       []tag
	Security   []requirement
	Paths      map[string]pathItem
	Components struct {
		Parameters      map[string]parameter
		Schemas         map[string]schema
		SecuritySchemes map[string]struct{ Name string }
	}

	operations []*operation // in the order of their tags, then of their paths
}

type tag struct{ Name, Description string }

// requirement is a set of security schemes that together authorize a request.
// An empty one authorizes any request.
type requirement map[string][]string

type pathItem struct{ Get, Post, Put, Patch, Delete *operation }

type operation struct {
	Method, Path         string `json:"-"`
	NeedsCredential      bool   `json:"-"` // it needs a credential
	ID                   string `json:"operationId"`
	Tags                 []string
	Summary, Description string
	Security             *[]requirement
	Parameters           []parameter
	RequestBody          struct {
		Content map[string]struct{ Schema schema }
	}
	Body     []field `json:"-"` // the fields of the body
	BodyType string  `json:"-"`
}

type parameter struct {
	Ref               string `json:"$ref"`
	Name, In          string
	Description       string
	Required          bool
	Schema            schema
	Example, Examples any
}

type schema struct {
	Ref              string `json:"$ref"`
	Type             any    // a word, or a list of them
	Description      string
	Format           string
	Enum             []any
	Minimum, Maximum json.Number
	Default          any
	Properties       map[string]schema
	Required         []string
}

// field is one member of an object.
type field struct {
	Name, Kind, Description string
	Required                bool
}

// parseReference reads the OpenAPI document.
func parseReference(document []byte) (*reference, error) {
	r := &reference{}
	if err := json.Unmarshal(document, r); err != nil {
		return nil, fmt.Errorf("the OpenAPI document: %w", err)
	}
	for path, item := range r.Paths {
		for method, op := range map[string]*operation{
			"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete,
		} {
			if op != nil {
				op.Method, op.Path = method, path
				r.resolve(op)
				r.operations = append(r.operations, op)
			}
		}
	}
	rank := func(o *operation) int {
		return slices.IndexFunc(r.Tags, func(t tag) bool { return slices.Contains(o.Tags, t.Name) })
	}
	slices.SortFunc(r.operations, func(a, b *operation) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return r, nil
}

// resolve replaces the references of an operation.
func (r *reference) resolve(op *operation) {
	for i, p := range op.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			op.Parameters[i] = r.Components.Parameters[name]
		}
	}
	security := r.Security
	if op.Security != nil {
		security = *op.Security
	}
	op.NeedsCredential = len(security) > 0 && !slices.ContainsFunc(security, func(q requirement) bool { return len(q) == 0 })
	for name, content := range op.RequestBody.Content {
		op.BodyType, op.Body = name, r.fields(content.Schema)
	}
}

// schema resolves a reference.
func (r *reference) schema(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return r.Components.Schemas[name]
	}
	return s
}

// fields returns the fields of an object, required ones first.
func (r *reference) fields(s schema) []field {
	s = r.schema(s)
	var out []field
	for name, property := range s.Properties {
		target := r.schema(property)
		out = append(out, field{
			Name: name, Kind: r.kind(property), Required: slices.Contains(s.Required, name),
			Description: oneLine(cmp.Or(property.Description, target.Description)),
		})
	}
	slices.SortFunc(out, func(a, b field) int {
		if a.Required != b.Required {
			return map[bool]int{true: -1, false: 1}[a.Required]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return out
}

// kind describes the values of a schema in a few words.
func (r *reference) kind(s schema) string {
	s = r.schema(s)
	var words []string
	switch t := s.Type.(type) {
	case string:
		words = append(words, t)
	case []any:
		words = append(words, strings.Join(strs(t), " or "))
	}
	switch s.Format {
	case "date":
		words = append(words, "YYYY-MM-DD")
	case "date-time", "uri":
		words = append(words, s.Format)
	}
	if len(s.Enum) > 0 {
		words = append(words, "one of "+strings.Join(strs(s.Enum), ", "))
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

func strs(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return out
}

// oneLine joins the lines of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Open returns the public operations that a plain link can call.
func (r *reference) Open() []*operation {
	var out []*operation
	for _, op := range r.operations {
		if op.Method == "GET" && !op.NeedsCredential && strings.HasPrefix(op.Path, "/api/v1/") && !strings.Contains(op.Path, "{") {
			out = append(out, op)
		}
	}
	return out
}

// At returns the path with its placeholder replaced.
func (o *operation) At(value string) string {
	return placeholder.ReplaceAllLiteralString(o.Path, value)
}

// Names lists the parameters of an operation.
func (o *operation) Names() string {
	names := make([]string, len(o.Parameters))
	for i, p := range o.Parameters {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}
