package segment

import (
	"math/bits"
	"slices"
)

// Hits are the results of a query in one segment. They are counted, and returned
// newest first. They are not collected: for the ten newest, a few steps from the
// end of the sets suffice.
//
// If one of the sets is a short list, its reports are tested against the others. If
// all are plain bits, they are intersected a machine word at a time.
type Hits struct {
	seg    *Segment
	N      int      // how many
	Left   int      // how many are still to be returned
	listed bool     // only reports in list can be hits
	list   []uint32 // those of them that were not walked yet
	dense  []*Set   // that are in all of these
	gone   *Set     // and not in this

	word  int      // of the bits: the current position
	rest  uint64   // the remaining bits of that word
	ranks []int    // once settled: hits before every 64th word
	found []uint32 // once settled: the hits in the list
}

// NewHits counts the reports that are in all of the sets and not gone. The
// sets may be put in another order.
func NewHits(seg *Segment, sets []*Set, gone *Set) Hits {
	h := Hits{seg: seg, gone: gone}
	if len(sets) > 1 {
		slices.SortFunc(sets, func(a, b *Set) int {
			if (a.Bits == nil) != (b.Bits == nil) {
				return len(a.Bits) - len(b.Bits) // lists first
			}
			return a.n - b.n
		})
		sets = slices.Compact(sets)
	}
	lists := 0
	for lists < len(sets) && sets[lists].Bits == nil {
		lists++
	}
	h.dense = sets[lists:]
	if lists > 0 {
		h.listed = true
		h.list = sets[0].list
		for _, s := range sets[1:lists] {
			h.list = intersect(h.list, s.list)
		}
		h.N = h.countList()
	} else {
		h.N = h.countBits()
	}
	h.Left, h.word = h.N, h.words()
	return h
}

// is reports whether a report of the list is a hit.
func (h *Hits) is(i uint32) bool { return h.inDense(i) && !h.gone.Has(i) }

func (h *Hits) inDense(i uint32) bool {
	for _, d := range h.dense {
		if d.Bits[i/wordBits]>>(i%wordBits)&1 == 0 {
			return false
		}
	}
	return true
}

func (h *Hits) countList() (n int) {
	switch {
	case len(h.dense) == 0 && h.gone == nil:
		return len(h.list)
	case len(h.dense) == 1 && h.gone == nil:
		return countIn(h.list, h.dense[0].Bits)
	}
	for _, i := range h.list {
		if h.is(i) {
			n++
		}
	}
	return n
}

// countIn counts the reports whose bit is set. It is the most common case, and has
// no branch.
func countIn(some []uint32, bits []uint64) int {
	n := uint64(0)
	for _, i := range some {
		n += bits[i/wordBits] >> (i % wordBits) & 1
	}
	return int(n)
}

func (h *Hits) words() int { return bitsOf(len(h.seg.Docs)) }

// at returns a word of the intersection.
func (h *Hits) at(w int) uint64 {
	var b uint64
	switch len(h.dense) {
	case 0:
		b = ^uint64(0)
		if rest := len(h.seg.Docs) - w*wordBits; rest < wordBits {
			b = 1<<rest - 1
		}
	case 1:
		b = h.dense[0].Bits[w]
	default:
		b = h.dense[0].Bits[w] & h.dense[1].Bits[w]
		for _, d := range h.dense[2:] {
			b &= d.Bits[w]
		}
	}
	if h.gone == nil {
		return b
	}
	if h.gone.Bits != nil {
		return b &^ h.gone.Bits[w]
	}
	if b != 0 {
		b &^= listWord(h.gone.list, w)
	}
	return b
}

// listWord returns a word of a list as bits.
func listWord(list []uint32, w int) (word uint64) {
	at, _ := slices.BinarySearch(list, uint32(w*wordBits))
	for _, i := range list[at:] {
		if i >= uint32((w+1)*wordBits) {
			break
		}
		word |= 1 << (i % wordBits)
	}
	return word
}

