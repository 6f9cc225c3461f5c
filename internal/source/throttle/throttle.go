// Package throttle spaces the requests to the regulator: they start with a minimum
// gap between two, the most urgent first. Slow ones may overlap.
//
// There are two exceptions. When nothing was published for a while, and nothing else
// waits, back-fill and the feeds have every second request each. Feeds that are polled
// each second leave it nearly none, and years of reports would take hours.
//
// The refresh of registers and back-fill, the least urgent, take turns when both wait:
// either can go on for hours, and would leave the other none.
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
	Refresh // of what brings no reports: holdings and general data of issuers
	Backfill
)

var names = []string{"feeds", "permalinks", "documents", "reconcile", "registers", "gaps", "refresh", "backfill"}

// Priorities are all priorities, the most urgent first.
var Priorities = []Priority{Feeds, Permalinks, Documents, Reconcile, Registers, Gaps, Refresh, Backfill}

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

	published  time.Time // guarded by mu: when a report was last published, or the queue was made
	backfilled time.Time // guarded by mu: of the last grant to back-fill
	refreshed  time.Time // guarded by mu: of the last grant to refresh
}

const (
	// calm is how long nothing must have been published for back-fill to have a share.
	calm = time.Minute
	// mostFeeds is the number of requests for feeds above which back-fill gives up its
	// turn: more waiting ones would be late.
	mostFeeds = 3
	// sharing is how long after a grant back-fill counts as under way.
	sharing = 2 * time.Second
)

// New returns a queue whose grants are at least gap apart. A gap of 0 grants every
// request at once.
func New(gap time.Duration) *Queue {
	return &Queue{
		gap:       gap,
		waiting:   make([][]chan<- bool, len(names)),
		granted:   map[Priority]uint64{},
		published: time.Now(),
	}
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
	for {
		p, ok := q.next()
		if !ok {
			return
		}
		if wait := q.gap - time.Since(q.last); !q.last.IsZero() && wait > 0 {
			q.grantAfter(wait)
			return
		}
		q.last = time.Now()
		switch p {
		case Backfill:
			q.backfilled = q.last
		case Refresh:
			q.refreshed = q.last
		}
		q.granted[p]++
		q.waiting[p][0] <- true
		q.waiting[p] = q.waiting[p][1:]
	}
}

// next returns the priority whose first request is to be granted. ok is false if none
// waits. q.mu is held.
func (q *Queue) next() (p Priority, ok bool) {
	if q.isBackfillsTurn() {
		return q.leastUrgent()
	}
	for p := range Refresh {
		if len(q.waiting[p]) > 0 {
			return p, true
		}
	}
	return q.leastUrgent()
}

// leastUrgent returns refresh or back-fill: if both wait, the one whose last grant is
// longer ago. q.mu is held.
func (q *Queue) leastUrgent() (p Priority, ok bool) {
	refresh, backfill := len(q.waiting[Refresh]) > 0, len(q.waiting[Backfill]) > 0
	if refresh && (!backfill || !q.refreshed.After(q.backfilled)) {
		return Refresh, true
	}
	return Backfill, backfill
}

// isBackfillsTurn reports whether back-fill, or refresh in its turn, precedes requests
// for feeds: not twice in a row, and not while other requests wait or feeds would be
// late. The others would not be granted at all: what back-fill leaves is taken by the
// feeds. q.mu is held.
func (q *Queue) isBackfillsTurn() bool {
	hadTurn := q.backfilled.Equal(q.last) || q.refreshed.Equal(q.last)
	wantsTurn := len(q.waiting[Backfill]) > 0 && !hadTurn
	lateFeeds := len(q.waiting[Feeds]) > mostFeeds
	return wantsTurn && q.isCalm() && !lateFeeds && !q.othersWait()
}

// othersWait reports whether requests wait that are more urgent than refresh and not for
// feeds. q.mu is held.
func (q *Queue) othersWait() bool {
	for p := Feeds + 1; p < Refresh; p++ {
		if len(q.waiting[p]) > 0 {
			return true
		}
	}
	return false
}

// isCalm reports whether nothing was published for a while. q.mu is held.
func (q *Queue) isCalm() bool { return time.Since(q.published) >= calm }

// Published notes that a report was published: back-fill has no share until nothing
// was published for a minute.
func (q *Queue) Published() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.published = time.Now()
}

// Shared reports whether back-fill is under way and has its share.
func (q *Queue) Shared() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	underWay := len(q.waiting[Backfill]) > 0 || !q.backfilled.IsZero() && time.Since(q.backfilled) < sharing
	return underWay && q.isCalm()
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
