package regulator

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
)

// MarkupError says that the site answered, but not in a form that is known: an
// error page with a good status, a page cut short, a row that lacks something.
// The rows that could be read whole come with it, and are good.
type MarkupError struct {
	Surface string // what was read: "list of OIR", "feed of IP"
	Detail  string // what was missing

	// Whole is set when the surface as a whole cannot be relied upon: it has no
	// list or channel, was cut short, is another page than was asked for, hides
	// how many pages there are, or has several rows and none that can be read.
	// What rows there are tell nothing of those that are missing. Else the
	// surface is as it should be, and only the rows in Detail are bad.
	Whole bool
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

// TransportError says that there was no whole answer. It may be shown to
// anybody; its cause names hosts and addresses, and is for the log: see Cause.
type TransportError struct {
	Path   string // that was asked for, query and all
	Reason string // for the public
	Err    error  // the cause
}

func (e *TransportError) Error() string {
	return "asking the regulator for " + e.Path + ": " + e.Reason
}

func (e *TransportError) Unwrap() error { return e.Err }

// Cause returns what a TransportError does not show, or nil when err has none.
func Cause(err error) error {
	if e, ok := errors.AsType[*TransportError](err); ok {
		return e.Err
	}
	return nil
}

var (
	errSlow    = errors.New("the answer took too long")
	errStalled = errors.New("the answer stalled")
	errLoop    = errors.New("it redirects in a circle")
	errHops    = errors.New("it redirects too often")
)

// transport makes an error of the network one that can be shown.
func transport(err error) *TransportError { return &TransportError{Reason: reason(err), Err: err} }

// reason says in words for the public why there was no answer.
func reason(err error) string {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		operation   *net.OpError
		waited      net.Error
	)
	switch {
	case errors.Is(err, errSlow), errors.Is(err, errStalled), errors.Is(err, errLoop), errors.Is(err, errHops), errors.Is(err, ErrTooLarge):
		return err.Error()
	case errors.As(err, &name):
		return "its name could not be resolved"
	case errors.As(err, &certificate):
		return "the certificate is not valid"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was reset"
	case errors.As(err, &waited) && waited.Timeout():
		return errSlow.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer did"
	case errors.As(err, &operation):
		return "it could not be reached"
	}
	return "its answer could not be understood"
}

// faults collects what is wrong with a page, row by row.
type defects struct {
	surface string
	found   []string
	whole   bool
}

// add finds fault with a row.
func (f *defects) add(format string, args ...any) {
	f.found = append(f.found, fmt.Sprintf(format, args...))
}

// fail finds fault with the whole, which is told first.
func (f *defects) fail(format string, args ...any) {
	f.found, f.whole = slices.Insert(f.found, 0, fmt.Sprintf(format, args...)), true
}

// count is told how many rows were read and how many are bad. When several are
// and none is good, it is not they that are wrong.
func (f *defects) count(good, bad int) {
	f.whole = f.whole || good == 0 && bad > 1
}

// err names the first few: when the markup has changed they are all alike.
func (f *defects) err() error {
	const most = 3
	if len(f.found) == 0 {
		return nil
	}
	detail := strings.Join(f.found[:min(most, len(f.found))], "; ")
	if more := len(f.found) - most; more > 0 {
		detail += fmt.Sprintf("; and %d more", more)
	}
	return &MarkupError{Surface: f.surface, Detail: detail, Whole: f.whole}
}
