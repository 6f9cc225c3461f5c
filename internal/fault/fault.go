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

// Error is an error whose message may be shown to the caller.
type Error struct {
	Kind    Kind
	Message string
	Code    string  // error code of a protocol, if any
	Fields  []Field // invalid parts of the input, if any
	Err     error   // cause, for the log only
	// RetryAfter is how long the caller should wait; 0 if unknown.
	RetryAfter time.Duration
}

// Field is an invalid part of an input with its value and the reason.
type Field struct {
	Name   string
	Value  string
	Reason string
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

// New returns an error of a kind with a message for the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an error with a cause that is logged but not shown.
func Wrap(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: cause}
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
