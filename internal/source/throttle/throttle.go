// Package throttle is the queue in which requests to the regulator wait for their
// turn: one at a time, at least so far apart, the urgent ones first.
package throttle

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Class is how urgent a request is.
type Priority int

// The classes, the most urgent first.
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

// Classes are all of them.
var Priorities = []Priority{Feeds, Permalinks, Documents, Reconcile, Registers, Gaps, Backfill}

func (c Priority) String() string { return names[c] }

// Queue gives out turns. Turns that nobody took are not saved up, so that there
// are never two in a row.
type Queue struct {
	gap time.Duration

	mu      sync.Mutex
	last    time.Time           // guarded by mu: the last turn given
	waiting [][]chan<- bool     // guarded by mu: by class, the longest waiting first
	timer   *time.Timer         // guarded by mu: wakes give; nil when nobody waits
	given   map[Priority]uint64 // guarded by mu
}

// New returns a queue whose turns are at least gap apart. Without a gap every
// turn is given at once.
func New(gap time.Duration) *Queue {
	return &Queue{gap: gap, waiting: make([][]chan<- bool, len(names)), given: map[Priority]uint64{}}
}

// Turn waits for a turn, or for the end of the context.
func (q *Queue) Wait(ctx context.Context, c Priority) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	turn := make(chan bool, 1)
	q.mu.Lock()
	q.waiting[c] = append(q.waiting[c], turn)
	q.give()
	q.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for n, other := range q.waiting[c] {
		if other == (chan<- bool)(turn) {
			q.waiting[c] = slices.Delete(q.waiting[c], n, n+1)
			break
		}
	}
	return ctx.Err()
}

// give gives the turn that is due, and sees to the next. q.mu is held.
func (q *Queue) give() {
	for c := range q.waiting {
		for len(q.waiting[c]) > 0 {
			if wait := q.gap - time.Since(q.last); !q.last.IsZero() && wait > 0 {
				q.wake(wait)
				return
			}
			q.last = time.Now()
			q.given[Priority(c)]++
			q.waiting[c][0] <- true
			q.waiting[c] = q.waiting[c][1:]
		}
	}
}

func (q *Queue) wake(after time.Duration) {
	if q.timer != nil {
		return
	}
	q.timer = time.AfterFunc(after, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.timer = nil
		q.give()
	})
}

// Waiting returns how many wait for a turn of a class.
func (q *Queue) Waiting(c Priority) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting[c])
}

// Given returns how many turns a class was given.
func (q *Queue) Granted(c Priority) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.given[c]
}
