package pdf

import (
	"cmp"
	"math"
	"slices"
)

// A gutter is the space between two columns. It may be narrower than wideGap, but
// is at the same place in several lines.

const (
	gutterGap   = 0.6 // smallest width of a gutter, in font sizes; few spaces are as wide
	gutterNear  = 6   // lines above and below in which a gutter must continue
	gutterLines = 4   // of those lines that must have it
)

// gap is the space between two words of a line.
type gap struct {
	from, to float64
	before   int // index in the row of the segment that the second word is in
	word     int // index of the second word in its segment
}

// cut splits segments at gutters.
func cut(list []segment) []segment {
	rows := rowsOf(list)
	gaps := make([][]gap, len(rows))
	for i, row := range rows {
		gaps[i] = gapsOf(row)
	}
	out := make([]segment, 0, len(list))
	for i, row := range rows {
		cuts := map[[2]int]bool{}
		for _, g := range gaps[i] {
			if g.word > 0 && continued(gaps, i, g) {
				cuts[[2]int{g.before, g.word}] = true
			}
		}
		for n, s := range row {
			out = append(out, parts(s, func(word int) bool { return cuts[[2]int{n, word}] })...)
		}
	}
	return out
}

// gapsOf returns the gaps of a row that are wide enough for a gutter.
func gapsOf(row []segment) (list []gap) {
	right := math.Inf(1)
	for n, s := range row {
		for i, w := range s.words {
			if w.x0-right > gutterGap*w.em {
				list = append(list, gap{right, w.x0, n, i})
			}
			if math.IsInf(right, 1) || w.x1 > right {
				right = w.x1
			}
		}
	}
	return list
}

// continued reports whether enough rows near row i have a gap at the place of g.
func continued(rows [][]gap, i int, g gap) bool {
	n := 0
	for _, row := range rows[max(0, i-gutterNear):min(len(rows), i+gutterNear+1)] {
		for _, other := range row {
			common := min(g.to, other.to) - max(g.from, other.from)
			if common > 0.7*(g.to-g.from) {
				n++
				break
			}
		}
	}
	return n >= gutterLines+1
}

// parts splits a segment before some of its words.
func parts(s segment, before func(word int) bool) []segment {
	var list []segment
	for i, w := range s.words {
		if i == 0 || before(i) {
			list = append(list, segment{
				x0:   w.x0,
				x1:   w.x1,
				y:    s.y,
				em:   w.em,
				nth:  s.nth + i,
				cell: i > 0 || s.cell,
			})
		}
		list[len(list)-1].add(w)
	}
	return list
}

// gutters returns the middles of the strips of a region that few segments cross,
// the widest first.
func gutters(list []segment) (xs []float64) {
	const grid = 2.0
	left, right := list[0].x0, list[0].x1
	for _, s := range list {
		left, right = min(left, s.x0), max(right, s.x1)
	}
	changes := make([]int, int((right-left)/grid)+3) // of the number of segments, by place
	for _, s := range list {
		changes[int((s.x0-left)/grid)]++
		changes[int((s.x1-left)/grid)+1]--
	}
	type strip struct{ from, to int }
	var strips []strip
	covered, from := 0, -1
	for i, c := range changes {
		covered += c
		empty := covered <= len(list)/30
		if empty && from < 0 {
			from = i
		}
		if !empty && from > 0 {
			strips = append(strips, strip{from, i})
		}
		if !empty {
			from = -1
		}
	}
	slices.SortStableFunc(strips, func(a, b strip) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	for _, s := range strips[:min(len(strips), maxCandidates)] {
		xs = append(xs, left+grid*float64(s.from+s.to)/2-0.5)
	}
	return xs
}
