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

// property is one argument, as the schema has it.
type property struct {
	name        string
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
}

// propertiesOf reads the properties of a schema in their order, which a map
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
			panic("mcpserver: " + err.Error()) // a schema of ours
		}
		out = append(out, p)
	}
	return out
}

// read turns the arguments of a call into parameters, as REST has them. What
// is of the wrong type, or no argument at all, is refused here; what a value
// may be, where REST refuses it.
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

// refuseOthers refuses what is no argument: the first few by name, since there
// may be any number.
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

// takes lists the arguments.
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

// text is a value as REST would have it, or the reason why it cannot be.
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

// integer writes a number that is whole without a point, as 1.0 and 1e1 are;
// others stay as they are, and will be refused.
func integer(number string) string {
	f, err := strconv.ParseFloat(number, 64)
	if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return number
}

// shown is a value for the words that refuse it.
func printable(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return text.Clip(string(b), 100)
}
