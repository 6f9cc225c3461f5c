package docfetch

import (
	"errors"
	"net/http"

	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/fault"
	"pregon/internal/source/regulator"
)

// failure is the class of an error: why a document was not read, and how often
// it is tried.
type failure struct {
	reason string // shown to clients
	most   int    // tries
}

func (f failure) final(tries int) bool { return tries+1 >= f.most }

func (f failure) outcome(tries int) document.Outcome {
	if f.final(tries) {
		return document.Failed
	}
	return document.Again
}

// Failed returns why a document was not read, in words for clients, and whether it is given
// up after some tries before this one.
func Failed(err error, tries int) (reason string, final bool) {
	f := classify(err)
	return f.reason, f.final(tries)
}

func classify(err error) failure {
	if e, ok := errors.AsType[*extract.Unreadable](err); ok {
		return failure{"The document cannot be read: " + e.Reason + ".", 1}
	}
	status, _ := errors.AsType[*regulator.StatusError](err)
	transport, _ := errors.AsType[*regulator.TransportError](err)
	switch {
	case errors.Is(err, regulator.ErrTooLarge):
		return failure{"The document is larger than 50 MB.", 1}
	case errors.Is(err, extract.ErrKilled):
		return failure{"Something ended the process that was reading the document.", mostDeaths}
	case errors.Is(err, extract.ErrSitePage):
		return failure{"The regulator's site gave a page of its own instead of the document.", mostTries}
	case fault.KindOf(err) == fault.Invalid:
		return failure{"The report's link does not lead to the regulator's site.", 1}
	case fault.KindOf(err) == fault.NotFound, status != nil &&
		(status.Status == http.StatusNotFound || status.Status == http.StatusGone):
		return failure{"The regulator has no document under the report's link.", mostMissing}
	case status != nil:
		return failure{"The regulator did not give the document: " + status.Error() + ".", mostTries}
	case transport != nil:
		return failure{"The regulator did not give the document: " + transport.Reason + ".", mostTries}
	}
	// The store or the extractor failed. That says nothing about the document.
	return failure{"The service cannot read documents at present.", never}
}
