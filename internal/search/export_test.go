package search

import (
	"context"
	"unsafe"

	"pregon/internal/disclosure"
)

// BeginMerge begins a merge of the first n segments, whatever their sizes, as
// Due does of those that it chooses. It returns nil while another is under way.
func (w *Writer) BeginMerge(n int) *Merge {
	if w.busy != nil || n > len(w.index.parts) {
		return nil
	}
	w.busy = w.newMerge(w.index.parts[:n])
	return w.busy
}

// Segments tells of each segment how many reports it has and how many are gone.
func (x *Index) Segments() (sizes, gone []int) {
	for _, p := range x.parts {
		sizes, gone = append(sizes, len(p.seg.docs)), append(gone, len(p.seg.docs)-p.live())
	}
	return sizes, gone
}

// PlainSets counts the words of the index that are kept as plain bits.
func (x *Index) PlainSets() (n int) {
	for _, p := range x.parts {
		for _, s := range p.seg.words.all() {
			if s.bits != nil {
				n++
			}
		}
	}
	return n
}

// Pieces returns the first byte of each piece of the memory of an index, nil
// for those that it has let go.
func (x *Index) Pieces() []*byte {
	out := make([]*byte, len(x.memory))
	for i, piece := range x.memory {
		out[i] = unsafe.SliceData(piece)
	}
	return out
}

// Reads returns how many texts a search reads, or how it fails.
func (x *Index) Reads(ctx context.Context, f disclosure.Filter) (int, error) {
	w := newWork(ctx, x.Len())
	q := x.compile(f)
	for _, p := range x.parts {
		if q.nothing {
			break
		}
		if _, err := q.run(p, w); err != nil {
			return w.read, err
		}
	}
	return w.read, nil
}

// LongestText returns how many words the longest text has.
func (x *Index) LongestText() int { return x.longest() }
