package feed_test

import (
	"sync"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/feed"
)

func TestSeats(t *testing.T) {
	var s feed.Seats
	enter := func(who string, most int) func() {
		t.Helper()
		leave, err := s.Enter(who, most)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	first := enter("ana", 2)
	enter("ana", 2)
	if _, err := s.Enter("ana", 2); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("one too many: %v", err)
	}
	enter("bea", 2) // has seats of her own
	if n := s.Taken(); n != 3 {
		t.Errorf("%d are taken", n)
	}
	first()
	enter("ana", 2)
	if n := s.Taken(); n != 3 {
		t.Errorf("%d are taken", n)
	}
	if _, err := s.Enter("ana", 2); err == nil {
		t.Error("a seat was given back twice")
	}
}

// However many come at once, no more get in than may.
func TestSeatsAtOnce(t *testing.T) {
	var (
		s        feed.Seats
		all      sync.WaitGroup
		mu       sync.Mutex
		leavings []func()
	)
	for range 200 {
		all.Go(func() {
			if leave, err := s.Enter("ana", 50); err == nil {
				mu.Lock()
				defer mu.Unlock()
				leavings = append(leavings, leave)
			}
		})
	}
	all.Wait()
	if len(leavings) != 50 || s.Taken() != 50 {
		t.Errorf("%d got in, %d are taken", len(leavings), s.Taken())
	}
	for _, leave := range leavings {
		all.Go(leave)
	}
	all.Wait()
	if s.Taken() != 0 {
		t.Errorf("%d are left", s.Taken())
	}
}
