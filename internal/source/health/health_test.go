package health_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/health"
)

const blindAfter = 15 * time.Second

const away = "it answers 500"

// want checks the state and the surfaces of its reasons.
func want(t *testing.T, m *health.Monitor, state health.State, surfaces ...string) health.Status {
	t.Helper()
	s, _ := m.Status()
	var named []string
	for _, r := range s.Reasons {
		named = append(named, r.Surface)
		if r.Text() == "" || r.Since.IsZero() {
			t.Errorf("reason: got %+v, want a text and a time", r)
		}
	}
	if s.State != state || len(named) != len(surfaces) {
		t.Fatalf("the source is %s because of %v, want %s because of %v", s.State, named, state, surfaces)
	}
	for n, name := range surfaces {
		if named[n] != name {
			t.Errorf("reason %d is %s, want %s", n, named[n], name)
		}
	}
	return s
}

// sees records a successful read of every feed and list.
func sees(m *health.Monitor) {
	for _, t := range disclosure.Types {
		m.OK(health.Feed(t))
		m.OK(health.List(t))
	}
}

func TestStartingUntilSeen(t *testing.T) {
	m := health.NewMonitor(blindAfter)
	want(t, m, health.Starting, "feed-ip", "feed-hr", "feed-oir")
	m.OK("feed-ip")
	want(t, m, health.Starting, "feed-hr", "feed-oir")
	m.OK("list-oir") // as good as the feed
	want(t, m, health.Starting, "feed-hr")
	m.OK("feed-hr")
	want(t, m, health.Quiet)
}

// TestStartingIsBounded: a source that is not read for a while after the start is
// blind, also if terms that end at once follow each other.
func TestStartingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		time.Sleep(blindAfter - time.Second)
		m.OK("feed-ip")
		m.Fail("feed-hr", away, false) // a single failure does not count
		want(t, m, health.Starting, "feed-hr", "feed-oir")
		starting, _ := m.Status()
		m.Restart(starting)
		want(t, m, health.Starting, "feed-ip", "feed-hr", "feed-oir")
		time.Sleep(time.Second)
		want(t, m, health.Blind, "feed-ip", "feed-hr", "feed-oir")
		blind, _ := m.Status()
		m.Restart(blind)
		want(t, m, health.Blind, "feed-ip", "feed-hr", "feed-oir")
		sees(m)
		want(t, m, health.Quiet)
		time.Sleep(time.Hour)
		m.Restart(health.Status{State: health.Starting, Since: time.Now()}) // another process read the source meanwhile
		want(t, m, health.Starting, "feed-ip", "feed-hr", "feed-oir")
	})
}

// TestStartingOfAnotherProcess: what an earlier process reported counts for the next one,
// so that a process that ends soon after its start again and again is not starting for ever.
func TestStartingOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var last health.Status
		for range 3 {
			m := health.NewMonitor(blindAfter)
			m.Restart(last)
			last = want(t, m, health.Starting, "feed-ip", "feed-hr", "feed-oir")
			if !last.Since.Equal(began) {
				t.Errorf("starting since %v, want %v", last.Since, began)
			}
			time.Sleep(blindAfter / 3)
		}
		for n := range 2 {
			m := health.NewMonitor(blindAfter)
			m.Restart(last)
			last = want(t, m, health.Blind, "feed-ip", "feed-hr", "feed-oir")
			if blind := began.Add(blindAfter); n > 0 && !last.Since.Equal(blind) {
				t.Errorf("blind since %v, want %v", last.Since, blind)
			}
			time.Sleep(time.Minute)
		}
		m := health.NewMonitor(blindAfter)
		m.Restart(health.Status{State: health.Starting, Since: time.Now().Add(time.Hour)}) // of a wrong clock
		time.Sleep(blindAfter - time.Second)
		want(t, m, health.Starting, "feed-ip", "feed-hr", "feed-oir")
		time.Sleep(time.Second)
		want(t, m, health.Blind, "feed-ip", "feed-hr", "feed-oir")
	})
}

// TestStartingEndsWithAFailure: a source whose first reads fail is blind.
func TestStartingEndsWithAFailure(t *testing.T) {
	m := health.NewMonitor(blindAfter)
	m.OK("feed-ip")
	m.OK("feed-hr")
	m.Fail("feed-oir", away, false)
	m.Fail("feed-oir", away, false)
	want(t, m, health.Blind, "feed-oir", "feed-oir")
}

func TestQuietAndLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		sees(m)
		want(t, m, health.Quiet)
		m.Published(time.Now())
		m.Published(time.Now().Add(-48 * time.Hour)) // history is no news
		s := want(t, m, health.Live)
		time.Sleep(29 * time.Minute)
		sees(m)
		if later := want(t, m, health.Live); later.Since != s.Since {
			t.Errorf("live since: got %v, want %v", later.Since, s.Since)
		}
		time.Sleep(2 * time.Minute)
		sees(m)
		want(t, m, health.Quiet)
	})
}

func TestOneFailureIsTolerated(t *testing.T) {
	m := health.NewMonitor(blindAfter)
	sees(m)
	m.Fail("feed-oir", away, false)
	want(t, m, health.Quiet)
	if m.Failing("feed-oir") {
		t.Error("Failing after one failure: got true, want false")
	}
	m.Fail("feed-oir", away, false)
	s := want(t, m, health.Degraded, "feed-oir")
	if s.Reasons[0].Text() != away || !m.Failing("feed-oir") {
		t.Errorf("reason: got %+v, want %q and a failing surface", s.Reasons[0], away)
	}
	m.OK("feed-oir")
	want(t, m, health.Quiet)
	m.Fail("feed-oir", away, false) // the count begins anew
	want(t, m, health.Quiet)
}

func TestMarkupCountsAtOnce(t *testing.T) {
	m := health.NewMonitor(blindAfter)
	sees(m)
	m.Fail("permalink-ip", "no row", true)
	want(t, m, health.Degraded, "permalink-ip")
	m.Fail("permalink-ip", away, false) // a lesser failure does not replace it
	want(t, m, health.Degraded, "permalink-ip")
	m.OK("permalink-ip")
	want(t, m, health.Quiet)
}

func TestBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		sees(m)
		seen := time.Now()
		for range 4 {
			time.Sleep(5 * time.Second)
			m.OK("feed-ip")
			m.OK("feed-hr")
			m.Fail("feed-oir", away, false)
		}
		s := want(t, m, health.Blind, "feed-oir", "feed-oir")
		if !s.Reasons[1].Since.Equal(seen) {
			t.Errorf("blind since: got %v, want the last read, %v", s.Reasons[1].Since, seen)
		}
		m.OK("list-oir") // read instead of the feed
		want(t, m, health.Degraded, "feed-oir")
	})
}

func TestWithoutAStoreBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		for range 4 {
			sees(m)
			m.Fail(health.Store, away, false)
			time.Sleep(5 * time.Second)
		}
		sees(m)
		want(t, m, health.Blind, health.Store)
	})
}

func TestChangesAreReportedOnce(t *testing.T) {
	m := health.NewMonitor(blindAfter)
	sees(m)
	if _, was := m.Status(); was != health.Starting {
		t.Errorf("previous state: got %q, want starting", was)
	}
	if _, was := m.Status(); was != "" {
		t.Errorf("previous state without a change: got %q, want none", was)
	}
	m.Fail("exchange", away, true)
	if s, was := m.Status(); was != health.Quiet || len(s.Surfaces) != 7 {
		t.Errorf("got the previous state %q and %d surfaces, want quiet and 7", was, len(s.Surfaces))
	}
}

// TestOverdue: a surface that should be read and is not is a reason, though no
// read failed.
func TestOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		m.Expect("list-oir", time.Minute)
		sees(m)
		for range 6 {
			time.Sleep(40 * time.Second)
			m.OK("feed-ip")
			m.OK("feed-hr")
			m.OK("feed-oir")
			m.OK("list-ip")
		}
		want(t, m, health.Degraded, "list-oir")
		m.OK("list-oir")
		want(t, m, health.Quiet)
	})
}

// TestOneFailureOfTheStoreIsTolerated, however long ago it was.
func TestOneFailureOfTheStoreIsTolerated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		m.Fail(health.Store, away, false)
		time.Sleep(time.Hour)
		sees(m)
		want(t, m, health.Quiet)
	})
}

// TestWithStore: a failure of a process's own store makes its state worse, and
// replaces the reasons that follow from it.
func TestWithStore(t *testing.T) {
	since := time.Now()
	fails := []health.Reason{{
		Surface: health.Store,
		Code:    health.StoreFailed,
		Params:  health.Params{Part: "notes", Detail: away},
		Since:   since,
	}}
	for _, c := range []struct {
		name    string
		was     health.Status
		reasons []health.Reason
		blind   bool
		want    health.State
		count   int
	}{
		{"healthy", health.Status{State: health.Live}, nil, false, health.Live, 0},
		{"a part fails", health.Status{State: health.Live}, fails, false, health.Degraded, 1},
		{"nothing can be stored", health.Status{State: health.Quiet}, fails, true, health.Blind, 1},
		{"blind already", health.Status{State: health.Blind, Reasons: []health.Reason{{Surface: health.Service}}}, fails, false, health.Blind, 1},
		{"another reason stays", health.Status{State: health.Degraded, Reasons: []health.Reason{{Surface: "feed-ip"}}}, fails, false, health.Degraded, 2},
		{"no source", health.Status{State: health.Off}, fails, true, health.Off, 1},
	} {
		got := c.was.WithStore(c.reasons, c.blind)
		if got.State != c.want || len(got.Reasons) != c.count {
			t.Errorf("%s: it is %s because of %v, want %s and %d reasons", c.name, got.State, got.Reasons, c.want, c.count)
		}
		if got.State != c.was.State && !got.Since.Equal(since) {
			t.Errorf("%s: it is %s since %v, want %v", c.name, got.State, got.Since, since)
		}
	}
}

