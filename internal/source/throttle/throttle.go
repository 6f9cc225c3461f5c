// Package throttle spaces the requests to the regulator: they start with a minimum
// gap between two, the most urgent first. Slow ones may overlap.
package throttle

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Priority is the urgency of a request.
type Priority int

// The priorities, the most urgent first.
const (
	Feeds Priority = iota
	Permalinks
	Documents
	Reconcile
	Registers
	Gaps
	Backfill
)

var names = []string{"feeds", "permalinks", "documents", "reconcile", "registers", "gaps", "backfill"}

// Priorities are all priorities, the most urgent first.
var Priorities = []Priority{Feeds, Permalinks, Documents, Reconcile, Registers, Gaps, Backfill}

func (p Priority) String() string { return names[p] }

// Queue grants requests. Unused grants do not add up: after a pause too, two
// requests are at least a gap apart.
type Queue struct {
	gap time.Duration

	mu      sync.Mutex
	last    time.Time           // guarded by mu: of the last grant
	waiting [][]chan<- bool     // guarded by mu: by priority, in the order of Wait
	timer   *time.Timer         // guarded by mu: calls grant; nil while no request waits
	granted map[Priority]uint64 // guarded by mu
}

// New returns a queue whose grants are at least gap apart. A gap of 0 grants every
// request at once.
func New(gap time.Duration) *Queue {
	return &Queue{gap: gap, waiting: make([][]chan<- bool, len(names)), granted: map[Priority]uint64{}}
}

// Wait waits until the request is granted. It returns the error of ctx if ctx ends
// first.
func (q *Queue) Wait(ctx context.Context, p Priority) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	granted := make(chan bool, 1)
	q.mu.Lock()
	q.waiting[p] = append(q.waiting[p], granted)
	q.grant()
	q.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for n, other := range q.waiting[p] {
		if other == (chan<- bool)(granted) {
			q.waiting[p] = slices.Delete(q.waiting[p], n, n+1)
			break
		}
	}
	return ctx.Err()
}

// grant grants the requests that are due and sets the timer for the next. q.mu is
// held.
func (q *Queue) grant() {
	for p := range q.waiting {
		for len(q.waiting[p]) > 0 {
			if wait := q.gap - time.Since(q.last); !q.last.IsZero() && wait > 0 {
				q.grantAfter(wait)
				return
			}
			q.last = time.Now()
			q.granted[Priority(p)]++
			q.waiting[p][0] <- true
			q.waiting[p] = q.waiting[p][1:]
		}
	}
}

// grantAfter sets the timer unless it is set. q.mu is held.
func (q *Queue) grantAfter(wait time.Duration) {
	if q.timer != nil {
		return
	}
	q.timer = time.AfterFunc(wait, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.timer = nil
		q.grant()
	})
}

// Waiting returns the number of waiting requests of a priority.
func (q *Queue) Waiting(p Priority) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting[p])
}

// Granted returns the number of granted requests of a priority.
func (q *Queue) Granted(p Priority) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.granted[p]
}
