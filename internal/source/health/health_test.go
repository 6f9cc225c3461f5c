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

// want checks the state and the surfaces that are named as reasons.
func want(t *testing.T, b *health.Monitor, state health.State, surfaces ...string) health.Status {
	t.Helper()
	s, _ := b.Status()
	var named []string
	for _, r := range s.Reasons {
		named = append(named, r.Surface)
		if r.Text == "" || r.Since.IsZero() {
			t.Errorf("the reason %+v says nothing", r)
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

// sees notes a good look at everything that is live.
func sees(b *health.Monitor) {
	for _, t := range disclosure.Types {
		b.OK(health.Feed(t))
		b.OK(health.List(t))
	}
}

func TestBlindUntilSeen(t *testing.T) {
	b := health.NewMonitor(blindAfter)
	want(t, b, health.Blind, "feed-ip", "feed-hr", "feed-oir")
	b.OK("feed-ip")
	want(t, b, health.Blind, "feed-hr", "feed-oir")
	b.OK("list-oir") // as good a look
	want(t, b, health.Blind, "feed-hr")
	b.OK("feed-hr")
	want(t, b, health.Quiet)
}

func TestQuietAndLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := health.NewMonitor(blindAfter)
		sees(b)
		want(t, b, health.Quiet)
		b.Published(time.Now())
		b.Published(time.Now().Add(-48 * time.Hour)) // history is no news
		s := want(t, b, health.Live)
		time.Sleep(29 * time.Minute)
		sees(b)
		if later := want(t, b, health.Live); later.Since != s.Since {
			t.Errorf("live since %v, and then since %v", s.Since, later.Since)
		}
		time.Sleep(2 * time.Minute)
		sees(b)
		want(t, b, health.Quiet)
	})
}

func TestOneFailureIsNothing(t *testing.T) {
	b := health.NewMonitor(blindAfter)
	sees(b)
	b.Fail("feed-oir", away, false)
	want(t, b, health.Quiet)
	if b.Failing("feed-oir") {
		t.Error("one failure counts")
	}
	b.Fail("feed-oir", away, false)
	s := want(t, b, health.Degraded, "feed-oir")
	if s.Reasons[0].Text != away || !b.Failing("feed-oir") {
		t.Errorf("the reason is %+v", s.Reasons[0])
	}
	b.OK("feed-oir")
	want(t, b, health.Quiet)
	b.Fail("feed-oir", away, false) // the count begins anew
	want(t, b, health.Quiet)
}

func TestMarkupCountsAtOnce(t *testing.T) {
	b := health.NewMonitor(blindAfter)
	sees(b)
	b.Fail("permalink-ip", "no row", true)
	want(t, b, health.Degraded, "permalink-ip")
	b.Fail("permalink-ip", away, false) // and is not forgotten for a lesser trouble
	want(t, b, health.Degraded, "permalink-ip")
	b.OK("permalink-ip")
	want(t, b, health.Quiet)
}

func TestBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := health.NewMonitor(blindAfter)
		sees(b)
		seen := time.Now()
		for range 4 {
			time.Sleep(5 * time.Second)
			b.OK("feed-ip")
			b.OK("feed-hr")
			b.Fail("feed-oir", away, false)
		}
		s := want(t, b, health.Blind, "feed-oir", "feed-oir")
		if !s.Reasons[1].Since.Equal(seen) {
			t.Errorf("blind since %v, want since it was last seen, %v", s.Reasons[1].Since, seen)
		}
		b.OK("list-oir") // read instead of the feed
		want(t, b, health.Degraded, "feed-oir")
	})
}

func TestWithoutAStoreBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := health.NewMonitor(blindAfter)
		for range 4 {
			sees(b)
			b.Fail(health.Store, away, false)
			time.Sleep(5 * time.Second)
		}
		sees(b)
		want(t, b, health.Blind, health.Store)
	})
}

func TestChangesAreToldOnce(t *testing.T) {
	b := health.NewMonitor(blindAfter)
	sees(b)
	if _, was := b.Status(); was != health.Blind {
		t.Errorf("the first state replaces %q, want blind", was)
	}
	if _, was := b.Status(); was != "" {
		t.Errorf("the same state replaces %q", was)
	}
	b.Fail("exchange", away, true)
	if s, was := b.Status(); was != health.Quiet || len(s.Surfaces) != 7 {
		t.Errorf("it replaces %q, with %d surfaces", was, len(s.Surfaces))
	}
}

