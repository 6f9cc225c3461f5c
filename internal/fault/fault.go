// Package fault defines the kinds of errors and the error type that carries them.
//
// Domain code returns the kind and a message that helps the caller to fix the request.
// Each surface (REST, command line, MCP) translates kinds in one place. An error that
// is not a fault is Internal: it is logged and not shown.
package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is the kind of an error.
type Kind uint8

// Internal is the zero value, so that errors without a kind are internal.
const (
	Internal Kind = iota
	Invalid
	NotFound
	Conflict
	Unauthorized
	Forbidden
	RateLimited
	Unavailable
)

var names = [...]string{
	Internal:     "internal",
	Invalid:      "invalid",
	NotFound:     "not found",
	Conflict:     "conflict",
	Unauthorized: "unauthorized",
	Forbidden:    "forbidden",
	RateLimited:  "rate limited",
	Unavailable:  "unavailable",
}

func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// Text is a text for people with its parts. Its English format is the key of the
// text in tables of other languages.
type Text struct {
	Format string
	Args   []any
}

// String returns the text in English.
func (t Text) String() string {
	if len(t.Args) == 0 {
		return t.Format
	}
	return fmt.Sprintf(t.Format, t.Args...)
}

// Alternatives are values in a text; any one of them may be used.
type Alternatives []string

// String returns the values in English, with "or" before the last.
func (a Alternatives) String() string { return a.Join("or") }

// Join returns the values with a conjunction before the last.
func (a Alternatives) Join(conjunction string) string {
	last := len(a) - 1
	if last < 1 {
		return strings.Join(a, "")
	}
	return strings.Join(a[:last], ", ") + " " + conjunction + " " + a[last]
}

// Error is an error whose message may be shown to the caller.
type Error struct {
	Kind    Kind
	Message string
	// Text has the parts of Message. Its format is empty if they are not known: then the
	// message has none, or is made of those of Fields.
	Text   Text
	Code   string  // error code of a protocol, if any
	Fields []Field // invalid parts of the input, if any
	Err    error   // cause, for the log only
	// RetryAfter is how long the caller should wait; 0 if unknown.
	RetryAfter time.Duration
}

// Field is an invalid part of an input with its value and the reason.
type Field struct {
	Name   string
	Value  string
	Reason string
	// Text has the parts of Reason. Its format is empty if Reason has none.
	Text Text
	// Sentence means that Reason is a whole sentence, which says of what it speaks.
	// Otherwise it continues one that begins with the name of the part.
	Sentence bool
	// Suggestions are values that are accepted and may be meant, the best first.
	Suggestions []string
}

// Describe returns what is wrong with the parts of an input, in sentences.
func Describe(fields []Field) string {
	var parts, sentences []string
	for _, f := range fields {
		if f.Sentence {
			sentences = append(sentences, f.Reason)
		} else {
			parts = append(parts, f.Name+" "+f.Reason)
		}
	}
	if len(parts) > 0 {
		sentences = append([]string{strings.Join(parts, "; ") + "."}, sentences...)
	}
	return strings.Join(sentences, " ")
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Parts returns the message with its parts, as far as they are known.
func (e *Error) Parts() Text {
	if e.Text.Format == "" {
		return Text{Format: "%s", Args: []any{e.Message}}
	}
	return e.Text
}

// New returns an error of a kind with a message for the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{
		Kind:    kind,
		Message: fmt.Sprintf(format, args...),
		Text:    Text{Format: format, Args: args},
	}
}

// NewField returns an invalid part of an input. The reason continues its name.
func NewField(name, value, format string, args ...any) Field {
	return Field{
		Name:   name,
		Value:  value,
		Reason: fmt.Sprintf(format, args...),
		Text:   Text{Format: format, Args: args},
	}
}

// InvalidField returns an error about one part of an input, whose name the reason continues.
func InvalidField(name, value, format string, args ...any) *Error {
	field := NewField(name, value, format, args...)
	return &Error{
		Kind:    Invalid,
		Message: name + ": " + strings.TrimSuffix(field.Reason, ".") + ".",
		Fields:  []Field{field},
	}
}

// Wrap returns an error with a cause that is logged but not shown.
func Wrap(kind Kind, cause error, format string, args ...any) *Error {
	e := New(kind, format, args...)
	e.Err = cause
	return e
}

// KindOf returns the kind of an error, or Internal.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// UnlessCanceled returns the error, or nil if it is context.Canceled, the error of a
// stop that was requested.
func UnlessCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
