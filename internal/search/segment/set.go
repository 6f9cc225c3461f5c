package segment

import (
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Set is a set of reports of a segment, by their ordinals. It is immutable. nil is
// the empty set.
//
// A set that has at least one report in 128 is kept as plain bits. Two of them are
// intersected and counted a machine word at a time. The others are compressed bitmaps, which at that density are
// short sorted lists.
type Set struct {
	n    int
	Bits []uint64
	list *roaring.Bitmap
}

const (
	wordBits  = 64
	denseFrom = 128  // one report in so many
	plainFrom = 4096 // reports in a segment; smaller ones use only lists
)

// isDense reports whether n reports of a segment are so many that plain bits are
// quicker than a list.
func isDense(n, docs int) bool { return docs >= plainFrom && n*denseFrom >= docs }

// newSet takes over a bitmap of a segment with so many reports.
func newSet(b *roaring.Bitmap, docs int) *Set {
	n := int(b.GetCardinality())
	if n == 0 {
		return nil
	}
	if !isDense(n, docs) {
		b.RunOptimize()
		return &Set{n: n, list: b}
	}
	s := &Set{n: n, Bits: make([]uint64, (docs+wordBits-1)/wordBits)}
	s.add(b)
	return s
}

// rangeSet returns the reports from one ordinal to before another.
func rangeSet(lo, hi, docs int) *Set {
	n := hi - lo
	if n <= 0 {
		return nil
	}
	if !isDense(n, docs) {
		b := roaring.New()
		b.AddRange(uint64(lo), uint64(hi))
		return &Set{n: n, list: b}
	}
	s := &Set{n: n, Bits: make([]uint64, (docs+wordBits-1)/wordBits)}
	for w := lo / wordBits; w*wordBits < hi; w++ {
		s.Bits[w] = ^uint64(0)
	}
	s.Bits[lo/wordBits] &= ^uint64(0) << (lo % wordBits)
	if rest := hi % wordBits; rest > 0 {
		s.Bits[hi/wordBits] &= 1<<rest - 1
	}
	return s
}

func (s *Set) add(b *roaring.Bitmap) {
	var some [256]uint32
	for it := b.ManyIterator(); ; {
		n := it.NextMany(some[:])
		if n == 0 {
			return
		}
		for _, i := range some[:n] {
			s.Bits[i/wordBits] |= 1 << (i % wordBits)
		}
	}
}

func (s *Set) has(i uint32) bool {
	if s.Bits != nil {
		return s.Bits[i/wordBits]>>(i%wordBits)&1 != 0
	}
	return s.list.Contains(i)
}

// Union returns the reports that are in any of the sets. It may be one of
// them.
func Union(sets []*Set, docs int) *Set {
	one := (*Set)(nil)
	n := 0
	dense := false
	for _, s := range sets {
		if s != nil && s != one {
			one = s
			n = n + 1
			dense = dense || s.Bits != nil
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
	u := &Set{Bits: make([]uint64, (docs+wordBits-1)/wordBits)}
	for i, s := range sets {
		switch {
		case s == nil:
		case s.Bits == nil:
			u.add(s.list)
		default:
			for w, b := range s.Bits {
				u.Bits[w] |= b
			}
		}
		if n > fewSets && i%fewSets == 0 && u.count() == docs {
			break // the following sets add nothing
		}
	}
	u.n = u.count()
	return u
}

// fewSets is the number of sets up to which duplicates are not dropped.
const fewSets = 32

// distinctSets returns the sets without repetition, the largest first.
func distinctSets(sets []*Set) []*Set {
	seen := make(map[*Set]bool, len(sets))
	out := make([]*Set, 0, len(sets))
	for _, s := range sets {
		if s != nil && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *Set) int { return b.n - a.n })
	return out
}

func (s *Set) count() (n int) {
	for _, b := range s.Bits {
		n += bits.OnesCount64(b)
	}
	return n
}
