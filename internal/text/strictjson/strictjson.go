// Package strictjson decodes JSON of others. Unlike encoding/json it refuses an object that
// has a name twice, since another reader of the same text, such as a proxy or the program
// of a client, may use the other value; it can keep a member as it was written; its input
// is bounded; and it is faster.
//
// Tokens and what clients of OAuth say about themselves are read by the JSON of go-jose,
// which also refuses names twice: it decodes into structs, by the exact names of members.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Limits of a text.
const (
	MaxDepth  = 64
	MaxValues = 10_000
)

// Errors of Decode and DecodeKeeping.
var (
	ErrSyntax     = errors.New("this is not valid JSON in UTF-8")
	ErrTooComplex = fmt.Errorf("a message may have at most %d values, nested at most %d levels "+
		"deep", MaxValues, MaxDepth)
)

// TwiceError is the error for an object that has a name twice.
type TwiceError struct{ Name string }

func (e *TwiceError) Error() string { return fmt.Sprintf("an object has the name %q twice", e.Name) }

// Decode decodes a JSON value. Objects are of type map[string]any, lists of type
// []any, and numbers of type json.Number.
func Decode(body []byte) (any, error) {
	value, _, err := DecodeKeeping(body, "")
	return value, err
}

// DecodeKeeping is Decode, and if the value is an object, it also returns the member with
// a name as it was written, nil without one.
func DecodeKeeping(body []byte, name string) (value any, raw json.RawMessage, err error) {
	r := reader{rest: body, keep: name}
	if !utf8.Valid(body) {
		return nil, nil, ErrSyntax
	}
	if value, err = r.value(0); err != nil {
		return nil, nil, err
	}
	if r.next() != 0 || len(r.rest) > 0 {
		return nil, nil, ErrSyntax
	}
	return value, r.kept, nil
}

type reader struct {
	rest   []byte          // what was not read yet
	keep   string          // the name of a member of the outermost object
	kept   json.RawMessage // its value as it was written
	values int             // that were read
}

// next skips spaces and returns the next byte, 0 at the end.
func (r *reader) next() byte {
	for i, c := range r.rest {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			r.rest = r.rest[i:]
			return c
		}
	}
	r.rest = nil
	return 0
}

// skip skips spaces and a byte, and reports whether it was there.
func (r *reader) skip(c byte) bool {
	if r.next() != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// value decodes the next value, inside of depth others.
func (r *reader) value(depth int) (any, error) {
	if r.values++; r.values > MaxValues || depth > MaxDepth {
		return nil, ErrTooComplex
	}
	switch r.next() {
	case '{':
		return r.object(depth + 1)
	case '[':
		return r.list(depth + 1)
	case '"':
		return r.text()
	}
	return r.literal()
}

func (r *reader) object(depth int) (map[string]any, error) {
	out := map[string]any{}
	for separator := byte('{'); r.skip(separator); separator = ',' {
		if separator == '{' && r.skip('}') {
			return out, nil
		}
		name, err := r.text()
		if err != nil || !r.skip(':') {
			return nil, ErrSyntax
		}
		if _, twice := out[name]; twice {
			return nil, &TwiceError{name}
		}
		r.next()
		raw := r.rest
		if out[name], err = r.value(depth); err != nil {
			return nil, err
		}
		if depth == 1 && name == r.keep {
			r.kept = json.RawMessage(raw[:len(raw)-len(r.rest)])
		}
	}
	if !r.skip('}') {
		return nil, ErrSyntax
	}
	return out, nil
}

func (r *reader) list(depth int) ([]any, error) {
	out := []any{}
	for separator := byte('['); r.skip(separator); separator = ',' {
		if separator == '[' && r.skip(']') {
			return out, nil
		}
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if !r.skip(']') {
		return nil, ErrSyntax
	}
	return out, nil
}

// text decodes a string. Those with escapes are left to encoding/json.
func (r *reader) text() (string, error) {
	if r.next() != '"' {
		return "", ErrSyntax
	}
	escaped := false
	for i := 1; i < len(r.rest); i++ {
		switch c := r.rest[i]; {
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return "", ErrSyntax
		case c == '"':
			quoted := r.rest[:i+1]
			r.rest = r.rest[i+1:]
			if !escaped {
				return string(quoted[1:i]), nil
			}
			var s string
			if json.Unmarshal(quoted, &s) != nil {
				return "", ErrSyntax
			}
			return s, nil
		}
	}
	return "", ErrSyntax
}

// literal decodes a number, true, false or null.
func (r *reader) literal() (any, error) {
	end := bytes.IndexAny(r.rest, ",]} \n\t\r")
	if end < 0 {
		end = len(r.rest)
	}
	word := r.rest[:end]
	r.rest = r.rest[end:]
	switch string(word) {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	isNumber := len(word) > 0 && bytes.IndexByte([]byte("-0123456789"), word[0]) >= 0
	if !isNumber || !json.Valid(word) {
		return nil, ErrSyntax
	}
	return json.Number(word), nil
}
