package disclosure

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// DecodeReport reads the JSON form of a report as the store keeps it.
//
// Decoding all of history is most of the time of a start. Nearly all fields are
// strings without escapes, which DecodeReport reads several times faster than
// encoding/json. It passes every other value to encoding/json, and the whole
// body if that is not in the form that encoding/json writes.
func DecodeReport(body string) (*Report, error) {
	r := new(Report)
	if r.decode(body) {
		return r, nil
	}
	*r = Report{}
	if err := json.Unmarshal([]byte(body), r); err != nil {
		return nil, err
	}
	return r, nil
}

// decode reads {"name":value,…} without spaces. It reports false if the body is
// in another form or not valid.
func (r *Report) decode(s string) bool {
	next := 0
	s, ok := strings.CutPrefix(s, "{")
	for ok {
		var name string
		if name, s, ok = cutString(s); !ok || !strings.HasPrefix(s, ":") {
			return false
		}
		f := fieldAfter(&next, name)
		if f == nil {
			return false
		}
		if s, ok = f.decode(r, s[1:]); !ok {
			return false
		}
		if s == "}" {
			return true
		}
		s, ok = strings.CutPrefix(s, ",")
	}
	return false
}

// fieldAfter returns the field of a name and moves next behind it. Fields are
// mostly stored in the order of the table, with gaps, so that a search that
// begins after the last one is faster than a map.
func fieldAfter(next *int, name string) *field {
	for range fields {
		f := &fields[*next]
		if *next++; *next == len(fields) {
			*next = 0
		}
		if f.name == name {
			return f
		}
	}
	return nil
}

// decode reads a value off the front of s and returns the rest.
func (f *field) decode(r *Report, s string) (rest string, ok bool) {
	if f.parse != nil {
		if value, rest, ok := cutString(s); ok {
			return rest, f.parse(r, value)
		}
	}
	into := f.at(r)
	end := valueEnd(s)
	if into == nil || end < 0 || json.Unmarshal([]byte(s[:end]), into) != nil {
		return "", false
	}
	return s[end:], true
}

// cutString takes a string without escapes off the front.
func cutString(s string) (value, rest string, ok bool) {
	if len(s) == 0 || s[0] != '"' {
		return "", "", false
	}
	s = s[1:]
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			return s[:i], s[i+1:], utf8.ValidString(s[:i])
		case c == '\\' || c < ' ':
			return "", "", false
		}
	}
	return "", "", false
}

// valueEnd returns the length of the JSON value at the front of s, -1 if it has
// no end. It does not validate the value.
func valueEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}'):
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}
