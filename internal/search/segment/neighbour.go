package segment

import (
	"slices"
	"sort"
)

// Before returns the n newest hits before a report, the oldest first.
func Before(all []Hits, d *Doc, n int) []*Doc {
	for i := range all {
		h := &all[i]
		h.settle()
		h.leave(h.seg.newer(d))
	}
	out := make([]*Doc, 0, n)
	for m := NewMerger(all); len(out) < n; {
		found := m.Next()
		if found == nil {
			break
		}
		if Compare(found, d) < 0 {
			out = append(out, found)
		}
	}
	slices.Reverse(out)
	return out
}

// After returns the n oldest hits after a report, the oldest first.
func After(all []Hits, d *Doc, n int) []*Doc {
	var out []*Doc
	for i := range all {
		out = append(out, all[i].after(d, n)...)
	}
	slices.SortFunc(out, Compare)
	return out[:min(n, len(out))]
}

// after returns the n oldest hits of a segment after a report.
func (h *Hits) after(d *Doc, n int) []*Doc {
	h.settle()
	older := h.below(h.seg.newer(d))
	n = min(n, h.N-older)
	end := sort.Search(len(h.seg.Docs), func(i int) bool { return h.below(i) >= older+n })
	h.leave(end)
	out := make([]*Doc, n)
	for i := range out {
		out[i] = h.Next()
	}
	return out
}
