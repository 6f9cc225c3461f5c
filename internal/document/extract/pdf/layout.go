package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"pregon/internal/document/extract"
)

// line is a line of text as a reader sees it, in the order of reading.
type line struct {
	text        string
	x0, x1      float64
	y, em       float64
	size        float64 // of most of its letters
	left, right float64 // the edges of its column
	column      int     // number of its column, in the page
	cells       int     // parts with wide gaps between: more than one in a row of a table
	last        float64 // where the last of them begins
}

// segment is a stretch of words on one line without a wide gap.
type segment struct {
	words  []word
	x0, x1 float64
	y, em  float64
	nth    int // in the file
}

const (
	// wideGap, in sizes of the text, parts the cells of a table and the columns
	// of a page. Within a line of justified text gaps are smaller.
	wideGap = 1.3
	// sameLine is how far two words on the same line may stand apart in height.
	sameLine = 0.3
	// mostSegments of a page are put in order; with more it is no page of text,
	// and the order of the file must do.
	mostSegments = 20_000
)

// lay puts the words of a page into lines, in the order of reading.
func lay(words []word) []line {
	segments := segmented(words)
	if len(segments) > mostSegments {
		return inFileOrder(segments)
	}
	segments = mended(segments)
	var l layout
	l.region(segments, 0)
	return l.lines
}

func inFileOrder(segments []segment) []line {
	var lines []line
	for _, s := range segments {
		lines = append(lines, line{text: s.text(), x0: s.x0, x1: s.x1, y: s.y, em: s.em, size: s.em, left: s.x0, right: s.x1, cells: 1})
	}
	return lines
}

// segmented joins words that follow each other in the file and on the page.
func segmented(words []word) []segment {
	var list []segment
	for i, w := range words {
		if i > 0 {
			s := &list[len(list)-1]
			em := max(s.em, w.em)
			gap := w.x0 - s.x1
			if math.Abs(w.y-s.y) < 0.5*em && gap < wideGap*em && gap > -0.5*em && sizesAgree(s.em, w.em) {
				s.add(w)
				continue
			}
		}
		list = append(list, segment{words: []word{w}, x0: w.x0, x1: w.x1, y: w.y, em: w.em, nth: i})
	}
	return list
}

// sizesAgree reports whether two sizes may share a line: a footnote's mark is
// about half as high as the text.
func sizesAgree(a, b float64) bool { return min(a, b) > 0.4*max(a, b) }

func (s *segment) add(w word) {
	s.words = append(s.words, w)
	s.x0, s.x1 = min(s.x0, w.x0), max(s.x1, w.x1)
	if w.em > s.em {
		s.y, s.em = w.y, w.em
	}
}

