package events

import (
	"sync"
	"sync/atomic"

	"pregon/internal/fault"
)

// MaxOpen is the number of streams, waiting requests and subscriptions that one
// principal may have open in a process, on all surfaces together.
const MaxOpen = 100

// ConnLimiter limits the number of open connections of each principal.
type ConnLimiter struct {
	mu    sync.Mutex
	open  map[string]int // guarded by mu: by principal
	total int            // guarded by mu

	cut atomic.Int64
}

// CountCut counts a listener that was disconnected because it read too slowly.
func (s *ConnLimiter) CountCut() { s.cut.Add(1) }

// Cut returns the number of listeners that were disconnected because they read
// too slowly.
func (s *ConnLimiter) Cut() int64 { return s.cut.Load() }

// Acquire opens a connection of a principal that may have limit of them open. The
// caller must call release to release it.
func (s *ConnLimiter) Acquire(principal string, limit int) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]int{}
	}
	if s.open[principal] >= limit {
		return nil, fault.New(fault.RateLimited,
			"The limit of %d open streams and waiting requests is reached: close one.", limit)
	}
	s.open[principal]++
	s.total++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.total--
		if s.open[principal]--; s.open[principal] == 0 {
			delete(s.open, principal)
		}
	}, nil
}

// Open returns the number of open connections.
func (s *ConnLimiter) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}
