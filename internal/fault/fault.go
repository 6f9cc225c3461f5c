// Package fault is the closed set of ways in which the program can fail, and
// the one error type that carries them.
//
// Domain code says what kind of failure it met and how the caller can mend it;
// each surface (REST, command line, MCP) translates the kind into its own
// language in one place. An error that is not a fault is Internal: it is logged
// in full and shown as nothing.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind returns what sort of failure it is.
type Kind uint8

// Internal is the zero value on purpose: what nobody classified is ours to mend.
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

// Error is a failure whose message may be shown to whoever caused it.
type Error struct {
	Kind    Kind
	Message string
	Code    string  // a word for programs, where a protocol has one
	Fields  []Field // which parts of the input were wrong, if any
	Err     error   // the cause, for the log only
	// RetryAfter is how long to wait before the next try, when that is known.
	RetryAfter time.Duration
}

// Field is one wrong part of an input: its name, the value as it came, and
// what is allowed there.
type Field struct {
	Name   string
	Value  string
	Reason string
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

// Wrap is New with a cause that is logged but never shown.
func Wrap(kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...), Err: cause}
}

// KindOf returns the kind of an error, Internal when it carries none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}
