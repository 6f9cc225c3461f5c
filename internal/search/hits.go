package search

import (
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// hits are the answers to a query in one segment: counted, and handed out
// newest first.
//
// When a set asked for is a short list, the hits are a list as well: what is
// left of it. When all are strings of bits, their intersection is counted a
// word at a time and not put together: for the ten newest a few words from the
// end will do.
type hits struct {
	seg   *segment
	n     int                 // how many
	left  int                 // how many are still to be handed out
	only  *roaring.Bitmap     // these, when one list is all that was asked for
	walk  roaring.IntIterable // over only, from its end
	list  []uint32            // or these
	dense []*set              // or all of these; none: all filings
	gone  *set                // and not these
	word  int                 // of the bits: where handing out has come to
	rest  uint64              // of that word, what is left of it
	ranks []int               // once settled: hits before every 64th word
}

// newHits counts the filings that are in all of the sets and not gone. The
// sets may be put in another order.
func newHits(seg *segment, sets []*set, gone *set) hits {
	h := hits{seg: seg, gone: gone}
	slices.SortFunc(sets, func(a, b *set) int { return a.n - b.n })
	lists := 0
	for lists < len(sets) && sets[lists].bits == nil {
		lists++
	}
	h.dense = sets[lists:]
	switch {
	case lists == 1 && len(sets) == 1 && gone == nil:
		h.only, h.n = sets[0].list, sets[0].n
	case lists > 0:
		h.sift(sets[:lists])
		h.n = len(h.list)
	default:
		h.n = h.count()
	}
	h.left, h.word = h.n, h.words()
	return h
}

func (h *hits) isList() bool { return h.list != nil }

// sift intersects the lists, and keeps what is in the other sets too.
func (h *hits) sift(lists []*set) {
	both := lists[0].list
	for _, s := range lists[1:] {
		both = roaring.And(both, s.list)
	}
	h.list = make([]uint32, 0, both.GetCardinality())
	var some [256]uint32
	for it := both.ManyIterator(); ; {
		n := it.NextMany(some[:])
		if n == 0 {
			return
		}
		h.keep(some[:n])
	}
}

// keep adds those to the list that are in all other sets and not gone.
func (h *hits) keep(some []uint32) {
next:
	for _, i := range some {
		for _, d := range h.dense {
			if !d.has(i) {
				continue next
			}
		}
		if h.gone == nil || !h.gone.has(i) {
			h.list = append(h.list, i)
		}
	}
}

func (h *hits) words() int { return (len(h.seg.docs) + wordBits - 1) / wordBits }

// at returns a word of the intersection.
func (h *hits) at(w int) uint64 {
	var b uint64
	switch len(h.dense) {
	case 0:
		b = ^uint64(0)
		if rest := len(h.seg.docs) - w*wordBits; rest < wordBits {
			b = 1<<rest - 1
		}
	case 1:
		b = h.dense[0].bits[w]
	default:
		b = h.dense[0].bits[w] & h.dense[1].bits[w]
		for _, d := range h.dense[2:] {
			b &= d.bits[w]
		}
	}
	if h.gone == nil {
		return b
	}
	if h.gone.bits != nil {
		return b &^ h.gone.bits[w]
	}
	if b != 0 {
		b &^= listWord(h.gone.list, w)
	}
	return b
}

// listWord returns a word of a list as bits.
func listWord(b *roaring.Bitmap, w int) (word uint64) {
	it := b.Iterator()
	it.AdvanceIfNeeded(uint32(w * wordBits))
	for it.HasNext() && it.PeekNext() < uint32((w+1)*wordBits) {
		word |= 1 << (it.Next() % wordBits)
	}
	return word
}

// count counts the intersection. The cases are the ones that matter: no
// condition, one, and several.
func (h *hits) count() int {
	n := 0
	switch len(h.dense) {
	case 0:
		n = len(h.seg.docs)
	case 1:
		n = h.dense[0].n
	case 2:
		n = countBoth(h.dense[0].bits, h.dense[1].bits)
	default:
		gone := h.gone
		h.gone = nil
		for w := range h.words() {
			n += bits.OnesCount64(h.at(w))
		}
		h.gone = gone
	}
	if h.gone != nil {
		n -= h.countGone()
	}
	return n
}

func countBoth(a, b []uint64) int {
	n := 0
	b = b[:len(a)]
	for w := range a {
		n += bits.OnesCount64(a[w] & b[w])
	}
	return n
}

// countGone counts what of the intersection is gone.
func (h *hits) countGone() int {
	if h.gone.bits != nil {
		without := hits{seg: h.seg, dense: append(slices.Clone(h.dense), h.gone)}
		return without.count()
	}
	n := 0
	h.gone.list.Iterate(func(i uint32) bool {
		for _, d := range h.dense {
			if !d.has(i) {
				return true
			}
		}
		n++
		return true
	})
	return n
}

// settle makes ready for questions about places in the hits.
func (h *hits) settle() {
	if h.only != nil {
		h.list, h.only = h.only.ToArray(), nil
	}
	if h.isList() {
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
func (h *hits) below(i int) int {
	if h.isList() {
		n, _ := slices.BinarySearch(h.list, uint32(i))
		return n
	}
	if i >= len(h.seg.docs) {
		return h.n
	}
	last := i / wordBits
	n := h.ranks[last/wordBits]
	for w := last / wordBits * wordBits; w < last; w++ {
		n += bits.OnesCount64(h.at(w))
	}
	return n + bits.OnesCount64(h.at(last)&(1<<(i%wordBits)-1))
}

// leave goes on with the filings below an ordinal, once settled.
func (h *hits) leave(i int) {
	h.left = h.below(i)
	if !h.isList() && i < len(h.seg.docs) {
		h.word = i / wordBits
		h.rest = h.at(h.word) & (1<<(i%wordBits) - 1)
	}
}

// next hands out the newest hit that is left, nil when there is none.
func (h *hits) next() *Doc {
	if h.left == 0 {
		return nil
	}
	return &h.seg.docs[h.ordinal()]
}

// ordinal hands out the ordinal of the newest hit that is left, if one is.
func (h *hits) ordinal() uint32 {
	h.left--
	switch {
	case h.only != nil:
		if h.walk == nil {
			h.walk = h.only.ReverseIterator()
		}
		return h.walk.Next()
	case h.isList():
		return h.list[h.left]
	}
	for h.rest == 0 {
		h.word--
		h.rest = h.at(h.word)
	}
	top := bits.Len64(h.rest) - 1
	h.rest &^= 1 << top
	return uint32(h.word*wordBits + top)
}
