package segment

import (
	"iter"
	"math/bits"
	"slices"
)

// Set is a set of reports of a segment, by their ordinals. It is immutable. nil is
// the empty set.
//
// A set that has at least one report in 128 is kept as plain bits. Two of them are
// intersected and counted a machine word at a time. The others are lists, which at that
// density take no more memory.
type Set struct {
	n    int
	Bits []uint64
	list []uint32 // ascending; nil if the set is bits
	id   uint32   // its number among the sets that a segment keeps; 0: it is not kept
}

const (
	wordBits  = 64
	denseFrom = 128  // one report in so many
	plainFrom = 4096 // reports in a segment; smaller ones use only lists
)

// isDense reports whether n reports of a segment are so many that plain bits are
// quicker than a list.
func isDense(n, docs int) bool { return docs >= plainFrom && n*denseFrom >= docs }

// bitsOf returns the number of machine words in the bits of so many reports.
func bitsOf(docs int) int { return (docs + wordBits - 1) / wordBits }

// newSet returns the set of an ascending list, which it may keep.
func newSet(list []uint32, docs int) *Set {
	switch {
	case len(list) == 0:
		return nil
	case !isDense(len(list), docs):
		return &Set{n: len(list), list: list}
	}
	s := &Set{n: len(list), Bits: make([]uint64, bitsOf(docs))}
	s.add(list)
	return s
}

// one returns the set of one report.
func one(i uint32) *Set { return &Set{n: 1, list: []uint32{i}} }

// rangeSet returns the reports from one ordinal to before another.
func rangeSet(lo, hi, docs int) *Set {
	n := hi - lo
	if n <= 0 {
		return nil
	}
	if !isDense(n, docs) {
		list := make([]uint32, n)
		for i := range list {
			list[i] = uint32(lo + i)
		}
		return &Set{n: n, list: list}
	}
	s := &Set{n: n, Bits: make([]uint64, bitsOf(docs))}
	for w := lo / wordBits; w*wordBits < hi; w++ {
		s.Bits[w] = ^uint64(0)
	}
	s.Bits[lo/wordBits] &= ^uint64(0) << (lo % wordBits)
	if rest := hi % wordBits; rest > 0 {
		s.Bits[hi/wordBits] &= 1<<rest - 1
	}
	return s
}

// Len returns the number of reports.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return s.n
}

// Has reports whether a report is in the set.
func (s *Set) Has(i uint32) bool {
	switch {
	case s == nil:
		return false
	case s.Bits != nil:
		return s.Bits[i/wordBits]>>(i%wordBits)&1 != 0
	}
	_, found := slices.BinarySearch(s.list, i)
	return found
}

// All returns the reports, the oldest first.
func (s *Set) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if s == nil {
			return
		}
		for _, i := range s.list {
			if !yield(i) {
				return
			}
		}
		for w, b := range s.Bits {
			for ; b != 0; b &= b - 1 {
				if !yield(uint32(w*wordBits + bits.TrailingZeros64(b))) {
					return
				}
			}
		}
	}
}

// With returns the set and some more reports, of a segment with so many. The reports may be
// in any order, and it may change their order.
func (s *Set) With(more []uint32, docs int) *Set {
	if len(more) == 0 {
		return s
	}
	slices.Sort(more)
	return Union([]*Set{s, newSet(slices.Clone(slices.Compact(more)), docs)}, docs)
}

// Bytes returns about how many bytes of memory the set takes.
func (s *Set) Bytes() int64 {
	if s == nil {
		return 0
	}
	return setBytes + int64(len(s.Bits))*8 + int64(len(s.list))*4
}

// setBytes is about what a set takes besides its bits or list.
const setBytes = 72

func (s *Set) add(list []uint32) {
	for _, i := range list {
		s.Bits[i/wordBits] |= 1 << (i % wordBits)
	}
}

// Union returns the reports that are in any of the sets. It may be one of
// them.
func Union(sets []*Set, docs int) *Set {
	first := (*Set)(nil)
	n := 0
	total := 0
	dense := false
	for _, s := range sets {
		if s == nil {
			continue
		}
		if s != first {
			first = s
			n++
		}
		total += s.n
		dense = dense || s.Bits != nil
	}
	if n <= 1 {
		return first
	}
	if n > fewSets {
		sets = distinctSets(sets)
	}
	if !dense && !isDense(total, docs) {
		return unionOfLists(sets, total)
	}
	u := &Set{Bits: make([]uint64, bitsOf(docs))}
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
	if !isDense(u.n, docs) { // the lists had reports in common
		return &Set{n: u.n, list: u.ordinals()}
	}
	return u
}

// unionOfLists returns the reports in any of some lists that have total reports together.
func unionOfLists(sets []*Set, total int) *Set {
	list := make([]uint32, 0, total)
	for _, s := range sets {
		switch {
		case s == nil:
		case len(list) == 0 || s.list[0] > list[len(list)-1]:
			list = append(list, s.list...)
		default:
			list = mergeInto(list, s.list)
		}
	}
	return &Set{n: len(list), list: list}
}

// mergeInto adds an ascending list to another one, which has the capacity for both.
func mergeInto(list, more []uint32) []uint32 {
	if slices.Equal(list, more) {
		return list
	}
	if len(more)*fewSets < len(list) { // one by one is quicker
		for _, i := range more {
			if at, found := slices.BinarySearch(list, i); !found {
				list = slices.Insert(list, at, i)
			}
		}
		return list
	}
	a := len(list) - 1
	b := len(more) - 1
	list = list[:len(list)+len(more)]
	for to := len(list) - 1; b >= 0; to-- { // from the end, so that nothing is overwritten
		if a >= 0 && list[a] > more[b] {
			list[to] = list[a]
			a--
			continue
		}
		list[to] = more[b]
		b--
	}
	return slices.Compact(list)
}

// ordinals returns the reports of a set that is bits.
func (s *Set) ordinals() []uint32 {
	list := make([]uint32, 0, s.n)
	for w, b := range s.Bits {
		for ; b != 0; b &= b - 1 {
			list = append(list, uint32(w*wordBits+bits.TrailingZeros64(b)))
		}
	}
	return list
}

// intersect returns the reports that are in both lists, the first of which is not longer.
func intersect(short, long []uint32) []uint32 {
	both := make([]uint32, 0, len(short))
	for _, i := range short {
		// Gallop: the next report is mostly near.
		step := 1
		for step < len(long) && long[step] < i {
			step *= 2
		}
		at, found := slices.BinarySearch(long[step/2:min(step+1, len(long))], i)
		long = long[step/2+at:]
		if found {
			both = append(both, i)
		}
		if len(long) == 0 {
			break
		}
	}
	return both
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
