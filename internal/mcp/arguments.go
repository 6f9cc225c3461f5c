package mcp

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

// property is an argument of a tool, as its schema describes it.
type property struct {
	name        string
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

// propertiesOf returns the properties of a schema in their order, which a map
// would lose.
func propertiesOf(raw json.RawMessage) []property {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil { // none
		return nil
	}
	var out []property
	for dec.More() {
		name, _ := dec.Token()
		p := property{name: name.(string)}
		if err := dec.Decode(&p); err != nil {
			panic("mcp: " + err.Error()) // the schemas are embedded
		}
		out = append(out, p)
	}
	return out
}

// read converts the arguments of a call to the parameters that REST has. It
// rejects wrong types and unknown names. Values are checked where the
// parameters are read.
func (t *tool) read(raw json.RawMessage) (*query.Params, error) {
	var given map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if len(raw) > 0 && dec.Decode(&given) != nil {
		return nil, fault.New(fault.Invalid, "arguments must be an object.")
	}
	values := url.Values{}
	p := query.NewParams(values)
	for _, known := range t.properties {
		v, ok := given[known.name]
		delete(given, known.name)
		if !ok || v == nil {
			if t.required[known.name] {
				p.Reject(known.name, "", "is needed")
			}
			continue
		}
		text, reason := known.text(v)
		if reason != "" {
			p.Reject(known.name, printable(v), reason)
			continue
		}
		if text == "" && t.required[known.name] {
			p.Reject(known.name, "", "is needed")
		}
		values.Set(known.name, text)
	}
	t.rejectUnknown(p, given)
	return p, nil
}

// rejectUnknown rejects unknown arguments. It names only the first few, since
// there may be any number.
func (t *tool) rejectUnknown(p *query.Params, given map[string]any) {
	if len(given) == 0 {
		return
	}
	const few = 5
	names := slices.Sorted(maps.Keys(given))
	others := text.Clip(strings.Join(names[:min(len(names), few)], ", "), 300)
	if len(names) > few {
		others += fmt.Sprintf(" and %d more", len(names)-few)
	}
	p.Reject(others, "", "is no argument of "+t.Name+t.argumentNames())
}

// argumentNames lists the arguments for an error message.
func (t *tool) argumentNames() string {
	if len(t.properties) == 0 {
		return ", which takes none"
	}
	names := make([]string, len(t.properties))
	for i, p := range t.properties {
		names[i] = p.name
	}
	return ": use " + strings.Join(names, ", ")
}

// text returns a value as a parameter of REST, or the reason why it is not
// valid.
func (p property) text(v any) (text, reason string) {
	switch v := v.(type) {
	case string:
		if p.Type == "string" {
			return v, ""
		}
	case json.Number:
		if p.Type == "integer" {
			return integer(v.String()), ""
		}
	}
	if p.Type == "integer" {
		return "", "must be a whole number"
	}
	return "", "must be a text"
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
