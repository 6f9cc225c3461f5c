package regulator

import (
	"errors"

	"pregon/internal/fault"
)

// Outcomes are the results of Outcome: success, a status other than 200, no
// complete answer, an answer in an unknown form, no such page, any other error.
var Outcomes = []string{"ok", "status", "transport", "markup", "missing", "failed"}

// Outcome returns the outcome of a read as the label of a metric.
func Outcome(err error) string {
	_, status := errors.AsType[*StatusError](err)
	_, transport := errors.AsType[*TransportError](err)
	switch {
	case err == nil:
		return "ok"
	case status:
		return "status"
	case transport:
		return "transport"
	case IsMarkup(err):
		return "markup"
	case fault.KindOf(err) == fault.NotFound:
		return "missing"
	}
	return "failed"
}

// Reason returns the text of an error that clients may see. Errors of a database
// or a network are replaced by a fixed text: they can name hosts and users.
func Reason(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Message
	}
	switch Outcome(err) {
	case "status", "transport", "markup":
		return err.Error()
	}
	return "an internal error occurred; see the log of the service"
}

// IsMarkup reports whether an answer had an unknown form, in whole or in part.
func IsMarkup(err error) bool {
	_, markup := errors.AsType[*MarkupError](err)
	return markup
}

// IsPartial reports whether only some rows of an answer could not be read.
func IsPartial(err error) bool {
	e, markup := errors.AsType[*MarkupError](err)
	return markup && !e.Whole
}
