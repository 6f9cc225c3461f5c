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

// recent keeps the values that were used last: at most a number of them, within a bound
// of memory, and each for a while after its last use.
type recent[V any] struct {
	most int
	// size returns the bytes of memory that values take together, for those that share
	// some of it. It is nil if only the number is bounded.
	size  func([]V) int64
	bound int64 // of size

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
	r.kept = slices.DeleteFunc(r.kept, func(e entry[V]) bool { return e.at == at })
	r.kept = append(r.kept, entry[V]{at, value, time.Now()})
	for len(r.kept) > r.most || r.size != nil && r.size(r.values()) > r.bound {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	if r.timer == nil {
		r.timer = time.AfterFunc(keptFor, r.drop)
	}
}

// values returns the kept values. r.mu is held.
func (r *recent[V]) values() []V {
	out := make([]V, len(r.kept))
	for i, e := range r.kept {
		out[i] = e.value
	}
	return out
}

// nearest returns the kept value whose point is nearest to another one of the same log.
// It does not count as a use.
func (r *recent[V]) nearest(at point) (value V, from int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.kept {
		if e.at.epoch != at.epoch {
			continue
		}
		if !ok || distance(e.at.seq, at.seq) < distance(from, at.seq) {
			value = e.value
			from = e.at.seq
			ok = true
		}
	}
	return value, from, ok
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// drop removes the values that were not used for a while.
func (r *recent[V]) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = slices.DeleteFunc(r.kept, func(e entry[V]) bool { return time.Since(e.used) >= keptFor })
	if r.timer = nil; len(r.kept) > 0 {
		r.timer = time.AfterFunc(keptFor-time.Since(r.kept[0].used), r.drop)
	}
}
