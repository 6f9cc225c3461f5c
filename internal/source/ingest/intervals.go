package ingest

import (
	"time"

	"pregon/internal/disclosure"
)

// rhythm is how often things are done. Tests are in a hurry.
type intervals struct {
	blind         time.Duration // after which the lease is given up for a process that sees the source
	probe         time.Duration // between two probes of the source while the holder of the lease is blind
	aside         time.Duration // before the lease is asked for again once it was given up
	unoffered     time.Duration // before sight is offered again once the lease was given up
	compare       time.Duration // between two comparisons of a feed with its list, in working hours
	compareNight  time.Duration // the same at other hours
	grace         time.Duration // a feed may be so far behind its list
	distrust      time.Duration // the longest time that a hidden report makes a feed stale
	instead       time.Duration // between two looks at the list while the feed fails
	slowest       time.Duration // between two looks at a feed that fails
	reconcile     time.Duration // between two looks at the lists by date
	reconcileSoon time.Duration // at least, between two that were asked for
	hr            time.Duration // between two looks at the latest HR: gaps in the numbers say what they would
	sweep         time.Duration // between two entities: some two thousand take a week
	gaps          time.Duration // between two looks for gaps
	gapsAfter     time.Duration // a number that is late is not yet missing
	poor          time.Duration // between two looks for reports that were left half told
	loose         time.Duration // between two looks for reports that others have to do with
	retry         time.Duration // the longest wait before what failed is tried again
	unread        time.Duration // between two looks for documents that were left unread
	reask         time.Duration // before a model that does not answer is asked again
	reread        time.Duration // the first wait before a document is asked for again; each is twice the one before
}

var usual = intervals{
	blind:         20 * time.Second,
	probe:         10 * time.Second,
	aside:         5 * time.Second,
	unoffered:     time.Minute,
	compare:       10 * time.Second,
	compareNight:  time.Minute,
	grace:         5 * time.Second,
	distrust:      15 * time.Minute,
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

// comparing is the time between two comparisons of a feed with its list. Nearly
// all reports come between the early morning and the evening of a working day.
func (r *intervals) comparing(now time.Time) time.Duration {
	now = now.In(disclosure.Madrid)
	weekend := now.Weekday() == time.Saturday || now.Weekday() == time.Sunday
	if minute := 60*now.Hour() + now.Minute(); weekend || minute < 6*60+30 || minute >= 20*60+30 {
		return r.compareNight
	}
	return r.compare
}

// lists is how often the lists of a series are looked at.
func (r *intervals) lists(t disclosure.Type) time.Duration {
	if t == disclosure.HR {
		return r.hr
	}
	return r.reconcile
}
