package ingest

import (
	"time"

	"pregon/internal/disclosure"
)

// intervals are the times between repetitions. Tests use shorter ones.
type intervals struct {
	failingBeforeYield time.Duration // how long a process that cannot read the source holds the lease
	probeInterval      time.Duration // between two probes of the source while the holder of the lease cannot read it
	dead               time.Duration // how long a lease may be unchanged: longer than any process takes to renew it
	retryAfterYield    time.Duration // before the lease is requested again after it was yielded
	bidInterval        time.Duration // before this process bids for the lease again after it yielded it
	compare            time.Duration // between two comparisons of a feed with its list, in working hours
	compareNight       time.Duration // the same at other hours
	grace              time.Duration // how far a feed may be behind its list
	distrust           time.Duration // the longest time for which a hidden report makes a feed stale
	instead            time.Duration // between two reads of the list while the feed fails
	slowest            time.Duration // between two polls of a feed that fails
	reconcile          time.Duration // between two rounds of the lists by date
	reconcileSoon      time.Duration // the shortest time between two rounds
	hr                 time.Duration // between two rounds of the latest HR; gaps in the numbers reveal the same sooner
	sweep              time.Duration // between two funds: about two thousand take a week
	gaps               time.Duration // between two searches for gaps
	gapsAfter          time.Duration // how late a number may be before it is missing
	incomplete         time.Duration // between two searches for reports whose page was not read
	unresolved         time.Duration // between two searches for reports with unresolved references
	retry              time.Duration // the longest wait before a retry
	unread             time.Duration // between two searches for unread documents
	reask              time.Duration // before a model that did not answer is asked again
	examine            time.Duration // between two stored documents that new rules examine
	reread             time.Duration // the first wait before a document is fetched again; it doubles with each
	starting           time.Duration // how long a source may take until it is read for the first time
	brief              time.Duration // how long the source must be degraded or blind for an incident
}

var usual = intervals{
	failingBeforeYield: 20 * time.Second,
	probeInterval:      10 * time.Second,
	dead:               15 * time.Second,
	retryAfterYield:    5 * time.Second,
	bidInterval:        time.Minute,
	compare:            8 * time.Second,
	compareNight:       time.Minute,
	grace:              5 * time.Second,
	distrust:           15 * time.Minute,
	instead:            5 * time.Second,
	slowest:            10 * time.Second,
	reconcile:          5 * time.Minute,
	reconcileSoon:      10 * time.Second,
	hr:                 15 * time.Minute,
	sweep:              5 * time.Minute,
	gaps:               time.Minute,
	gapsAfter:          10 * time.Minute,
	incomplete:         10 * time.Minute,
	unresolved:         10 * time.Second,
	retry:              30 * time.Second,
	unread:             10 * time.Second,
	reask:              2 * time.Minute,
	examine:            50 * time.Millisecond,
	reread:             5 * time.Second,
	starting:           15 * time.Second,
	brief:              5 * time.Second,
}

// comparing returns the time between two comparisons of a feed with its list.
// Nearly all reports are published in the daytime of working days.
func (r *intervals) comparing(now time.Time) time.Duration {
	now = now.In(disclosure.Madrid)
	weekend := now.Weekday() == time.Saturday || now.Weekday() == time.Sunday
	if minute := 60*now.Hour() + now.Minute(); weekend || minute < 6*60+30 || minute >= 20*60+30 {
		return r.compareNight
	}
	return r.compare
}

// lists returns the time between two rounds of the lists of a series.
func (r *intervals) lists(t disclosure.Type) time.Duration {
	if t == disclosure.HR {
		return r.hr
	}
	return r.reconcile
}
