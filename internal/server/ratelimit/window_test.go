package ratelimit_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/server/ratelimit"
)

var perMinute = ratelimit.Policy{Name: "test", Limit: 60, Window: time.Minute}

// number returns the subject of a number.
func number(n int) (s ratelimit.Subject) {
	binary.BigEndian.PutUint64(s[:], uint64(n))
	return s
}

func TestWindowBoundary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := ratelimit.NewWindow(perMinute)
		ana := ratelimit.Name("ana")
		for n := range 60 {
			want := ratelimit.Decision{OK: true, Remaining: 59 - n, Reset: time.Minute}
			if got := w.Take(t.Context(), ana); got != want {
				t.Fatalf("request %d: %+v, want %+v", n+1, got, want)
			}
		}
		if got, want := w.Take(t.Context(), ana), (ratelimit.Decision{Reset: time.Minute}); got != want {
			t.Errorf("request 61: %+v, want %+v", got, want)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if got, want := w.Take(t.Context(), ana), (ratelimit.Decision{Reset: 1}); got != want {
			t.Errorf("a nanosecond too early: %+v, want %+v", got, want)
		}
		time.Sleep(time.Nanosecond)
		if got, want := w.Take(t.Context(), ana), (ratelimit.Decision{OK: true, Remaining: 59, Reset: time.Minute}); got != want {
			t.Errorf("after a minute: %+v, want %+v", got, want)
		}
	})
}

// model is a simple implementation of the limit.
type model struct {
	policy   ratelimit.Policy
	accepted []time.Time
}

func (m *model) decide(now time.Time, count bool) ratelimit.Decision {
	n, oldest := 0, now
	for _, at := range m.accepted {
		if now.Sub(at) < m.policy.Window {
			if n == 0 {
				oldest = at
			}
			n++
		}
	}
	ok := n < m.policy.Limit
	if ok && count {
		m.accepted = append(m.accepted, now)
		n++
	}
	v := ratelimit.Decision{OK: ok, Remaining: m.policy.Limit - n}
	if n > 0 {
		v.Reset = m.policy.Window - now.Sub(oldest)
	}
	return v
}

// check fails when a window has more requests than the limit.
func (m *model) check(t *testing.T) {
	for n := range max(len(m.accepted)-m.policy.Limit, 0) {
		if d := m.accepted[n+m.policy.Limit].Sub(m.accepted[n]); d < m.policy.Window {
			t.Fatalf("%d requests in %v", m.policy.Limit+1, d)
		}
	}
}

func TestWindowAgainstModel(t *testing.T) {
	refused := 0
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			limits := []int{1, 2, 6, 7, 8, 13, 14, 15, 60}
			policy := ratelimit.Policy{Name: "test", Limit: limits[random.IntN(len(limits))], Window: time.Minute}
			w := ratelimit.NewWindow(policy)
			models := make([]model, 3)
			for n := range models {
				models[n].policy = policy
			}
			pauses := []time.Duration{
				0, 0, 0, 1, time.Millisecond, time.Second, policy.Window / time.Duration(policy.Limit),
				policy.Window - 1, policy.Window, policy.Window + 1, 2*policy.Window - 1, 2 * policy.Window,
			}
			// Mostly short, or no request would be refused.
			pause := func() time.Duration {
				switch random.IntN(4 * policy.Limit) {
				case 0:
					return pauses[random.IntN(len(pauses))]
				case 1:
					return time.Duration(random.Int64N(int64(policy.Window)))
				}
				return time.Duration(random.Int64N(int64(policy.Window) / int64(4*policy.Limit)))
			}
			for n := range 1000 {
				time.Sleep(pause())
				who := random.IntN(len(models))
				count := random.IntN(3) > 0
				ask := w.Peek
				if count {
					ask = w.Take
				}
				got, want := ask(t.Context(), number(who)), models[who].decide(time.Now(), count)
				if got != want {
					t.Fatalf("seed %d, limit %d, request %d: %+v, want %+v", seed, policy.Limit, n, got, want)
				}
				if !got.OK {
					refused++
				}
			}
			for n := range models {
				models[n].check(t)
			}
		})
	}
	if refused < 10_000 || refused > 40_000 {
		t.Errorf("%d of 50000 refused, which shows little", refused)
	}
}

