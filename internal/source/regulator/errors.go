package regulator

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// MarkupError reports an answer that does not have the known form: an error page
// with status 200, a truncated page, a row that lacks a field. The rows returned
// with it are complete and valid.
type MarkupError struct {
	Surface string // such as "list of OIR" or "feed of IP"
	Detail  string // the defects found

	// Whole is true when the page as a whole is unreliable: it has no list or
	// channel, is truncated, is not the requested page, does not give the number
	// of pages, or none of several rows could be read. The rows then say nothing
	// about missing ones. Otherwise only the rows named in Detail are bad.
	Whole bool

	// Defects are those of Detail and further ones, at most maxDefects.
	Defects []Defect
}

// Defect is a defect of a page, and the line where it is.
type Defect struct {
	Line int // from 1; 0 for the page as a whole
	Text string
}

const maxDefects = 50

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

// TransportError reports that there was no complete answer. Its text may be
// published. The cause names hosts and addresses and is for the log: see Cause.
type TransportError struct {
	Path   string // requested path and query
	Reason string // may be published
	Err    error
}

func (e *TransportError) Error() string {
	return "asking the regulator for " + e.Path + ": " + e.Reason
}

func (e *TransportError) Unwrap() error { return e.Err }

// Cause returns the cause of a TransportError in err, or nil.
func Cause(err error) error {
	if e, ok := errors.AsType[*TransportError](err); ok {
		return e.Err
	}
	return nil
}

// The causes of a TransportError that the client itself finds.
var (
	ErrSlow    = errors.New("the answer took too long")
	ErrStalled = errors.New("the answer stalled")
	errLoop    = errors.New("it redirects in a circle")
	errHops    = errors.New("it redirects too often")
)

// transport returns a TransportError for a network error.
func transport(err error) *TransportError { return &TransportError{Reason: reason(err), Err: err} }

// reason returns the text for the public.
func reason(err error) string {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		operation   *net.OpError
		waited      net.Error
	)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // its text has the address
	}
	switch {
	case errors.Is(err, ErrSlow), errors.Is(err, ErrStalled), errors.Is(err, errLoop), errors.Is(err,
		errHops), errors.Is(err, ErrTooLarge):
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
		return ErrSlow.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection ended before the answer did"
	case errors.As(err, &operation):
		return "it could not be reached"
	}
	return "its answer could not be understood"
}

// defects collects the defects of a page.
type defects struct {
	surface string
	found   []Defect
	whole   bool
}

// add records a defect of a row at a line.
func (f *defects) add(line int, format string, args ...any) {
	f.found = append(f.found, Defect{line, fmt.Sprintf(format, args...)})
}

// fail records a defect of the whole page, before those of rows. The line is 0 if
// it has none.
func (f *defects) fail(line int, format string, args ...any) {
	f.found, f.whole = slices.Insert(f.found, 0, Defect{line, fmt.Sprintf(format, args...)}), true
}

// count receives the numbers of good and bad rows. Several bad rows and no good
// one mean that the page as a whole is unreliable.
func (f *defects) count(good, bad int) {
	f.whole = f.whole || good == 0 && bad > 1
}

// err names the first few defects: after a change of the markup all are alike.
func (f *defects) err() error {
	const most = 3
	if len(f.found) == 0 {
		return nil
	}
	var texts []string
	for _, d := range f.found[:min(most, len(f.found))] {
		texts = append(texts, d.Text)
	}
	detail := strings.Join(texts, "; ")
	if more := len(f.found) - most; more > 0 {
		detail += fmt.Sprintf("; and %d more", more)
	}
	return &MarkupError{
		Surface: f.surface,
		Detail:  detail,
		Whole:   f.whole,
		Defects: f.found[:min(maxDefects, len(f.found))],
	}
}
