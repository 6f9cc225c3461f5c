package retry

import (
	"context"
	"slices"
	"sync"
	"time"
)

// workers is about how many goroutines run one Queue: so many can be woken at
// once.
const workers = 8

// Queue holds the ids of things that wait for work. An id that failed stays in
// the queue until its next try is due. Its methods may be called by several
// goroutines.
type Queue struct {
	newestFirst bool
	wake        chan struct{} // receives a value for each id that is added

	mu      sync.Mutex
	waiting map[string]*item // guarded by mu
	order   []string         // guarded by mu: in the order of Add
}

// item is the state of a waiting id.
type item struct {
	due   time.Time
	tries int
	busy  bool // a worker has it
}

// NewQueue returns an empty queue. Ids are worked on in the order in which they
// were added, or with newestFirst in the reverse order.
func NewQueue(newestFirst bool) *Queue {
	return &Queue{newestFirst: newestFirst, wake: make(chan struct{}, workers), waiting: map[string]*item{}}
}

// Add adds an id unless the queue holds it already.
func (q *Queue) Add(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[id] != nil {
		return
	}
	q.waiting[id] = &item{}
	q.order = append(q.order, id)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Len returns the number of ids in the queue.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Run calls work for one id after another until the context ends. If work
// returns a duration, the id is tried again after it; otherwise it leaves the
// queue. Several goroutines may call Run.
func (q *Queue) Run(ctx context.Context, work func(id string, tries int) (again time.Duration)) error {
	for {
		id, tries := q.next()
		if id == "" {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-q.wake:
			case <-time.After(time.Second): // a retry may be due
			}
			continue
		}
		again := work(id, tries)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.done(id, again)
	}
}

// next returns the first id that is due and marks it as busy.
func (q *Queue) next() (id string, tries int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for n := range q.order {
		if q.newestFirst {
			n = len(q.order) - 1 - n
		}
		if i := q.waiting[q.order[n]]; !i.busy && !i.due.After(now) {
			i.busy = true
			return q.order[n], i.tries
		}
	}
	return "", 0
}

// done removes an id, or schedules its next try.
func (q *Queue) done(id string, again time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if again > 0 {
		i := q.waiting[id]
		i.busy, i.due = false, time.Now().Add(again)
		i.tries++
		return
	}
	delete(q.waiting, id)
	if n := slices.Index(q.order, id); n >= 0 {
		q.order = slices.Delete(q.order, n, n+1)
	}
}
