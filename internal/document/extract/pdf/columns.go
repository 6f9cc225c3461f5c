package pdf

import (
	"cmp"
	"math"
	"slices"
)

// pair is a part of a page with two columns, and the parts above and below it.
type pair struct {
	above, left, right, below []segment
	score                     int
}

const (
	minLines      = 3  // of a column
	maxCandidates = 12 // for the gap between two columns
)

// findColumns returns the pair of columns with the most lines. A column may
// contain further columns.
func findColumns(list []segment) (pair, bool) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b segment) int { return cmp.Compare(b.y, a.y) })
	var best pair
	for _, x := range append(candidates(sorted), gutters(sorted)...) {
		for _, p := range split(sorted, x) {
			if p.score > best.score && columnar(p) {
				best = p
			}
		}
	}
	return best, best.score > 0
}

// candidates returns the x where columns may begin, the most frequent first:
// where segments begin that have another to their left.
func candidates(sorted []segment) []float64 {
	const grid = 3.0 // points; an indent is wider
	votes := map[int]int{}
	for i, s := range sorted {
		if hasLeft(sorted, i) {
			votes[int(math.Floor(s.x0/grid))]++
		}
	}
	places := make([]int, 0, len(votes))
	for place, n := range votes {
		if n+votes[place-1]+votes[place+1] >= minLines {
			places = append(places, place)
		}
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Or(cmp.Compare(votes[b], votes[a]), cmp.Compare(a, b)) })
	var xs []float64
	for _, place := range places[:min(len(places), maxCandidates)] {
		xs = append(xs, float64(place)*grid-0.5)
	}
	return xs
}

// hasLeft reports whether another segment is left of segment i, on about the same
// line.
func hasLeft(sorted []segment, i int) bool {
	s := sorted[i]
	near := func(other segment) bool { return math.Abs(other.y-s.y) < 0.8*s.em }
	isLeft := func(other segment) bool { return other.x1 < s.x0-0.5*s.em }
	for j := i - 1; j >= 0 && near(sorted[j]); j-- {
		if isLeft(sorted[j]) {
			return true
		}
	}
	for j := i + 1; j < len(sorted) && near(sorted[j]); j++ {
		if isLeft(sorted[j]) {
			return true
		}
	}
	return false
}

// split cuts at x each part of the page in which no segment crosses x.
func split(sorted []segment, x float64) []pair {
	var pairs []pair
	for i := 0; i < len(sorted); {
		if crosses(sorted[i], x) {
			i++
			continue
		}
		j := i
		for j < len(sorted) && !crosses(sorted[j], x) {
			j++
		}
		p := pair{above: sorted[:i], below: sorted[j:]}
		for _, s := range sorted[i:j] {
			if s.x1 <= x+1 {
				p.left = append(p.left, s)
			} else {
				p.right = append(p.right, s)
			}
		}
		p.score = min(len(p.left), len(p.right))
		pairs = append(pairs, p)
		i = j
	}
	return pairs
}

func crosses(s segment, x float64) bool { return s.x0 < x && s.x1 > x+1 }

// columnar reports whether a pair is columns of text, and not a table, whose rows
// are read across. The lines of columns are long, and most files contain one
// column after the other.
func columnar(p pair) bool {
	if len(p.left) < minLines || len(p.right) < minLines {
		return false
	}
	wordsLeft, fullLeft := prose(p.left)
	wordsRight, fullRight := prose(p.right)
	words, full := min(wordsLeft, wordsRight), min(fullLeft, fullRight)
	if sequential(p) {
		return words >= 2
	}
	return words >= 3 && full >= 0.5
}

// prose measures how similar a side is to running text. It returns the average
// number of words in a line, and the share of lines that fill their column.
func prose(list []segment) (words, full float64) {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
	for i := 0; i < len(sorted); {
		right := sorted[i].x1
		j := i
		for ; j < len(sorted) && sorted[j].x0 < right; j++ {
			right = max(right, sorted[j].x1)
			words += float64(len(sorted[j].words))
		}
		for _, s := range sorted[i:j] {
			if s.x1-s.x0 > 0.7*(right-sorted[i].x0) {
				full++
			}
		}
		i = max(j, i+1)
	}
	n := float64(len(list))
	return words / n, full / n
}

// sequential reports whether the file contains the columns one after the other.
func sequential(p pair) bool {
	side := map[int]bool{}
	order := make([]int, 0, len(p.left)+len(p.right))
	for _, s := range p.left {
		side[s.nth] = true
		order = append(order, s.nth)
	}
	for _, s := range p.right {
		order = append(order, s.nth)
	}
	slices.Sort(order)
	changes := 0
	for i := 1; i < len(order); i++ {
		if side[order[i]] != side[order[i-1]] {
			changes++
		}
	}
	return changes <= max(2, p.score/4)
}
