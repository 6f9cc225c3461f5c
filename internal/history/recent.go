package history

import (
	"slices"
	"sync"
	"time"
)

// point is a seq of a log with an epoch.
type point struct {
	epoch string
	seq   int64
}

// recent keeps the values that were used last, at most a number of them, and each for
// a while after its last use.
type recent[V any] struct {
	most int

	mu    sync.Mutex
	kept  []entry[V] // guarded by mu; the least recently used first
	timer *time.Timer
}

type entry[V any] struct {
	at    point
	value V
	used  time.Time
}

func (r *recent[V]) get(at point) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := slices.IndexFunc(r.kept, func(e entry[V]) bool { return e.at == at })
	if n < 0 {
		return value, false
	}
	e := r.kept[n]
	e.used = time.Now()
	r.kept = append(slices.Delete(r.kept, n, n+1), e)
	return e.value, true
}

func (r *recent[V]) put(at point, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) == r.most {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	r.kept = append(r.kept, entry[V]{at, value, time.Now()})
	if r.timer == nil {
		r.timer = time.AfterFunc(keptFor, r.drop)
	}
}

// drop removes the values that were not used for a while.
func (r *recent[V]) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = slices.DeleteFunc(r.kept, func(e entry[V]) bool { return time.Since(e.used) >= keptFor })
	if r.timer = nil; len(r.kept) > 0 {
		r.timer = time.AfterFunc(keptFor-time.Since(r.kept[0].used), r.drop)
	}
}
