package events_test

import (
	"sync"
	"testing"

	"pregon/internal/events"
	"pregon/internal/fault"
)

func TestSeats(t *testing.T) {
	var s events.ConnLimiter
	enter := func(who string, most int) func() {
		t.Helper()
		leave, err := s.Acquire(who, most)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	first := enter("ana", 2)
	enter("ana", 2)
	if _, err := s.Acquire("ana", 2); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("one too many: %v", err)
	}
	enter("bea", 2) // has seats of her own
	if n := s.Open(); n != 3 {
		t.Errorf("%d are taken", n)
	}
	first()
	enter("ana", 2)
	if n := s.Open(); n != 3 {
		t.Errorf("%d are taken", n)
	}
	if _, err := s.Acquire("ana", 2); err == nil {
		t.Error("a seat was given back twice")
	}
}

// However many come at once, no more get in than may.
func TestSeatsAtOnce(t *testing.T) {
	var (
		s        events.ConnLimiter
		all      sync.WaitGroup
		mu       sync.Mutex
		leavings []func()
	)
	for range 200 {
		all.Go(func() {
			if leave, err := s.Acquire("ana", 50); err == nil {
				mu.Lock()
				defer mu.Unlock()
				leavings = append(leavings, leave)
			}
		})
	}
	all.Wait()
	if len(leavings) != 50 || s.Open() != 50 {
		t.Errorf("%d got in, %d are taken", len(leavings), s.Open())
	}
	for _, leave := range leavings {
		all.Go(leave)
	}
	all.Wait()
	if s.Open() != 0 {
		t.Errorf("%d are left", s.Open())
	}
}
