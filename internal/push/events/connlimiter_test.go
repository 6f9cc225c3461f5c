package events_test

import (
	"sync"
	"testing"

	"pregon/internal/fault"
	"pregon/internal/push/events"
)

func TestConnLimiter(t *testing.T) {
	var s events.ConnLimiter
	acquire := func(who string, limit int) func() {
		t.Helper()
		release, err := s.Acquire(who, limit)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	first := acquire("ana", 2)
	acquire("ana", 2)
	if _, err := s.Acquire("ana", 2); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("Acquire beyond the limit: got error %v, want RateLimited", err)
	}
	acquire("bea", 2) // the limit is per principal
	if n := s.Open(); n != 3 {
		t.Errorf("Open() = %d, want 3", n)
	}
	first()
	acquire("ana", 2)
	if n := s.Open(); n != 3 {
		t.Errorf("Open() = %d, want 3", n)
	}
	if _, err := s.Acquire("ana", 2); err == nil {
		t.Error("Acquire beyond the limit after a release: got no error")
	}
}

// Concurrent calls of Acquire do not exceed the limit.
func TestConnLimiterConcurrent(t *testing.T) {
	var (
		s        events.ConnLimiter
		all      sync.WaitGroup
		mu       sync.Mutex
		releases []func()
	)
	for range 200 {
		all.Go(func() {
			if release, err := s.Acquire("ana", 50); err == nil {
				mu.Lock()
				defer mu.Unlock()
				releases = append(releases, release)
			}
		})
	}
	all.Wait()
	if len(releases) != 50 || s.Open() != 50 {
		t.Errorf("%d calls succeeded and %d connections are open, want 50", len(releases), s.Open())
	}
	for _, release := range releases {
		all.Go(release)
	}
	all.Wait()
	if s.Open() != 0 {
		t.Errorf("Open() = %d after all were released, want 0", s.Open())
	}
}
