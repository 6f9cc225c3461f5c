package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/text"
)

// Argument is an argument of a tool, as its schema describes it.
type Argument struct {
	Name        string   `json:"-"`
	Required    bool     `json:"-"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

// argumentsOf returns the arguments in a schema in their order, which a map would
// lose. The schemas are embedded: one that cannot be read is a fault of the program.
func argumentsOf(rawSchema json.RawMessage) (out []Argument) {
	var schema struct {
		Required   []string
		Properties json.RawMessage
	}
	if err := json.Unmarshal(rawSchema, &schema); err != nil {
		panic("mcp: tools.json: " + err.Error())
	}
	dec := json.NewDecoder(bytes.NewReader(schema.Properties))
	if _, err := dec.Token(); err != nil { // none
		return nil
	}
	for dec.More() {
		name, _ := dec.Token()
		a := Argument{Name: name.(string), Required: slices.Contains(schema.Required, name.(string))}
		if err := dec.Decode(&a); err != nil {
			panic("mcp: tools.json: " + err.Error())
		}
		out = append(out, a)
	}
	return out
}

// read converts the arguments of a call to the parameters that REST has. It
// rejects wrong types and unknown names. Values are checked where the
// parameters are read.
func (t *Tool) read(q *query.Service, arguments any) (*query.Params, error) {
	given, ok := arguments.(map[string]any)
	if !ok && arguments != nil {
		return nil, fault.New(fault.Invalid, "arguments must be an object.")
	}
	given = maps.Clone(given)
	values := url.Values{}
	p := q.NewParams(values)
	for _, known := range t.Arguments {
		v, ok := given[known.Name]
		delete(given, known.Name)
		if !ok || v == nil {
			known.rejectAbsent(p)
			continue
		}
		text, reason := known.text(v)
		if reason != "" {
			p.Reject(known.Name, printable(v), "%s", reason)
			continue
		}
		if text == "" {
			known.rejectAbsent(p)
		}
		values.Set(known.Name, text)
	}
	t.rejectUnknown(p, given)
	return p, nil
}

// rejectAbsent rejects that a required argument is absent or empty. Where its values are
// enumerated, what reads it does so, and names them.
func (a Argument) rejectAbsent(p *query.Params) {
	if a.Required && len(a.Enum) == 0 {
		p.Reject(a.Name, "", "is needed")
	}
}

// rejectUnknown rejects unknown arguments. It names only the first few, since
// there may be any number.
func (t *Tool) rejectUnknown(p *query.Params, given map[string]any) {
	if len(given) == 0 {
		return
	}
	const few = 5
	names := slices.Sorted(maps.Keys(given))
	others := text.Clip(strings.Join(names[:min(len(names), few)], ", "), 300)
	if len(names) > few {
		others += fmt.Sprintf(" and %d more", len(names)-few)
	}
	p.Reject(others, "", "is not an argument of %s%s", t.Name, t.argumentNames())
}

// argumentNames lists the arguments for an error message.
func (t *Tool) argumentNames() string {
	if len(t.Arguments) == 0 {
		return ", which takes none"
	}
	names := make([]string, len(t.Arguments))
	for i, a := range t.Arguments {
		names[i] = a.Name
	}
	return ": use " + strings.Join(names, ", ")
}

// text returns a value as a parameter of REST, or the reason why it is not
// valid.
func (a Argument) text(v any) (text, reason string) {
	switch v := v.(type) {
	case string:
		if a.Type == "string" {
			return v, ""
		}
	case json.Number:
		if a.Type == "integer" {
			return integer(v.String()), ""
		}
	}
	if flag, ok := v.(bool); ok && a.Type == "boolean" {
		return strconv.FormatBool(flag), ""
	}
	switch a.Type {
	case "integer":
		return "", "must be a whole number"
	case "boolean":
		return "", "must be true or false"
	}
	return "", "must be a string"
}

// integer writes a whole number without a decimal point, such as 1.0 and 1e1.
// Other numbers stay as they are and are rejected later.
func integer(number string) string {
	f, err := strconv.ParseFloat(number, 64)
	if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return number
}

// printable returns a value for an error message.
func printable(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return text.Clip(string(b), 100)
}
