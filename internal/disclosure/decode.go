package disclosure

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// DecodeReport reads the JSON form of a report as the store keeps it.
//
// Decoding all of history is most of the time of a start. A report of history has
// strings only, which DecodeReport reads several times faster than encoding/json.
// It passes every other body to encoding/json.
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

// decode reads {"name":"value",…} without spaces. It reports false if the body is
// in another form or not valid.
func (r *Report) decode(s string) bool {
	next := 0
	s, ok := strings.CutPrefix(s, "{")
	for ok {
		name, rest, plain := cutString(s)
		f := fieldAfter(&next, name)
		if !plain || f == nil || !strings.HasPrefix(rest, ":") {
			return false
		}
		value, rest, plain := cutString(rest[1:])
		switch {
		case value == "" && !plain:
			return false
		case f.text != nil && plain:
			*f.text(r) = value
		case f.text != nil:
			if json.Unmarshal([]byte(value), f.text(r)) != nil {
				return false
			}
		case f.parse == nil || !plain || !f.parse(r, value):
			return false
		}
		if rest == "}" {
			return true
		}
		s, ok = strings.CutPrefix(rest, ",")
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

// cutString takes a string off the front. It returns a plain string without its
// quotes, one with escapes or invalid characters with them, and for any other value
// "".
func cutString(s string) (value, rest string, plain bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	plain = true
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' && plain && utf8.ValidString(s[1:i]):
			return s[1:i], s[i+1:], true
		case c == '"':
			return s[:i+1], s[i+1:], false
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			plain = false
		}
	}
	return "", "", false
}
