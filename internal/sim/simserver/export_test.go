package simserver

import (
	"time"
)

// Published returns the number of reports published since the history ended.
func (s *Server) Published() int { return s.archive.Published() }

// Closing exports closing.
func Closing(now time.Time) time.Time { return closing(now) }
