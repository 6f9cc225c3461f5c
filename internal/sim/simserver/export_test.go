package simserver

import (
	"time"
)

// Published counts what was published since the history ended.
func (s *Server) Published() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.live.all)
}

// Closing is closing.
func Closing(now time.Time) time.Time { return closing(now) }
