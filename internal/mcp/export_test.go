package mcp

import "net/http"

// Wanted returns how many addresses somebody is subscribed to.
func (s *Server) Wanted() int {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	return len(s.subs.byURI)
}

// Queue is what stands between the SDK and a listener.
type Queue interface {
	http.ResponseWriter
	Close() (slow bool)
}

// NewQueue returns a queue before a listener.
func NewQueue(w http.ResponseWriter, cancel func()) Queue { return openQueue{newQueue(w, cancel)} }

type openQueue struct{ *queue }

func (q openQueue) Close() bool { return q.close() }

const (
	BeatEvery   = heartbeatInterval
	WriteTime   = writeTimeout
	MostPending = maxPending
)

// GoOn finds the page after a list that was cut.
var GoOn = nextPage
