package ingest

import (
	"testing"
	"testing/synctest"
	"time"
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
