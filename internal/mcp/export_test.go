package mcp

import "pregon/internal/mcp/queue"

// SubscribedURIs returns the number of URIs with a subscription.
func (s *Server) SubscribedURIs() int {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	return len(s.subs.byURI)
}

// NewQueue returns the writer of a listener.
var NewQueue = queue.New

const (
	HeartbeatInterval = queue.HeartbeatInterval
	WriteTimeout      = queue.WriteTimeout
	MaxPending        = queue.MaxPending
)