// TestTurnDoesNotCome: a surface that should be read and is not is told, though
// nothing failed.
func TestTurnDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := health.NewMonitor(blindAfter)
		b.Expect("list-oir", time.Minute)
		sees(b)
		for range 6 {
			time.Sleep(40 * time.Second)
			b.OK("feed-ip")
			b.OK("feed-hr")
			b.OK("feed-oir")
			b.OK("list-ip")
		}
		want(t, b, health.Degraded, "list-oir")
		b.OK("list-oir")
		want(t, b, health.Quiet)
	})
}

// TestOneFailureOfTheStoreIsNothing, however long ago it was.
func TestOneFailureOfTheStoreIsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := health.NewMonitor(blindAfter)
		b.Fail(health.Store, away, false)
		time.Sleep(time.Hour)
		sees(b)
		want(t, b, health.Quiet)
	})
}

// TestWithStore: what a process knows of its own store makes its state worse,
// and explains the silence of the process that reads the source.
func TestWithStore(t *testing.T) {
	since := time.Now()
	fails := []health.Reason{{Surface: health.Store, Text: "notes: " + away, Since: since}}
	for _, c := range []struct {
		name    string
		was     health.Status
		reasons []health.Reason
		blind   bool
		want    health.State
		count   int
	}{
		{"well", health.Status{State: health.Live}, nil, false, health.Live, 0},
		{"a part fails", health.Status{State: health.Live}, fails, false, health.Degraded, 1},
		{"nothing can be kept", health.Status{State: health.Quiet}, fails, true, health.Blind, 1},
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

// TestStale: a feed that hides reports is a reason, and does not count as seen.
func TestStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := health.NewMonitor(blindAfter)
		sees(b)
		b.Stale("feed-oir", "it lacks oir-7")
		since := time.Now()
		time.Sleep(5 * time.Second)
		b.OK("feed-oir") // it is still read
		b.Stale("feed-oir", "it lacks oir-7")
		s := want(t, b, health.Degraded, "feed-oir")
		if !s.Reasons[0].Since.Equal(since) || !b.Failing("feed-oir") || len(s.Unseen) != 0 {
			t.Errorf("%+v, unseen %v", s.Reasons, s.Unseen)
		}
		for _, sf := range s.Surfaces {
			if stale := sf.Name == "feed-oir"; sf.Stale != stale || sf.OK == stale || stale && sf.Error == "" {
				t.Errorf("%+v", sf)
			}
		}
		for range 3 {
			time.Sleep(5 * time.Second)
			for _, name := range []string{"feed-oir", "feed-ip", "feed-hr"} {
				b.OK(name)
			}
		}
		if s := want(t, b, health.Blind, "feed-oir", "feed-oir"); len(s.Unseen) != 0 {
			t.Errorf("unseen are %v: another process would read the same feed", s.Unseen)
		}
		b.OK("list-oir")
		want(t, b, health.Degraded, "feed-oir")
		b.Fresh("feed-oir")
		want(t, b, health.Quiet)
	})
}

func TestRestart(t *testing.T) {
	b := health.NewMonitor(blindAfter)
	sees(b)
	b.Fail("exchange", away, true)
	b.Stale("feed-ip", "it lacks ip-7")
	want(t, b, health.Degraded, "exchange", "feed-ip")
	b.Restart()
	want(t, b, health.Blind, "feed-ip", "feed-hr", "feed-oir")
	sees(b)
	want(t, b, health.Quiet)
}

// TestSeenInPart: a good look at a part of a surface does not make the rest well,
// and is a look.
func TestSeenInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := health.NewMonitor(blindAfter)
		sees(b)
		b.Fail("list-oir", "its third page cannot be read", true)
		for range 5 {
			time.Sleep(blindAfter / 2)
			for _, name := range []string{"feed-ip", "feed-hr"} {
				b.OK(name)
			}
			b.Seen("list-oir")
		}
		want(t, b, health.Degraded, "list-oir")
		b.OK("list-oir")
		want(t, b, health.Quiet)
	})
}
