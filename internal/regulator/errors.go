package regulator

import (
	"errors"
	"fmt"
	"strings"
)

// MarkupError says that the site answered, but not in a form that is known: an
// error page with a good status, a page cut short, a row that lacks something.
// The rows that could be read whole come with it.
type MarkupError struct {
	Surface string // what was read: "list of OIR", "feed of IP"
	Detail  string // what was missing
}

func (e *MarkupError) Error() string {
	return "the regulator's " + e.Surface + " cannot be read: " + e.Detail
}

// StatusError is an answer with a status other than 200.
type StatusError struct {
	Status int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("the regulator answered with status %d", e.Status)
}

var (
	errStalled = errors.New("the answer stalled")
	errLoop    = errors.New("the regulator redirects in a circle")
	errHops    = errors.New("the regulator redirects too often")
)

// faults collects what is wrong with a page, row by row.
type faults struct {
	surface string
	found   []string
}

func (f *faults) add(format string, args ...any) {
	f.found = append(f.found, fmt.Sprintf(format, args...))
}

// err names the first few: when the markup has changed they are all alike.
func (f *faults) err() error {
	const most = 3
	if len(f.found) == 0 {
		return nil
	}
	detail := strings.Join(f.found[:min(most, len(f.found))], "; ")
	if more := len(f.found) - most; more > 0 {
		detail += fmt.Sprintf("; and %d more", more)
	}
	return &MarkupError{Surface: f.surface, Detail: detail}
}
