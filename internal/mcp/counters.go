package mcp

import (
	"slices"
	"sync/atomic"
)

// counter counts one kind of message.
type counter struct{ received, failed atomic.Int64 }

// otherCalls is what is no tool and no method that is counted by itself.
const otherCalls = "other"

// countedMethods are told apart in the metrics.
var countedMethods = []string{
	"initialize", "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get",
	"completion/complete", "subscriptions/listen",
}

// Calls names every kind of message that is counted: tools by their names,
// other messages by their methods.
func CallNames() []string {
	out := append([]string{otherCalls}, countedMethods...)
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

func newCounters() map[string]*counter {
	out := map[string]*counter{}
	for _, name := range CallNames() {
		out[name] = &counter{}
	}
	return out
}

// Counted returns how many messages of a kind were taken, and how many of them
// were answered with an error of the protocol or refused.
func (s *Server) CallCounts(call string) (taken, failed int64) {
	c := s.calls[call]
	return c.received.Load(), c.failed.Load()
}

// label is the kind of a message.
func (m message) label() string {
	if m.method == "tools/call" {
		if t := toolNamed(m.params.Name); t != nil {
			return t.Name
		}
		return otherCalls
	}
	if slices.Contains(countedMethods, m.method) {
		return m.method
	}
	return otherCalls
}

func (s *Server) count(m message, failed bool) {
	c := s.calls[m.label()]
	c.received.Add(1)
	if failed {
		c.failed.Add(1)
	}
}
