package ingest

import (
	"context"
	"fmt"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
)

// comparison compares a feed with the newest page of its list. A feed can be
// valid and lack reports: empty, or the same for hours.
type comparison struct {
	began  time.Time           // what was published before is not expected of an empty feed
	read   time.Time           // when the list was last read
	hidden map[int64]time.Time // the numbers that only the list shows, with the time they were found
}

// compareFeed reads the newest page of the list in place of the feed while that
// cannot be relied upon, and else now and then, to find out.
func (s *session) compareFeed(ctx context.Context, f *feed) error {
	const checks = 5 // for each reading of the list in place of the feed
	now := time.Now()
	c := comparison{began: now, read: now, hidden: map[int64]time.Time{}}
	for {
		if err := retry.Sleep(ctx, s.intervals.instead/checks); err != nil {
			return err
		}
		if s.listDue(f, &c) {
			rows := s.readInstead(ctx, f.series)
			c.read = time.Now()
			f.mu.Lock()
			cut := f.cut
			f.mu.Unlock()
			c.note(rows, s.newest[f.series].Load(), c.read, cut)
		}
		s.assess(f, &c)
	}
}

// listDue reports whether the list is to be read now.
func (s *session) listDue(f *feed, c *comparison) bool {
	if s.board.Failing(health.Feed(f.series)) || len(c.hidden) > 0 {
		return time.Since(c.read) >= s.intervals.instead
	}
	every := s.intervals.comparing(time.Now())
	if s.board.Failing(health.List(f.series)) { // often enough to see that it is well again
		every = max(every, s.intervals.retry)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(c.read) >= every && time.Since(f.news) >= every
}

// readInstead appends what the newest page of the list shows, and returns it.
func (s *session) readInstead(ctx context.Context, t disclosure.Type) []regulator.Row {
	list, err := s.newestOf(ctx, t)
	list.Rows = unseen(list.Rows, map[int64]bool{}) // of a number that is there twice, as reconcile does
	out, kept := s.takeSettled(ctx, t, list.Rows, list.Received, news)
	if out.New > 0 {
		s.Logger.Info("filings seen in the list", "type", t, "new", out.New, "seq", out.Seq)
	}
	if err == nil && kept != nil {
		return list.Rows // it was read, and could not be kept: the store is to blame
	}
	if err == nil && s.listFails[t].Load() {
		s.board.Seen(health.List(t))
		return list.Rows
	}
	_ = s.note(ctx, health.List(t), err)
	return list.Rows
}

// recent is how old a report may be that counts as hidden: one that is
// registered late is never in the feed. It is less than the time for which a feed
// is distrusted, so that one report is no reason twice.
const recent = 10 * time.Minute

// note finds the rows that the feed should show: newest is the highest number
// that it did, and cut is when it last dropped something. At the close it drops
// the day, and what came just before may never have been in it.
func (c *comparison) note(rows []regulator.Row, newest int64, now, cut time.Time) {
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

// settle drops what the feed shows by now, and what is too long ago to say
// anything of it. It returns the lowest number that is hidden for longer than
// the grace, though the feed was read at that moment or later.
func (c *comparison) settle(newest int64, now, read time.Time, r *intervals) (number int64, found time.Time) {
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

// assess notes whether the feed hides reports.
func (s *session) assess(f *feed, c *comparison) {
	name := health.Feed(f.series)
	f.mu.Lock()
	read := f.read
	f.mu.Unlock()
	number, found := c.settle(s.newest[f.series].Load(), time.Now(), read, &s.intervals)
	stale := s.board.IsStale(name)
	switch {
	case number > 0:
		id := disclosure.ReportID(f.series, number)
		s.board.Stale(name, fmt.Sprintf("it can be read, but lacks %s, which the list showed at %s; the list is read in its place",
			id, found.In(disclosure.Madrid).Format(time.TimeOnly)))
		if !stale {
			s.Logger.Warn("a feed hides filings", "type", f.series, "id", id)
		}
	case stale && len(c.hidden) == 0:
		s.board.Fresh(name)
		s.Logger.Info("a feed is trusted again", "type", f.series)
	}
}
