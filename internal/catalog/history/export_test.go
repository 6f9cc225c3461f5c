package history

import "context"

// Recent is what an Archive keeps, for the tests.
type Recent struct{ recent[int64] }

func NewRecent(most int) *Recent { return &Recent{recent[int64]{most: most}} }

func (r *Recent) Put(seq int64) { r.put(point{seq: seq}, seq) }

func (r *Recent) Use(seq int64) { r.get(point{seq: seq}) }

// Has reports whether a value is kept, which is no use of it.
func (r *Recent) Has(seq int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.kept {
		if e.at.seq == seq {
			return e.value == seq
		}
	}
	return false
}

// Queue is a queue of builds, for the tests.
type Queue struct{ queue }

// NewQueue returns an empty queue.
func NewQueue() *Queue { return &Queue{} }

// Share is share with keys and results that are texts.
func (q *Queue) Share(ctx context.Context, key string, run func(context.Context) (string, error)) (string, error) {
	return share(ctx, &q.queue, key, run)
}

// Waiting returns the number of callers with builds.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lines) + len(q.builds) + q.waiting
}

// Limits.
const (
	MaxWait       = maxWait
	MaxBuild      = maxBuild
	MaxOwnWaiting = maxOwnWaiting
	MaxWaiting    = maxWaiting
)

// NewSizedRecent returns a Recent with a bound of the sum of the values.
func NewSizedRecent(bound int64) *Recent {
	sum := func(values []int64) (n int64) {
		for _, v := range values {
			n += v
		}
		return n
	}
	return &Recent{recent[int64]{most: 100, size: sum, bound: bound}}
}

// Wanted returns the number of requests that wait for a build.
func (a *Archive) Wanted() (n int) {
	a.queue.mu.Lock()
	defer a.queue.mu.Unlock()
	for _, b := range a.queue.builds {
		for _, requests := range b.wanted {
			n += requests
		}
	}
	return n
}
