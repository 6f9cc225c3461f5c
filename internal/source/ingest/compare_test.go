package ingest

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
)

// TestFeedHides: a feed that is valid and lacks new reports is noticed, the
// list is read in its place, and the feed is trusted again once it shows them.
func TestFeedHides(t *testing.T) {
	for _, test := range []struct{ kind, series string }{{"frozen", "oir"}, {"frozen", "hr"}, {"silent", "ip"}} {
		t.Run(test.kind+" "+test.series, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			i := w.newIngest("first")
			i.intervals.reconcile, i.intervals.hr = time.Hour, time.Hour // they would find it too, later
			i.intervals.compare, i.intervals.compareNight = time.Second, time.Second
			w.run(i.Run)
			name := "feed-" + test.series
			first := w.publish(fmt.Sprintf(`{"type":%q}`, test.series))
			w.eventually(func() error { return w.has(first) })
			w.state(health.Live)
			w.arm(fmt.Sprintf(`{"kind":%q,"type":%q,"for":"1h"}`, test.kind, test.series))
			for range 2 {
				id := w.publish(fmt.Sprintf(`{"type":%q}`, test.series))
				w.eventually(func() error { return w.has(id) })
			}
			w.eventually(func() error {
				status, _ := w.coverage.Status()
				n := slices.IndexFunc(status.Surfaces, func(s health.Surface) bool { return s.Name == name })
				if n < 0 || !status.Surfaces[n].Stale || status.Surfaces[n].OK || status.State != health.Degraded {
					return fmt.Errorf("%s is not stale: %s because of %v", name, status.State, status.Reasons)
				}
				return nil
			})
			w.disarm()
			w.state(health.Live)
			w.once()
		})
	}
}

// TestComparedOftenEnough: in working hours a list is read within eight seconds
// of the last news of its feed, and every five seconds while that is stale.
func TestComparedOftenEnough(t *testing.T) {
	for _, test := range []struct {
		name        string
		at          string
		news, stale bool
		list        bool // fails
		walk        walk
		want        int // readings in ten minutes
	}{
		{name: "working hours", at: "2026-04-22T09:00:00+02:00", want: 75},
		{name: "night", at: "2026-04-22T03:00:00+02:00", want: 10},
		{name: "Sunday", at: "2026-04-19T09:00:00+02:00", want: 10},
		{name: "the feed brings news", at: "2026-04-22T09:00:00+02:00", news: true, want: 0},
		{name: "stale", at: "2026-04-22T09:00:00+02:00", stale: true, want: 120},
		{name: "stale at night", at: "2026-04-22T03:00:00+02:00", stale: true, want: 120},
		{name: "a walk was interrupted", at: "2026-04-22T03:00:00+02:00", news: true, walk: walk{resume: 4}, want: 120},
		{name: "a walk was long", at: "2026-04-22T03:00:00+02:00", walk: walk{resume: 20, bounded: true}, want: 600},
		{name: "a walk was interrupted by the list", at: "2026-04-22T09:00:00+02:00", list: true, walk: walk{resume: 4}, want: 20},
		{name: "the list fails", at: "2026-04-22T09:00:00+02:00", list: true, want: 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, err := time.Parse(time.RFC3339, test.at)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Until(at))
				i := &Ingest{monitor: health.NewMonitor(15 * time.Second), intervals: usual}
				f := newFeed(&series{name: disclosure.OIR}, &lists{&writer{term: &term{Ingest: i}}})
				c := comparison{read: time.Now(), walk: test.walk}
				if test.stale {
					i.monitor.Stale(health.Feed(f.series.name), "ip-1", time.Now())
				}
				if test.list {
					i.monitor.Fail(health.List(f.series.name), "it fails", true)
				}
				got := 0
				for range 600 {
					time.Sleep(time.Second)
					if test.news {
						f.news = time.Now()
					}
					if f.listDue(&c) {
						c.read = time.Now()
						got++
					}
				}
				if got != test.want {
					t.Errorf("the list is read %d times in ten minutes, want %d", got, test.want)
				}
			})
		})
	}
}

