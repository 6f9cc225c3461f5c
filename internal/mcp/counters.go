package mcp

import (
	"slices"
	"sync/atomic"

	"pregon/internal/mcp/tools"
)

// counter counts one kind of message.
type counter struct{ received, failed atomic.Int64 }

// otherCalls is the name of all other messages.
const otherCalls = "other"

// countedMethods have counters of their own.
var countedMethods = []string{
	"initialize", "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get",
	"completion/complete", "subscriptions/listen",
}

// CallNames returns the kinds of messages that are counted: tools by name,
// other messages by method.
func CallNames() []string {
	out := append([]string{otherCalls}, countedMethods...)
	for _, t := range tools.All {
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

// CallCounts returns how many messages of a kind were received, and how many of
// them failed.
func (s *Server) CallCounts(call string) (received, failed int64) {
	c := s.calls[call]
	return c.received.Load(), c.failed.Load()
}

// label returns the kind of a message.
func (m message) label() string {
	if m.method == "tools/call" {
		if t, err := tools.Named(m.name); err == nil {
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

// operation returns the name under which the use of a caller is counted: one of a
// fixed set, whatever names the client sends.
func (m message) operation() string {
	if m.method == "tools/call" {
		if t, err := tools.Named(m.name); err == nil {
			return "mcp " + t.Name
		}
	} else if _, known := methods[m.method]; known {
		return "mcp " + m.method
	}
	return "mcp " + otherCalls
}
