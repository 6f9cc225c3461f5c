package segment

// Page returns the hits from offset on, newest first over all segments.
func Page(all []Hits, offset, limit int) []*Doc {
	if offset > fewToWalk {
		offset = leap(all, offset)
	}
	m := NewMerger(all)
	for range offset {
		m.Next()
	}
	out := make([]*Doc, 0, limit)
	for len(out) < limit {
		d := m.Next()
		if d == nil {
			break
		}
		out = append(out, d)
	}
	return out
}

// Merger returns the newest of several hits at a time. Segments are few, so that
// comparing all of them is faster than a heap.
type Merger struct{ heads []head }

type head struct {
	doc  *Doc
	from *Hits
}

func NewMerger(all []Hits) Merger {
	m := Merger{heads: make([]head, 0, len(all))}
	for i := range all {
		if d := all[i].Next(); d != nil {
			m.heads = append(m.heads, head{d, &all[i]})
		}
	}
	return m
}

func (m *Merger) Next() *Doc {
	if len(m.heads) == 0 {
		return nil
	}
	best := 0
	for i := 1; i < len(m.heads); i++ {
		if Compare(m.heads[i].doc, m.heads[best].doc) > 0 {
			best = i
		}
	}
	d := m.heads[best].doc
	if following := m.heads[best].from.Next(); following != nil {
		m.heads[best].doc = following
	} else {
		m.heads[best] = m.heads[len(m.heads)-1]
		m.heads = m.heads[:len(m.heads)-1]
	}
	return d
}

// fewToWalk is the offset up to which skipping one hit at a time is fastest.
const fewToWalk = 64

// leap skips nearly offset of the newest hits, and returns how many are still to be
// skipped. At any depth it needs only a few binary searches: it finds the oldest
// report of the largest segment that has at most offset hits before it. If all of
// that segment is after the offset, it tries the next largest.
func leap(all []Hits, offset int) int {
	open := make([]*Hits, len(all))
	for i := range all {
		all[i].settle()
		open[i] = &all[i]
	}
	for len(open) > 0 {
		i := largest(open)
		if d := turningPoint(open, open[i].seg, offset); d != nil {
			offset -= newerThan(d, open)
			for _, h := range open {
				h.leave(h.seg.newer(d))
			}
			return offset
		}
		open = append(open[:i], open[i+1:]...)
	}
	return offset
}

func largest(all []*Hits) int {
	best := 0
	for i, h := range all {
		if len(h.seg.Docs) > len(all[best].seg.Docs) {
			best = i
		}
	}
	return best
}

// turningPoint returns the oldest report of a segment with at most offset hits
// newer than it, or nil when even its newest has more.
func turningPoint(all []*Hits, seg *Segment, offset int) *Doc {
	lo, hi := 0, len(seg.Docs)
	for lo < hi {
		mid := (lo + hi) / 2
		if newerThan(&seg.Docs[mid], all) <= offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == len(seg.Docs) {
		return nil
	}
	return &seg.Docs[lo]
}

func newerThan(d *Doc, all []*Hits) (n int) {
	for _, h := range all {
		n += h.N - h.below(h.seg.newer(d))
	}
	return n
}
