package retry

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(false)
		for _, id := range []string{"a", "b", "a", "c"} {
			q.Add(id)
		}
		next := func(want string, tries int) {
			t.Helper()
			if id, n := q.next(); id != want || n != tries {
				t.Errorf("next: got %q after %d tries, want %q after %d", id, n, want, tries)
			}
		}
		next("a", 0)
		next("b", 0)
		q.done("a", time.Minute) // it failed
		q.done("b", 0)
		q.Add("a") // is in the queue already
		next("c", 0)
		next("", 0)
		time.Sleep(time.Minute)
		next("a", 1)
		q.done("a", 0)
		q.done("c", 0)
		next("", 0)
		if q.Len() != 0 || len(q.order) != 0 {
			t.Errorf("the queue holds %d ids in the order %v, want none", q.Len(), q.order)
		}
		q.Add("a") // anew
		next("a", 0)
	})
}

func TestQueueNewestFirst(t *testing.T) {
	q := NewQueue(true)
	q.Add("a")
	q.Add("b")
	if id, _ := q.next(); id != "b" {
		t.Errorf("next: got %q, want b, which was added last", id)
	}
}
