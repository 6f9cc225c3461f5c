package ingest

import (
	"context"
	"slices"
	"time"

	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/text"
)

// Bounds of the log of incidents.
const (
	maxIncidents = 50
	maxReasons   = 6   // of an incident
	maxReason    = 300 // characters of the error in a reason
	// again is how soon after its end an incident continues, so that a source that
	// comes and goes is one incident.
	again = time.Minute
)

// incidents is the log of incidents as the holder of the lease writes it.
type incidents struct {
	*intervals
	log     []coverage.Incident // the newest first
	since   time.Time           // when the source ceased to be read well; zero while it is
	began   time.Time           // of the term: a source needs time until it was read once
	unsaved bool
}

// newIncidents continues the log of the terms before. If no process has read the
// source for a while, that is an incident, too.
func newIncidents(c *coverage.Tracker, r *intervals) *incidents {
	i := &incidents{intervals: r, log: c.Incidents(), began: time.Now()}
	if since, silent := c.Silent(); silent {
		i.open(coverage.Incident{State: health.Blind, Since: since, Reasons: []health.Reason{
			{Surface: health.Service, Code: health.NobodyRead, Since: since},
		}})
	}
	return i
}

// add adds the status at a time to the log.
func (i *incidents) add(status health.Status, now time.Time) {
	if status.State == health.Starting { // what it becomes decides
		return
	}
	ongoing := len(i.log) > 0 && i.log[0].Until.IsZero()
	if status.State != health.Degraded && status.State != health.Blind {
		i.since = time.Time{}
		if ongoing {
			i.log[0].Until, i.unsaved = now, true
		}
		return
	}
	if i.since.IsZero() {
		i.since = now
	}
	switch {
	case now.Sub(i.began) < i.starting:
	case ongoing:
		i.worsen(status)
	case now.Sub(i.since) >= i.brief:
		i.open(coverage.Incident{State: status.State, Since: i.since, Reasons: bounded(status.Reasons)})
	}
}

// open begins an incident, or continues one that has just ended or is not over.
func (i *incidents) open(n coverage.Incident) {
	i.unsaved = true
	if len(i.log) > 0 && (i.log[0].Until.IsZero() || n.Since.Sub(i.log[0].Until) < again) {
		i.log[0].Until = time.Time{}
		i.worsen(health.Status{State: n.State, Reasons: n.Reasons})
		return
	}
	i.log = slices.Insert(i.log, 0, n)
	i.log = i.log[:min(len(i.log), maxIncidents)]
}

// worsen adds what is worse or new to the incident that lasts.
func (i *incidents) worsen(status health.Status) {
	last := &i.log[0]
	if status.State == health.Blind && last.State != health.Blind {
		last.State, i.unsaved = health.Blind, true
	}
	for _, r := range bounded(status.Reasons) {
		known := slices.ContainsFunc(last.Reasons, func(k health.Reason) bool { return k.Surface == r.Surface })
		if !known && len(last.Reasons) < maxReasons {
			last.Reasons, i.unsaved = append(slices.Clone(last.Reasons), r), true
		}
	}
}

// save stores the log if it changed. After a failure the next call tries again.
func (i *incidents) save(ctx context.Context, s *session) {
	if !i.unsaved {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	i.unsaved = s.Coverage.SetIncidents(ctx, s.lease, i.log) != nil
}

// bounded returns reasons of a bounded size.
func bounded(reasons []health.Reason) []health.Reason {
	out := slices.Clone(reasons[:min(len(reasons), maxReasons)])
	for n := range out {
		out[n].Params.Detail = text.Clip(out[n].Params.Detail, maxReason)
	}
	return out
}