// TestRefundAgainstModel refunds requests early, late, outside of the window, and those
// of the overflow subject.
func TestRefundAgainstModel(t *testing.T) {
	given := 0
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			limits := []int{1, 2, 6, 7, 8, 13, 14, 15, 60}
			policy := ratelimit.Policy{Name: "test", Limit: limits[random.IntN(len(limits))], Window: time.Minute}
			w := ratelimit.NewWindow(policy)
			full := random.IntN(2) == 0
			if full {
				w.SetCapacity(0) // all are strangers
			}
			models := make([]model, 3)
			for n := range models {
				models[n].policy = policy
			}
			type request struct {
				who     int
				at      time.Time
				counted ratelimit.Counted
			}
			var in []request
			for n := range 1000 {
				if random.IntN(3) > 0 { // or it is at the same time
					time.Sleep(time.Duration(random.Int64N(int64(policy.Window) / int64(policy.Limit))))
				}
				if random.IntN(20*policy.Limit) == 0 {
					time.Sleep(2 * policy.Window)
				}
				if len(in) > 0 && random.IntN(3) == 0 {
					at := max(len(in)-1-random.IntN(2*policy.Limit), 0)
					w.GiveBack(in[at].counted)
					m := &models[in[at].who]
					for i, accepted := range m.accepted {
						if accepted.Equal(in[at].at) {
							m.accepted = slices.Delete(m.accepted, i, i+1)
							break
						}
					}
					in = slices.Delete(in, at, at+1)
					given++
				}
				subject := random.IntN(len(models))
				who := subject
				if full {
					who = 0
				}
				got, counted := w.TakeCounted(number(subject))
				if want := models[who].decide(time.Now(), true); got != want {
					t.Fatalf("seed %d, limit %d, request %d: %+v, want %+v", seed, policy.Limit, n, got, want)
				}
				if got.OK {
					in = append(in, request{who, time.Now(), counted})
				}
			}
			for _, r := range in {
				w.GiveBack(r.counted)
			}
			if w.Len() != 0 {
				t.Errorf("seed %d: %d subjects are remembered, and all was given back", seed, w.Len())
			}
		})
	}
	if given < 10_000 {
		t.Errorf("%d were given back, which shows little", given)
	}
}

func TestPeekDoesNotCount(t *testing.T) {
	w := ratelimit.NewWindow(perMinute)
	for range 100 {
		if got, want := w.Peek(t.Context(), number(1)), (ratelimit.Decision{OK: true, Remaining: 60}); got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
	if w.Len() != 0 {
		t.Errorf("%d subjects are remembered for being looked at", w.Len())
	}
}

func TestRefusedAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := ratelimit.NewWindow(perMinute)
		for range 60 {
			w.Take(t.Context(), number(1))
		}
		for range 59 { // one a second, which would hold the door shut if it counted
			time.Sleep(time.Second)
			if w.Take(t.Context(), number(1)).OK {
				t.Fatal("the limit does not hold")
			}
		}
		time.Sleep(time.Second)
		if !w.Take(t.Context(), number(1)).OK {
			t.Error("refused requests were counted")
		}
	})
}

func TestConcurrentTakes(t *testing.T) {
	w := ratelimit.NewWindow(ratelimit.Policy{Name: "test", Limit: 60, Window: time.Hour})
	if got := takeAtOnce(t, 200, w); got != 60 {
		t.Errorf("%d of 200 were allowed, want 60", got)
	}
}

