package ingest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/regulator"
)

func TestWaitingRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaitingRoom()
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

// TestGate: pages whose form is not known are asked for seldom, one filing's odd
// page holds up no other, and a page that can be read opens the gate.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &session{Ingest: &Ingest{rhythm: usual}}
		odd, g := error(&regulator.MarkupError{Surface: "page", Detail: "no list", Whole: true}), &gate{}
		for range 10 {
			g.note("hr-1", odd, s.patience)
			g.note("hr-2", odd, s.patience)
		}
		g.note("hr-3", errors.New("reset"), s.patience) // says nothing of the form
		if wait := g.wait(); wait > 0 {
			t.Errorf("two odd pages shut the gate for %v", wait)
		}
		asked := 0
		for end := time.Now().Add(24 * time.Hour); time.Now().Before(end); time.Sleep(time.Second) {
			if g.wait() <= 0 {
				g.note(fmt.Sprint("hr-", asked), odd, s.patience)
				asked++
			}
		}
		if asked > 310 || asked < 200 { // every five minutes
			t.Errorf("a day of pages that cannot be read asks for %d", asked)
		}
		g.note("hr-1", nil, s.patience)
		if wait := g.wait(); wait > 0 {
			t.Errorf("a good page leaves the gate shut for %v", wait)
		}
	})
}
