package segment

// Choice is what a report must be one of: those of some references, or the hits of some
// queries.
type Choice struct {
	Refs    []uint32
	Queries []Query
}

// set returns the reports of a part that are one of the choice, or nil. Those that were
// replaced may be among them.
func (c *Choice) set(p Part, w *Work) (*Set, error) {
	sets := make([]*Set, 0, len(c.Queries)+1)
	sets = append(sets, p.Seg.RefSet(c.Refs))
	for i := range c.Queries {
		own := NewWork(w.Ctx, len(p.Seg.Docs)) // each query has the limits of one
		h, err := c.Queries[i].Run(p, own)
		if err != nil {
			return nil, err
		}
		sets = append(sets, h.Set())
	}
	return Union(sets, len(p.Seg.Docs)), nil
}

// Set returns all hits as a set, or nil. It must be called before the first of Next.
func (h *Hits) Set() *Set {
	docs := len(h.seg.Docs)
	switch {
	case h.N == 0:
		return nil
	case h.listed && len(h.dense) == 0 && h.gone == nil:
		return &Set{n: h.N, list: h.list}
	case !h.listed && len(h.dense) == 1 && h.gone == nil:
		return h.dense[0]
	case !h.listed && isDense(h.N, docs):
		s := &Set{n: h.N, Bits: make([]uint64, h.words())}
		for w := range s.Bits {
			s.Bits[w] = h.at(w)
		}
		return s
	}
	found := make([]uint32, 0, h.N)
	for h.Left > 0 {
		found = append(found, h.NextOrdinal())
	}
	return setOf(found, docs)
}
