package ingest

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
)

// comparison compares a feed with its list. A feed can be valid and lack reports:
// empty, or the same for hours.
type comparison struct {
	began  time.Time           // an empty feed need not show reports published before
	read   time.Time           // when the list was last read
	hidden map[int64]time.Time // numbers that only the list shows, with the time when they were found
	walk   walk
}

// checks is how often it is checked whether the list is due, for each read of the
// list in place of the feed.
const checks = 5

// compare reads the newest pages of the list regularly, and often while the feed
// fails or hides reports.
func (f *feed) compare(ctx context.Context) error {
	now := time.Now()
	c := comparison{began: now, read: now, hidden: map[int64]time.Time{}}
	for {
		if err := retry.Sleep(ctx, f.intervals.instead/checks); err != nil {
			return err
		}
		if f.listDue(&c) {
			f.readNewest(ctx, &c)
		}
		f.assess(&c)
	}
}

// listDue reports whether the list is to be read now.
func (f *feed) listDue(c *comparison) bool {
	if c.walk.bounded {
		return true
	}
	if f.monitor.Failing(health.Feed(f.series.name)) || len(c.hidden) > 0 {
		return time.Since(c.read) >= f.intervals.instead
	}
	every := f.intervals.comparing(time.Now())
	if c.walk.resume > 0 {
		every = f.intervals.instead
	}
	if f.monitor.Failing(health.List(f.series.name)) { // often enough to notice that it recovers
		every = max(every, f.intervals.retry)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(c.read) >= every && (c.walk.resume > 0 || time.Since(f.news) >= every)
}

// recent is the age up to which a report counts as hidden. One that is registered
// late is never in the feed. It is shorter than intervals.distrust, so that one
// report does not make a feed stale twice.
const recent = 10 * time.Minute

// add adds the rows that the feed should show. newest is the highest number that
// it showed, and cut is when it last dropped a row: at the close it drops the
// day, and reports published just before may never have been in it.
func (c *comparison) add(rows []regulator.Row, newest int64, now, cut time.Time) {
	from := now.Add(-recent)
	if newest == 0 && c.began.After(from) {
		from = c.began
	}
	if cut.After(from) {
		from = cut
	}
	from = from.Truncate(time.Minute) // the list has no seconds
	for _, row := range rows {
		if row.Number > newest && !row.At.Before(from) && c.hidden[row.Number].IsZero() {
			c.hidden[row.Number] = now
		}
	}
}

// lowestHidden drops the numbers that the feed shows by now and those found too long
// ago. It returns the lowest number that was still hidden when the feed was read
// after the grace period.
func (c *comparison) lowestHidden(newest int64, now, read time.Time, r *intervals) (number int64, found time.Time) {
	for n, at := range c.hidden {
		switch {
		case n <= newest || now.Sub(at) > r.distrust:
			delete(c.hidden, n)
		case read.Sub(at) >= r.grace && (number == 0 || n < number):
			number, found = n, at
		}
	}
	return number, found
}

// assess reports to the monitor whether the feed hides reports.
func (f *feed) assess(c *comparison) {
	surface := health.Feed(f.series.name)
	f.mu.Lock()
	read := f.read
	f.mu.Unlock()
	number, found := c.lowestHidden(f.series.newest.Load(), time.Now(), read, &f.intervals)
	stale := f.monitor.IsStale(surface)
	switch {
	case number > 0:
		id := disclosure.ReportID(f.series.name, number)
		f.monitor.Stale(surface, id, found)
		if !stale {
			f.Logger.Warn("a feed hides reports", "type", f.series.name, "report", id)
		}
	case stale && len(c.hidden) == 0:
		f.monitor.Fresh(surface)
		f.Logger.Info("a feed is trusted again", "type", f.series.name)
	}
}
