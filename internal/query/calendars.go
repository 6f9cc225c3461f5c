package query

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"pregon/internal/catalog"
	"pregon/internal/disclosure/calendar"
)

// calendars keeps the calendar of the newest snapshot. Making it reads all reports with
// dates, so it is made once for all requests, and not more often than its cost allows.
type calendars struct {
	making singleflight.Group
	kept   atomic.Pointer[keptCalendar]
}

// keptCalendar is the calendar of a snapshot.
type keptCalendar struct {
	seq     int64
	entries []calendar.Entry
	next    time.Time // before this time it is not made again
}

// calendarShare is how much longer than it takes to make a calendar it is kept: a
// twentieth of a processor makes calendars.
const calendarShare = 20

// leastKept is how long a calendar is kept at least.
const leastKept = time.Second

// entries returns the calendar, by day.
func (c *calendars) entries(ctx context.Context, s *catalog.Snapshot) ([]calendar.Entry, error) {
	kept := c.kept.Load()
	if kept != nil && (kept.seq == s.Seq() || time.Now().Before(kept.next)) {
		return kept.entries, nil
	}
	made := c.making.DoChan("", func() (any, error) {
		start := time.Now()
		next := &keptCalendar{seq: s.Seq(), entries: calendar.Entries(statements(s))}
		next.next = time.Now().Add(max(leastKept, calendarShare*time.Since(start)))
		c.kept.Store(next)
		return next, nil
	})
	select {
	case r := <-made:
		return r.Val.(*keptCalendar).entries, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// statements returns the reports with dates, and those that correct them.
func statements(s *catalog.Snapshot) []calendar.Statement {
	var found []calendar.Statement
	known := map[string]bool{}
	var add func(r catalog.Report)
	add = func(r catalog.Report) {
		if known[r.ID()] {
			return
		}
		known[r.ID()] = true
		report := r.Decode()
		found = append(found, calendar.Statement{
			Report:   report,
			IssuerID: r.IssuerID(),
			Issuer:   issuerName(r),
			Facts:    report.Facts,
		})
		if by, ok := s.Report(report.CorrectedBy); ok {
			add(by)
		}
	}
	for _, kind := range calendar.FactKinds {
		for r := range s.WithFact(kind) {
			add(r)
		}
	}
	return found
}

// issuerName returns the name of the issuer of a report: that in the directory, else that
// in the report.
func issuerName(r catalog.Report) string {
	if i := r.Issuer(); i != nil {
		return i.Name
	}
	return r.CompanyName()
}