// takeAtOnce makes concurrent requests of one subject with each limiter, and returns
// how many were allowed.
func takeAtOnce(t *testing.T, each int, limiters ...ratelimit.Limiter) int {
	var in atomic.Int64
	var all sync.WaitGroup
	start := make(chan bool)
	for _, l := range limiters {
		for range each {
			all.Go(func() {
				<-start
				if l.Take(t.Context(), number(1)).OK {
					in.Add(1)
				}
			})
		}
	}
	close(start)
	all.Wait()
	return int(in.Load())
}

func TestOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := ratelimit.NewWindow(ratelimit.Policy{Name: "test", Limit: 3, Window: time.Minute})
		w.SetCapacity(10)
		for n := range 10 {
			w.Take(t.Context(), number(n))
		}
		for n := 10; n < 13; n++ {
			if got := w.Peek(t.Context(), number(99)); !got.OK || got.Remaining != 13-n {
				t.Errorf("before stranger %d: %+v, want %d left", n, got, 13-n)
			}
			if got := w.Take(t.Context(), number(n)); !got.OK || got.Remaining != 12-n {
				t.Errorf("stranger %d: %+v, want %d left", n, got, 12-n)
			}
		}
		for n := 10; n < 100; n++ {
			if w.Take(t.Context(), number(n)).OK || w.Peek(t.Context(), number(n)).OK {
				t.Fatalf("stranger %d has a limit of its own", n)
			}
		}
		for n := range 10 {
			if got := w.Take(t.Context(), number(n)); !got.OK || got.Remaining != 1 {
				t.Errorf("who was known has lost its limit: %+v", got)
			}
		}
		if w.Len() != 11 {
			t.Errorf("%d subjects are remembered, want 10 and the overflow", w.Len())
		}
		time.Sleep(2 * time.Minute)
		for n := 10; n < 20; n++ {
			if got := w.Take(t.Context(), number(n)); !got.OK || got.Remaining != 2 {
				t.Errorf("there is room again, but stranger %d has %+v", n, got)
			}
		}
	})
}

// TestLogsDoNotGrow sends requests at the limit for a long time.
func TestLogsDoNotGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := ratelimit.NewWindow(ratelimit.Policy{Name: "test", Limit: 600, Window: time.Minute})
		for range 6000 {
			time.Sleep(100 * time.Millisecond)
			if !w.Take(t.Context(), number(1)).OK {
				t.Fatal("a request was refused")
			}
			if got, want := w.Room(), 4*600; got > want {
				t.Fatalf("600 times are kept in room for %d, want %d at most", got, want)
			}
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestMemoryIsFreed(t *testing.T) {
	const many, mb = 200_000, 1 << 20
	for _, c := range []struct {
		name string
		step time.Duration // between requests after the flood
	}{
		{"no requests", 2 * time.Minute},
		{"a request every second", time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := heap()
				w := ratelimit.NewWindow(perMinute)
				w.SetCapacity(many)
				for n := range many + 1000 {
					w.Take(t.Context(), number(n))
				}
				if w.Len() != many+1 {
					t.Fatalf("%d subjects are remembered, want %d and the overflow", w.Len(), many)
				}
				if grown := heap() - before; grown < 10*mb || grown > 60*mb {
					t.Errorf("they take %d MB", grown/mb)
				}
				known := model{perMinute, []time.Time{time.Now()}}
				for range 2 * time.Minute / c.step {
					time.Sleep(c.step)
					if got, want := w.Take(t.Context(), number(1)), known.decide(time.Now(), true); got != want {
						t.Fatalf("%+v, want %+v", got, want)
					}
				}
				if w.Len() != 1 {
					t.Errorf("%d subjects are remembered, want 1", w.Len())
				}
				if grown := heap() - before; grown > mb {
					t.Errorf("one subject takes %d MB", grown/mb)
				}
				runtime.KeepAlive(w)
			})
		})
	}
}