// countBits counts the intersection. The cases are the ones that matter: no
// condition, one, and several.
func (h *Hits) countBits() int {
	n := 0
	switch len(h.dense) {
	case 0:
		n = len(h.seg.Docs)
	case 1:
		n = h.dense[0].n
	case 2:
		n = countBoth(h.dense[0].Bits, h.dense[1].Bits)
	default:
		n = countAll(h.dense)
	}
	if h.gone != nil {
		n -= h.countGone()
	}
	return n
}

// countBoth processes four independent words a step.
func countBoth(a, b []uint64) int {
	var n0, n1, n2, n3 int
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		n0 += bits.OnesCount64(a[0] & b[0])
		n1 += bits.OnesCount64(a[1] & b[1])
		n2 += bits.OnesCount64(a[2] & b[2])
		n3 += bits.OnesCount64(a[3] & b[3])
		a, b = a[4:], b[4:]
	}
	for w := range a {
		n0 += bits.OnesCount64(a[w] & b[w])
	}
	return n0 + n1 + n2 + n3
}

// countAll intersects piece by piece, so that the pieces stay in the cache.
func countAll(sets []*Set) int {
	var piece [128]uint64
	n := 0
	for from := 0; from < len(sets[0].Bits); from += len(piece) {
		some := piece[:copy(piece[:], sets[0].Bits[from:])]
		for i, s := range sets[1 : len(sets)-1] {
			if i%8 == 7 && !slices.ContainsFunc(some, func(w uint64) bool { return w != 0 }) {
				break
			}
			other := s.Bits[from : from+len(some)]
			for w := range some {
				some[w] &= other[w]
			}
		}
		n += countBoth(some, sets[len(sets)-1].Bits[from:from+len(some)])
	}
	return n
}

// countGone counts the reports of the intersection that are gone.
func (h *Hits) countGone() int {
	if h.gone.Bits != nil {
		without := Hits{seg: h.seg, dense: append(slices.Clone(h.dense), h.gone)}
		return without.countBits()
	}
	n := 0
	for _, i := range h.gone.list {
		if h.inDense(i) {
			n++
		}
	}
	return n
}

// settle prepares for below and leave.
func (h *Hits) settle() {
	if h.listed {
		h.found = make([]uint32, 0, h.N)
		for _, i := range h.list {
			if h.is(i) {
				h.found = append(h.found, i)
			}
		}
		return
	}
	n := 0
	for w := range h.words() {
		if w%wordBits == 0 {
			h.ranks = append(h.ranks, n)
		}
		n += bits.OnesCount64(h.at(w))
	}
}

// below counts the hits with an ordinal below i, once settled.
func (h *Hits) below(i int) int {
	if h.listed {
		n, _ := slices.BinarySearch(h.found, uint32(i))
		return n
	}
	if i >= len(h.seg.Docs) {
		return h.N
	}
	last := i / wordBits
	n := h.ranks[last/wordBits]
	for w := last / wordBits * wordBits; w < last; w++ {
		n += bits.OnesCount64(h.at(w))
	}
	return n + bits.OnesCount64(h.at(last)&(1<<(i%wordBits)-1))
}

// leave skips to the reports below an ordinal, once settled.
func (h *Hits) leave(i int) {
	h.Left = h.below(i)
	if !h.listed && i < len(h.seg.Docs) {
		h.word = i / wordBits
		h.rest = h.at(h.word) & (1<<(i%wordBits) - 1)
	}
}

// Next returns the newest remaining hit, or nil if there is none.
func (h *Hits) Next() *Doc {
	if h.Left == 0 {
		return nil
	}
	return &h.seg.Docs[h.NextOrdinal()]
}

// NextOrdinal returns the ordinal of the newest remaining hit, if there is one.
func (h *Hits) NextOrdinal() uint32 {
	h.Left--
	switch {
	case h.found != nil:
		return h.found[h.Left]
	case h.listed:
		return h.back()
	}
	for h.rest == 0 {
		h.word--
		h.rest = h.at(h.word)
	}
	top := bits.Len64(h.rest) - 1
	h.rest &^= 1 << top
	return uint32(h.word*wordBits + top)
}

// back walks the list to the next hit from its end.
func (h *Hits) back() uint32 {
	for {
		last := len(h.list) - 1
		i := h.list[last]
		h.list = h.list[:last]
		if h.is(i) {
			return i
		}
	}
}