// TestStale: a feed that hides reports is a reason, and does not count as read.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		sees(m)
		m.Stale("feed-oir", "oir-7", time.Now())
		since := time.Now()
		time.Sleep(5 * time.Second)
		m.OK("feed-oir") // it is still read
		m.Stale("feed-oir", "oir-7", time.Now())
		s := want(t, m, health.Degraded, "feed-oir")
		if !s.Reasons[0].Since.Equal(since) || !m.Failing("feed-oir") || len(s.Unseen) != 0 {
			t.Errorf("got the reasons %+v and unseen %v, want one since %v and none", s.Reasons, s.Unseen, since)
		}
		for _, sf := range s.Surfaces {
			if stale := sf.Name == "feed-oir"; sf.Stale != stale || sf.OK == stale || stale && sf.Error == "" {
				t.Errorf("surface: got %+v, want stale %v", sf, stale)
			}
		}
		for range 3 {
			time.Sleep(5 * time.Second)
			for _, name := range []string{"feed-oir", "feed-ip", "feed-hr"} {
				m.OK(name)
			}
		}
		if s := want(t, m, health.Blind, "feed-oir", "feed-oir"); len(s.Unseen) != 0 {
			t.Errorf("unseen: got %v, want none: another process would read the same feed", s.Unseen)
		}
		m.OK("list-oir")
		want(t, m, health.Degraded, "feed-oir")
		m.Fresh("feed-oir")
		want(t, m, health.Quiet)
	})
}

func TestRestart(t *testing.T) {
	m := health.NewMonitor(blindAfter)
	sees(m)
	m.Fail("exchange", away, true)
	m.Stale("feed-ip", "ip-7", time.Now())
	want(t, m, health.Degraded, "exchange", "feed-ip")
	m.Restart(health.Status{State: health.Degraded, Since: time.Now().Add(-time.Hour)})
	want(t, m, health.Starting, "feed-ip", "feed-hr", "feed-oir")
	sees(m)
	want(t, m, health.Quiet)
}

// TestUnread: a surface is not healthy before it was read, and is no reason either.
func TestUnread(t *testing.T) {
	m := health.NewMonitor(blindAfter)
	read := time.Now().Add(-time.Hour)
	m.Await("permalink-ip", time.Time{})
	m.Await("registers", read)
	m.Await("exchange", time.Time{})
	m.Fail("exchange", away, false) // one failure does not make it healthy
	sees(m)
	s := want(t, m, health.Quiet)
	for _, sf := range s.Surfaces {
		unread := sf.Name == "permalink-ip" || sf.Name == "exchange"
		if sf.OK == unread || sf.SuccessAt.IsZero() != unread {
			t.Errorf("surface: got %+v, want it to be unread: %v", sf, unread)
		}
		if sf.Name == "registers" && !sf.SuccessAt.Equal(read) {
			t.Errorf("registers: got %+v, want the last read at %v", sf, read)
		}
	}
	if m.Failing("permalink-ip") || m.Failing("exchange") {
		t.Error("a surface that was not read yet is failing, want not")
	}
	m.OK("exchange")
	m.Seen("permalink-ip")
	for _, sf := range want(t, m, health.Quiet).Surfaces {
		if !sf.OK {
			t.Errorf("surface: got %+v, want ok", sf)
		}
	}
}

// TestSeenInPart: a successful read of a part of a surface does not clear the
// failure of another, but counts as a read of the series.
func TestSeenInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := health.NewMonitor(blindAfter)
		sees(m)
		m.Fail("list-oir", "its third page cannot be read", true)
		for range 5 {
			time.Sleep(blindAfter / 2)
			for _, name := range []string{"feed-ip", "feed-hr"} {
				m.OK(name)
			}
			m.Seen("list-oir")
		}
		want(t, m, health.Degraded, "list-oir")
		m.OK("list-oir")
		want(t, m, health.Quiet)
	})
}
