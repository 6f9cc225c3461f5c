package retry

import (
	"sync"
	"time"
)

// severalFailures is the number of ids that must fail in a row to close a Gate.
const severalFailures = 3

// Gate delays work after that of several ids failed in a row. Then the cause is not
// one id, and one try now and then is enough to notice that it is over. The zero
// Gate is open. Its methods may be called by several goroutines.
type Gate struct {
	mu     sync.Mutex
	failed map[string]bool // guarded by mu: ids since the last success
	tries  int             // guarded by mu: since it closed
	opens  time.Time       // guarded by mu
}

// Wait returns the time until work may be tried.
func (g *Gate) Wait() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(g.opens)
}

// OK records a success and opens the gate.
func (g *Gate) OK() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = nil
	g.tries = 0
	g.opens = time.Time{}
}

// Fail records the failure of an id. If several ids have failed, the gate closes
// for the time that backoff returns.
func (g *Gate) Fail(id string, backoff func(tries int) time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == nil {
		g.failed = map[string]bool{}
	}
	if len(g.failed) < severalFailures {
		g.failed[id] = true
	}
	if len(g.failed) == severalFailures {
		g.opens = time.Now().Add(backoff(g.tries))
		g.tries++
	}
}