func (s *segment) text() string {
	var b strings.Builder
	for i, w := range s.words {
		if i > 0 && spaced(w.x0-s.words[i-1].x1, w.em) {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// spaced reports whether a gap parts words. The pieces of one that a file has in
// pieces touch.
func spaced(gap, em float64) bool { return gap > 0.08*em || gap < -0.3*em }

// mended joins segments that the file has in pieces: those that touch on one
// line.
func mended(list []segment) []segment {
	var out []segment
	for _, row := range rowsOf(list) {
		for i, s := range row {
			if i > 0 {
				last := &out[len(out)-1]
				gap := s.x0 - last.x1
				if gap < 0.6*max(s.em, last.em) && gap > -0.3*s.em && sizesAgree(s.em, last.em) {
					for _, w := range s.words {
						last.add(w)
					}
					last.nth = min(last.nth, s.nth)
					continue
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// rowsOf groups segments that stand on one line across the page, from the top,
// each from the left.
func rowsOf(list []segment) [][]segment {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b segment) int { return cmp.Compare(b.y, a.y) })
	var rows [][]segment
	var y, em float64
	for _, s := range sorted {
		if len(rows) > 0 && math.Abs(s.y-y) <= sameLine*min(em, s.em) {
			rows[len(rows)-1] = append(rows[len(rows)-1], s)
			continue
		}
		rows = append(rows, []segment{s})
		y, em = s.y, s.em
	}
	for _, row := range rows {
		slices.SortStableFunc(row, func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
	}
	return rows
}

// layout is a page whose lines are put in order.
type layout struct {
	lines   []line
	columns int
}

// region puts a part of the page in order: what is above a pair of columns, the
// left, the right, what is below.
func (l *layout) region(list []segment, depth int) {
	if len(list) == 0 {
		return
	}
	const deepest = 12
	if depth < deepest && len(list) >= 2*fewestLines {
		if p, ok := findColumns(list); ok {
			l.region(p.above, depth+1)
			l.region(p.left, depth+1)
			l.region(p.right, depth+1)
			l.region(p.below, depth+1)
			return
		}
	}
	l.column(list)
}

// column makes the lines of a part that is one column.
func (l *layout) column(list []segment) {
	l.columns++
	left, right := list[0].x0, list[0].x1
	for _, s := range list {
		left, right = min(left, s.x0), max(right, s.x1)
	}
	for _, row := range raised(rowsOf(list)) {
		ln := line{left: left, right: right, column: l.columns, x0: row[0].x0, y: row[0].y}
		var b strings.Builder
		for i, s := range row {
			if i > 0 {
				gap := s.x0 - row[i-1].x1
				switch {
				case gap >= wideGap*min(s.em, row[i-1].em):
					ln.cells++
					ln.last = s.x0
					b.WriteString("  ")
				case spaced(gap, s.em):
					b.WriteByte(' ')
				}
			}
			b.WriteString(s.text())
			ln.x1 = max(ln.x1, s.x1)
			if s.em > ln.em {
				ln.em, ln.y = s.em, s.y
			}
		}
		ln.size = sizeOf(row)
		ln.cells++
		ln.text = unsoftened(b.String())
		l.lines = append(l.lines, ln)
	}
}

// sizeOf is the size that most letters of a row have.
func sizeOf(row []segment) float64 {
	count := map[float64]int{}
	for _, s := range row {
		for _, w := range s.words {
			count[rounded(w.em)] += len(w.text)
		}
	}
	return mostUsed(count)
}

// raised puts rows of small raised or lowered text, which are marks of
// footnotes, into the row that they belong to.
func raised(rows [][]segment) [][]segment {
	var out [][]segment
	for i, row := range rows {
		if i+1 < len(rows) && hangsOn(row, rows[i+1]) {
			rows[i+1] = append(rows[i+1], row...)
			slices.SortStableFunc(rows[i+1], func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
			continue
		}
		if len(out) > 0 && hangsOn(row, out[len(out)-1]) {
			last := append(out[len(out)-1], row...)
			slices.SortStableFunc(last, func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
			out[len(out)-1] = last
			continue
		}
		out = append(out, row)
	}
	return out
}

// hangsOn reports whether a row is only small text at the height of another, in
// its gaps.
func hangsOn(small, row []segment) bool {
	em, y := row[0].em, row[0].y
	for _, s := range small {
		if s.em > 0.8*em || math.Abs(s.y-y) > 0.6*em || len(s.words) > 2 {
			return false
		}
		for _, other := range row {
			if s.x0 < other.x1-0.2*em && s.x1 > other.x0+0.2*em {
				return false
			}
		}
	}
	return true
}

// unsoftened removes soft hyphens but at the end of a line, where one was used.
func unsoftened(s string) string {
	if !strings.ContainsRune(s, extract.SoftHyphen) {
		return s
	}
	trimmed := strings.TrimRight(s, string(extract.SoftHyphen)+" ")
	out := strings.ReplaceAll(trimmed, string(extract.SoftHyphen), "")
	if strings.HasSuffix(s, string(extract.SoftHyphen)) {
		out += "-"
	}
	return out
}
