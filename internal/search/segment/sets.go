package segment

import "sync/atomic"

// sets are the sets that a segment keeps, by number; 0 is the empty set.
type sets struct {
	ready []atomic.Pointer[Set]
	saved *savedSets // has those that are not ready; nil: all are
}

func newSets(kept []*Set) sets {
	t := sets{ready: make([]atomic.Pointer[Set], len(kept))}
	for i, s := range kept {
		t.ready[i].Store(s)
	}
	return t
}

func (t *sets) get(number uint32) *Set {
	if s := t.ready[number].Load(); s != nil || number == 0 || t.saved == nil {
		return s
	}
	t.ready[number].CompareAndSwap(nil, t.saved.open(number)) // each set has one address
	return t.ready[number].Load()
}

// bytes returns about how many bytes of memory the sets take.
func (t *sets) bytes() (n int64) {
	for i := range t.ready {
		n += 8
		if t.saved == nil {
			n += t.ready[i].Load().Bytes()
		}
	}
	return n
}
