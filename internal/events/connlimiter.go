package events

import (
	"sync"
	"sync/atomic"

	"pregon/internal/fault"
)

// MostOpen is how many streams, waiting requests and subscriptions one
// principal may have open in a process, on all surfaces together.
const MaxOpen = 100

// Seats counts those who listen.
type ConnLimiter struct {
	mu    sync.Mutex
	taken map[string]int // guarded by mu: by whose they are
	all   int            // guarded by mu

	cut atomic.Int64
}

// CountCut counts a listener that was ended because it read too slowly.
func (s *ConnLimiter) CountCut() { s.cut.Add(1) }

// Cut returns how many were ended because they read too slowly.
func (s *ConnLimiter) Cut() int64 { return s.cut.Load() }

// Acquire takes a place for an owner who may have so many, until leave is called.
func (s *ConnLimiter) Acquire(who string, most int) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken == nil {
		s.taken = map[string]int{}
	}
	if s.taken[who] >= most {
		return nil, fault.New(fault.RateLimited, "You have %d streams and waiting requests open, which is as many as there may be: close one.", most)
	}
	s.taken[who]++
	s.all++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.taken[who]--; s.taken[who] == 0 {
			delete(s.taken, who)
		}
	}, nil
}

// Taken returns how many listen.
func (s *ConnLimiter) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