// TestHidden: which rows of a list a feed should have shown, and for how long
// they count.
func TestHidden(t *testing.T) {
	now := time.Date(2026, 4, 22, 15, 36, 10, 0, time.UTC)
	minute := now.Truncate(time.Minute)
	for _, test := range []struct {
		name   string
		newest int64     // that the feed showed
		cut    time.Time // of the feed
		number int64
		at     time.Time
		want   bool
	}{
		{"it is ahead of the feed", 100, time.Time{}, 101, minute, true},
		{"the feed showed it", 100, time.Time{}, 100, minute, false},
		{"the feed dropped it", 100, now, 99, minute.Add(-time.Minute), false},
		{"registered late", 100, time.Time{}, 101, now.Add(-26 * time.Hour), false},
		{"just before the close", 100, minute, 101, minute.Add(-time.Minute), false},
		{"after the close", 100, minute, 101, minute, true},
		{"empty since we began", 0, time.Time{}, 101, minute, true},
		{"empty, and from before we began", 0, time.Time{}, 101, minute.Add(-time.Minute), false},
	} {
		c := comparison{began: now.Add(-5 * time.Second), hidden: map[int64]time.Time{}}
		c.add([]regulator.Row{{Number: test.number, At: test.at}}, test.newest, now, test.cut)
		if got := len(c.hidden) == 1; got != test.want {
			t.Errorf("%s: hidden is %v, want %v", test.name, got, test.want)
		}
	}

	stale := func(c *comparison, newest int64, after, read time.Duration) int64 {
		number, _ := c.lowestHidden(newest, now.Add(after), now.Add(read), &usual)
		return number
	}
	hiding := func() *comparison { return &comparison{hidden: map[int64]time.Time{101: now, 102: now}} }
	if n := stale(hiding(), 100, 4*time.Second, 4*time.Second); n != 0 {
		t.Errorf("%d counts within the grace", n)
	}
	if n := stale(hiding(), 100, time.Minute, -time.Second); n != 0 {
		t.Errorf("%d counts though the feed was not read since", n)
	}
	if n := stale(hiding(), 100, 6*time.Second, 6*time.Second); n != 101 {
		t.Errorf("the feed lacks %d, want 101", n)
	}
	if n := stale(hiding(), 101, 6*time.Second, 6*time.Second); n != 102 {
		t.Errorf("the feed lacks %d, want 102", n)
	}
	for name, c := range map[string]struct {
		newest int64
		after  time.Duration
	}{"shown": {102, 6 * time.Second}, "passed over": {103, 6 * time.Second}, "long ago": {100, 16 * time.Minute}} {
		if h := hiding(); stale(h, c.newest, c.after, c.after) != 0 || len(h.hidden) != 0 {
			t.Errorf("%s: %v is still hidden", name, h.hidden)
		}
	}
}

// TestListFailsFurtherOn: that the newest page of a list can be read does not make
// well what failed on another.
func TestListFailsFurtherOn(t *testing.T) {
	t.Parallel()
	s := newWorld(t).session()
	name := health.List(disclosure.OIR)
	_ = s.lists.noteList(t.Context(), disclosure.OIR, time.Now(), &regulator.MarkupError{Surface: name, Detail: "no list", Whole: true})
	c := comparison{hidden: map[int64]time.Time{}}
	s.feeds[disclosure.OIR].readNewest(t.Context(), &c)
	if !s.monitor.Failing(name) {
		t.Error("the list is well again, of which only the newest page was read")
	}
	_ = s.lists.noteList(t.Context(), disclosure.OIR, time.Now(), nil)
	if s.feeds[disclosure.OIR].readNewest(t.Context(), &c); s.monitor.Failing(name) {
		t.Error("the list fails though all of it was read")
	}
}
