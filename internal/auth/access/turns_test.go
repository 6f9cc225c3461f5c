package access_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// granted reports whether a turn has been granted.
func granted(u *access.Turn) bool {
	select {
	case <-u.Granted():
		return true
	default:
		return false
	}
}

// While several callers wait, each gets a turn before any gets a second.
func TestTurnsGoRound(t *testing.T) {
	turns := access.NewTurns(1, time.Second)
	first := turns.Ask("a")
	var order []access.Caller
	waiting := map[*access.Turn]access.Caller{}
	for _, caller := range []access.Caller{"a", "a", "a", "b", "c", "b"} {
		waiting[turns.Ask(caller)] = caller
	}
	running := first
	for len(waiting) > 0 {
		running.End()
		running = nil
		for u, caller := range waiting {
			if !granted(u) {
				continue
			}
			if running != nil {
				t.Fatal("two turns at the same time")
			}
			running = u
			order = append(order, caller)
		}
		if running == nil {
			t.Fatalf("no turn is granted after %v", order)
		}
		delete(waiting, running)
	}
	if want := []access.Caller{"a", "b", "c", "a", "b", "a"}; !slices.Equal(order, want) {
		t.Errorf("turns went to %v, want %v", order, want)
	}
}

// Turns that are not used, whether they were granted or not, go to others.
func TestTurnsEndOnce(t *testing.T) {
	turns := access.NewTurns(2, time.Second)
	a, b, c, d := turns.Ask("a"), turns.Ask("a"), turns.Ask("a"), turns.Ask("d")
	if !granted(a) || !granted(b) || granted(c) || granted(d) {
		t.Fatal("two turns of four must be granted")
	}
	c.End() // leaves the queue
	a.End()
	a.End() // no second turn is free
	if !granted(d) || granted(c) {
		t.Error("the turn went to one that had left the queue")
	}
	e := turns.Ask("e")
	if granted(e) {
		t.Error("a turn that ended twice is counted twice")
	}
	b.End()
	if !granted(e) {
		t.Error("a turn was lost")
	}
}

// A wait ends with the request and has a limit. Neither costs a turn.
func TestTurnsWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := access.NewTurns(1, 3*time.Second)
		held, err := turns.Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := turns.Acquire(t.Context(), "b"); fault.KindOf(err) != fault.Unavailable || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := turns.Acquire(ctx, "b"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a request that ends: %v", err)
		}
		held.End()
		again, err := turns.Acquire(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		again.End()
	})
}

// However many wait and give up, no more than the limit run, and all that stay run.
func TestTurnsUnderLoad(t *testing.T) {
	const most = 3
	turns := access.NewTurns(most, time.Minute)
	var mu sync.Mutex
	running, highest, served := 0, 0, 0
	var all sync.WaitGroup
	for n := range 300 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if n%3 == 0 {
				cancel()
			}
			turn, err := turns.Acquire(ctx, access.Caller(fmt.Sprint("caller", n%7)))
			if err != nil {
				return
			}
			defer turn.End()
			mu.Lock()
			running++
			highest = max(highest, running)
			served++
			mu.Unlock()
			mu.Lock()
			running--
			mu.Unlock()
		})
	}
	all.Wait()
	if highest > most || served < 200 {
		t.Errorf("%d ran at the same time, and %d in all", highest, served)
	}
	if last := turns.Ask("last"); !granted(last) {
		t.Error("a turn was lost")
	}
}

// Callers are principals, addresses of IPv4, and /48 networks of IPv6.
func TestCallers(t *testing.T) {
	g := access.NewGuard(access.Options{})
	caller := func(remote, id string) access.Caller {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = remote
		return g.Caller(r, access.Principal{ID: id})
	}
	for _, test := range []struct {
		name string
		a, b access.Caller
		same bool
	}{
		{"two addresses", caller("192.0.2.1:1", ""), caller("192.0.2.2:1", ""), false},
		{"two ports of an address", caller("192.0.2.1:1", ""), caller("192.0.2.1:2", ""), true},
		{"two /64 networks of a /48", caller("[2001:db8:1:1::1]:1", ""), caller("[2001:db8:1:ffff::1]:1", ""), true},
		{"two /48 networks", caller("[2001:db8:1::1]:1", ""), caller("[2001:db8:2::1]:1", ""), false},
		{"two principals at an address", caller("192.0.2.1:1", "key_a"), caller("192.0.2.1:1", "key_b"), false},
		{"a principal at two addresses", caller("192.0.2.1:1", "key_a"), caller("192.0.2.2:1", "key_a"), true},
	} {
		if (test.a == test.b) != test.same {
			t.Errorf("%s: %q and %q", test.name, test.a, test.b)
		}
	}
}
