package ingest

import (
	"time"

	"pregon/internal/disclosure"
)

// rhythm is how often things are done. Tests are in a hurry.
type rhythm struct {
	instead       time.Duration // between two looks at the list while the feed fails
	slowest       time.Duration // between two looks at a feed that fails
	reconcile     time.Duration // between two looks at the lists by date
	reconcileSoon time.Duration // at least, between two that were asked for
	hr            time.Duration // between two looks at the latest HR: gaps in the numbers say what they would
	sweep         time.Duration // between two entities: some two thousand take a week
	gaps          time.Duration // between two looks for gaps
	gapsAfter     time.Duration // a number that is late is not yet missing
	poor          time.Duration // between two looks for filings that were left half told
	loose         time.Duration // between two looks for filings that others have to do with
	retry         time.Duration // the longest wait before what failed is tried again
	unread        time.Duration // between two looks for documents that were left unread
	reask         time.Duration // before a model that does not answer is asked again
	reread        time.Duration // the first wait before a document is asked for again; each is twice the one before
}

var usual = rhythm{
	instead:       5 * time.Second,
	slowest:       10 * time.Second,
	reconcile:     5 * time.Minute,
	reconcileSoon: 10 * time.Second,
	hr:            15 * time.Minute,
	sweep:         5 * time.Minute,
	gaps:          time.Minute,
	gapsAfter:     10 * time.Minute,
	poor:          10 * time.Minute,
	loose:         10 * time.Second,
	retry:         30 * time.Second,
	unread:        10 * time.Second,
	reask:         2 * time.Minute,
	reread:        5 * time.Second,
}

// lists is how often the lists of a series are looked at.
func (r *rhythm) lists(t disclosure.Type) time.Duration {
	if t == disclosure.HR {
		return r.hr
	}
	return r.reconcile
}
