package search

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// hits are the answers to a query in one segment: the filings of a set that
// are also in another, if there is one, and not gone. They are counted, and
// put together only when that is cheaper than walking both: a set of half a
// million is a lot to copy for the ten newest.
type hits struct {
	seg  *segment
	set  *roaring.Bitmap // nil: all filings of the segment
	also *roaring.Bitmap // nil: no other condition
	gone *roaring.Bitmap // nil: none
	n    int             // how many
	left int             // how many are still to be handed out, newest first
	walk roaring.IntIterable
}

// cheap is a size up to which joining two sets costs no more than counting.
const cheap = 4096

// worthWalking is how many filings one may look at for each one found.
const worthWalking = 32

// newHits counts the filings in all of the sets. Sets are shared with other
// queries and never changed.
func newHits(p part, sets []*roaring.Bitmap) hits {
	h := hits{seg: p.seg, gone: p.gone}
	switch len(sets) {
	case 0:
	case 1:
		h.set = sets[0]
	default:
		h.join(sets)
	}
	h.count(p)
	h.left = h.n
	return h
}

// join starts from the smallest sets, and leaves the last one apart when both
// are large.
func (h *hits) join(sets []*roaring.Bitmap) {
	sizes := make([]uint64, len(sets))
	for i, s := range sets {
		sizes[i] = s.GetCardinality()
	}
	for i := 1; i < len(sets); i++ { // few, and mostly in order
		for k := i; k > 0 && sizes[k] < sizes[k-1]; k-- {
			sizes[k], sizes[k-1] = sizes[k-1], sizes[k]
			sets[k], sets[k-1] = sets[k-1], sets[k]
		}
	}
	h.set = sets[0]
	last := len(sets) - 1
	for _, s := range sets[1:last] {
		h.set = roaring.And(h.set, s)
	}
	size := sizes[0]
	if last > 1 {
		size = h.set.GetCardinality()
	}
	if size <= cheap {
		h.set = roaring.And(h.set, sets[last])
		return
	}
	h.also = sets[last]
	if both := h.set.AndCardinality(h.also); both*worthWalking < size {
		h.set, h.also = roaring.And(h.set, h.also), nil
	}
}

func (h *hits) count(p part) {
	switch {
	case h.set == nil:
		h.n = len(h.seg.docs)
	case h.also == nil:
		h.n = int(h.set.GetCardinality())
	default:
		h.n = int(h.set.AndCardinality(h.also))
	}
	if h.gone == nil || h.n == 0 {
		return
	}
	if h.set == nil {
		h.n -= int(h.gone.GetCardinality())
		return
	}
	if h.also == nil {
		h.n -= int(h.gone.AndCardinality(h.set))
		return
	}
	h.n -= int(roaring.And(h.gone, h.set).AndCardinality(h.also))
}

// settle puts the set together, for whoever needs to know places in it.
func (h *hits) settle() {
	if h.also != nil {
		h.set, h.also = roaring.And(h.set, h.also), nil
	}
	if h.gone == nil {
		return
	}
	if h.set == nil {
		h.set = roaring.Flip(h.gone, 0, uint64(len(h.seg.docs)))
	} else {
		h.set = roaring.AndNot(h.set, h.gone)
	}
	h.gone = nil
}

// below counts the hits with an ordinal below i, once settled.
func (h *hits) below(i int) int {
	if h.set == nil || i == 0 {
		return i
	}
	return int(h.set.Rank(uint32(i - 1)))
}

// next hands out the newest hit that is left.
func (h *hits) next() *Doc {
	if h.left == 0 {
		return nil
	}
	h.left--
	if h.left < h.n-1 && h.walk == nil && h.gone == nil && h.also == nil { // begun in the middle
		if h.set == nil {
			return &h.seg.docs[h.left]
		}
		i, _ := h.set.Select(uint32(h.left))
		return &h.seg.docs[i]
	}
	if h.walk == nil {
		h.walk = h.backwards()
	}
	for h.walk.HasNext() {
		i := h.walk.Next()
		if (h.also == nil || h.also.Contains(i)) && (h.gone == nil || !h.gone.Contains(i)) {
			return &h.seg.docs[i]
		}
	}
	return nil
}

func (h *hits) backwards() roaring.IntIterable {
	if h.set == nil {
		return &countdown{len(h.seg.docs)}
	}
	return h.set.ReverseIterator()
}

// countdown walks all ordinals from the last.
type countdown struct{ n int }

func (c *countdown) HasNext() bool { return c.n > 0 }
func (c *countdown) Next() uint32  { c.n--; return uint32(c.n) }
