package extract

import "errors"

// Task connects the code that reads a document with the process that waits for
// it. Reading consists of steps, such as opening a file or reading a page.
type Task interface {
	// Step is called before each step. An *Unreadable says why the step must be
	// left out; after a *Stopped all the following ones must be.
	Step() error
	// OCR is called before pages are read by OCR, with their number.
	OCR(pages int)
}

// Stopped is the error of a step when no more of the document is to be read.
type Stopped struct {
	Reason string
}

func (e *Stopped) Error() string { return e.Reason }

// IsStopped reports whether err is a *Stopped.
func IsStopped(err error) bool {
	_, ok := errors.AsType[*Stopped](err)
	return ok
}

// Reason returns the reason of an *Unreadable, and the text of other errors.
func Reason(err error) string {
	if u, ok := errors.AsType[*Unreadable](err); ok {
		return u.Reason
	}
	return err.Error()
}
