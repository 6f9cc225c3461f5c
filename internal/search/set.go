package search

import (
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// set is some of a segment's reports, by their ordinals. It never changes, and
// nil is the empty set.
//
// A set that has at least one report in 128 is a plain string of bits:
// two of them are intersected and counted at a machine word a step, whatever
// they hold. The others are compressed bitmaps, which at that density are
// short sorted lists.
type set struct {
	n    int
	bits []uint64
	list *roaring.Bitmap
}

const (
	wordBits  = 64
	denseFrom = 128  // one report in so many
	plainFrom = 4096 // reports in a segment; below, nothing is worth the trouble
)

// isDense reports whether n reports of a segment are so many that plain bits are
// quicker than a list.
func isDense(n, docs int) bool { return docs >= plainFrom && n*denseFrom >= docs }

// newSet takes over a bitmap of a segment with so many reports.
func newSet(b *roaring.Bitmap, docs int) *set {
	n := int(b.GetCardinality())
	if n == 0 {
		return nil
	}
	if !isDense(n, docs) {
		b.RunOptimize()
		return &set{n: n, list: b}
	}
	s := &set{n: n, bits: make([]uint64, (docs+wordBits-1)/wordBits)}
	s.add(b)
	return s
}

// rangeSet returns the reports from one ordinal to before another.
func rangeSet(lo, hi, docs int) *set {
	n := hi - lo
	if n <= 0 {
		return nil
	}
	if !isDense(n, docs) {
		b := roaring.New()
		b.AddRange(uint64(lo), uint64(hi))
		return &set{n: n, list: b}
	}
	s := &set{n: n, bits: make([]uint64, (docs+wordBits-1)/wordBits)}
	for w := lo / wordBits; w*wordBits < hi; w++ {
		s.bits[w] = ^uint64(0)
	}
	s.bits[lo/wordBits] &= ^uint64(0) << (lo % wordBits)
	if rest := hi % wordBits; rest > 0 {
		s.bits[hi/wordBits] &= 1<<rest - 1
	}
	return s
}

func (s *set) add(b *roaring.Bitmap) {
	var some [256]uint32
	for it := b.ManyIterator(); ; {
		n := it.NextMany(some[:])
		if n == 0 {
			return
		}
		for _, i := range some[:n] {
			s.bits[i/wordBits] |= 1 << (i % wordBits)
		}
	}
}

func (s *set) has(i uint32) bool {
	if s.bits != nil {
		return s.bits[i/wordBits]>>(i%wordBits)&1 != 0
	}
	return s.list.Contains(i)
}

// unite returns the reports that are in any of the sets. It may be one of
// them.
func unite(sets []*set, docs int) *set {
	one, n, dense := (*set)(nil), 0, false
	for _, s := range sets {
		if s != nil && s != one {
			one, n, dense = s, n+1, dense || s.bits != nil
		}
	}
	if n <= 1 {
		return one
	}
	if n > fewSets {
		sets = distinctSets(sets)
	}
	if !dense {
		lists := make([]*roaring.Bitmap, 0, n)
		for _, s := range sets {
			if s != nil {
				lists = append(lists, s.list)
			}
		}
		return newSet(roaring.FastOr(lists...), docs)
	}
	u := &set{bits: make([]uint64, (docs+wordBits-1)/wordBits)}
	for i, s := range sets {
		switch {
		case s == nil:
		case s.bits == nil:
			u.add(s.list)
		default:
			for w, b := range s.bits {
				u.bits[w] |= b
			}
		}
		if n > fewSets && i%fewSets == 0 && u.count() == docs {
			break // what follows adds nothing
		}
	}
	u.n = u.count()
	return u
}

// fewSets is how many need no thought.
const fewSets = 32

// distinctSets returns the sets without repetition, the largest first.
func distinctSets(sets []*set) []*set {
	seen := make(map[*set]bool, len(sets))
	out := make([]*set, 0, len(sets))
	for _, s := range sets {
		if s != nil && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *set) int { return b.n - a.n })
	return out
}

func (s *set) count() (n int) {
	for _, b := range s.bits {
		n += bits.OnesCount64(b)
	}
	return n
}
