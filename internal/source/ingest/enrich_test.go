package ingest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

// TestPollOf: feeds leave turns to pages and documents that wait for one.
func TestPollOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := throttle.New(time.Minute)
		source, err := regulator.New(regulator.Options{Origin: "https://regulator.example", UserAgent: "test", Queue: queue})
		if err != nil {
			t.Fatal(err)
		}
		s := &session{Ingest: &Ingest{Options: Options{Regulator: source, Poll: time.Second}}}
		check := func(hr time.Duration) {
			t.Helper()
			for series, want := range map[disclosure.Type]time.Duration{disclosure.IP: time.Second, disclosure.OIR: hr, disclosure.HR: hr} {
				if got := s.pollOf(series); got != want {
					t.Errorf("the feed of %s is read every %v, want %v", series, got, want)
				}
			}
		}
		check(time.Second)
		if err := queue.Wait(t.Context(), throttle.Feeds); err != nil { // the next is in a minute
			t.Fatal(err)
		}
		go func() { _ = queue.Wait(t.Context(), throttle.Registers) }() // nobody waits for these
		synctest.Wait()
		check(time.Second)
		for _, class := range []throttle.Priority{throttle.Permalinks, throttle.Documents} {
			go func() { _ = queue.Wait(t.Context(), class) }()
			synctest.Wait()
			check(1500 * time.Millisecond)
			time.Sleep(time.Minute) // it has its turn
			synctest.Wait()
			check(time.Second)
		}
		time.Sleep(time.Minute)
	})
}

func TestWaitingRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newRetryQueue()
		for _, id := range []string{"a", "b", "a", "c"} {
			w.add(id)
		}
		next := func(want string, tries int) {
			t.Helper()
			if id, n := w.next(); id != want || n != tries {
				t.Errorf("the next is %q after %d tries, want %q after %d", id, n, want, tries)
			}
		}
		next("a", 0)
		next("b", 0)
		w.done("a", time.Minute) // it failed
		w.done("b", 0)
		w.add("a") // waits already
		next("c", 0)
		next("", 0)
		time.Sleep(time.Minute)
		next("a", 1)
		w.done("a", 0)
		w.done("c", 0)
		next("", 0)
		if w.len() != 0 || len(w.order) != 0 {
			t.Errorf("%d wait, in the order %v", w.len(), w.order)
		}
		w.add("a") // anew
		next("a", 0)
	})
}

// TestGate: pages whose form is not known are asked for seldom, one report's odd
// page holds up no other, and a page that can be read opens the gate.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &session{Ingest: &Ingest{intervals: usual}}
		odd, g := error(&regulator.MarkupError{Surface: "page", Detail: "no list", Whole: true}), &gate{}
		for range 10 {
			g.note("hr-1", odd, s.pageBackoff)
			g.note("hr-2", odd, s.pageBackoff)
		}
		g.note("hr-3", errors.New("reset"), s.pageBackoff) // says nothing of the form
		if wait := g.wait(); wait > 0 {
			t.Errorf("two odd pages shut the gate for %v", wait)
		}
		asked := 0
		for end := time.Now().Add(24 * time.Hour); time.Now().Before(end); time.Sleep(time.Second) {
			if g.wait() <= 0 {
				g.note(fmt.Sprint("hr-", asked), odd, s.pageBackoff)
				asked++
			}
		}
		if asked > 310 || asked < 200 { // every five minutes
			t.Errorf("a day of pages that cannot be read asks for %d", asked)
		}
		g.note("hr-1", nil, s.pageBackoff)
		if wait := g.wait(); wait > 0 {
			t.Errorf("a good page leaves the gate shut for %v", wait)
		}
	})
}
