package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"pregon/internal/document/extract"
)

// line is a line of text. The lines of a page are in reading order.
type line struct {
	text        string
	x0, x1      float64
	y, em       float64
	size        float64 // font size of most of its letters
	left, right float64 // the edges of its column
	column      int     // number of its column, in the page
	cells       int     // parts separated by wide gaps; a row of a table has more than one
	last        float64 // x of the last cell
}

// segment is a run of words on one line without a wide gap.
type segment struct {
	words  []word
	x0, x1 float64
	y, em  float64
	nth    int  // its place in the file
	cell   bool // a gutter is before it
}

const (
	// wideGap is the gap, in font sizes, that separates the cells of a table and
	// the columns of a page. The gaps of justified text are smaller.
	wideGap = 1.3
	// sameLine is the vertical distance, in font sizes, between words of one line.
	sameLine = 0.3
	// maxSegments is the number of segments above which a page is not sorted: it
	// is no page of text.
	maxSegments = 20_000
)

// lay returns the words of a page as lines in reading order.
func lay(words []word) []line {
	segments := segmented(words)
	if len(segments) > maxSegments {
		return inFileOrder(segments)
	}
	segments = cut(merged(segments))
	var l layout
	l.region(segments, 0)
	return l.lines
}

func inFileOrder(segments []segment) []line {
	var lines []line
	for _, s := range segments {
		l := rowOf([]segment{s})
		l.left, l.right = s.x0, s.x1
		lines = append(lines, l)
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
		list = append(list, segment{
			words: []word{w},
			x0:    w.x0,
			x1:    w.x1,
			y:     w.y,
			em:    w.em,
			nth:   i,
		})
	}
	return list
}

// sizesAgree reports whether words of two font sizes may share a line. The mark of
// a footnote is about half as large as the text.
func sizesAgree(a, b float64) bool { return min(a, b) > 0.4*max(a, b) }

func (s *segment) add(w word) {
	s.words = append(s.words, w)
	s.x0, s.x1 = min(s.x0, w.x0), max(s.x1, w.x1)
	if w.em > s.em {
		s.y, s.em = w.y, w.em
	}
}

// spaced reports whether a gap separates words. The parts of one word touch.
func spaced(gap, em float64) bool { return gap > 0.08*em || gap < -0.3*em }

// merged joins the segments of a line that touch, which the file has apart.
func merged(list []segment) []segment {
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

// rowsOf groups the segments of each line, from top to bottom and left to right.
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
		sortByX(row)
	}
	return rows
}

func sortByX(row []segment) {
	slices.SortStableFunc(row, func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
}

// layout collects the lines of a page.
type layout struct {
	lines   []line
	columns int
}

// region adds the lines of a part of the page. If it has two columns, it adds the
// lines above them, the left column, the right column and the lines below.
func (l *layout) region(list []segment, depth int) {
	if len(list) == 0 {
		return
	}
	const maxDepth = 12
	if depth < maxDepth && len(list) >= 2*minLines {
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

// column adds the lines of a part that is one column.
func (l *layout) column(list []segment) {
	l.columns++
	left, right := edgesOf(list)
	rows := withMarks(rowsOf(list))
	if staggered(rows) {
		rows = rowsInFileOrder(list)
	}
	for _, row := range rows {
		ln := rowOf(row)
		ln.left = left
		ln.right = right
		ln.column = l.columns
		l.lines = append(l.lines, ln)
	}
}

// staggered reports whether lines side by side are at different heights, as in a table
// with cells of several lines. Its rows cannot be read from their heights.
func staggered(rows [][]segment) bool {
	n := 0
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1][0], rows[i][0]
		beside := a.x1 < b.x0 || b.x1 < a.x0
		if a.y-b.y < 0.75*min(a.em, b.em) && beside && sizesAgree(a.em, b.em) {
			n++
		}
	}
	return n >= minLines && 4*n >= len(rows)
}

// rowsInFileOrder groups segments that follow each other in the file and on the page.
func rowsInFileOrder(list []segment) [][]segment {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b segment) int { return cmp.Compare(a.nth, b.nth) })
	var rows [][]segment
	for i, s := range sorted {
		if i > 0 {
			last := sorted[i-1]
			if math.Abs(s.y-last.y) <= sameLine*min(s.em, last.em) && s.x0 >= last.x1 {
				rows[len(rows)-1] = append(rows[len(rows)-1], s)
				continue
			}
		}
		rows = append(rows, []segment{s})
	}
	return withMarks(rows)
}

// edgesOf returns the edges of a column. A line that is too long does not move the
// right one.
func edgesOf(list []segment) (left, right float64) {
	left = list[0].x0
	ends := make([]float64, 0, len(list))
	for _, s := range list {
		left = min(left, s.x0)
		ends = append(ends, s.x1)
	}
	slices.Sort(ends)
	return left, ends[len(ends)-1-len(ends)/20]
}

// rowOf joins the segments of a row to a line, with a tab between cells.
func rowOf(row []segment) line {
	ln := line{
		x0:    row[0].x0,
		y:     row[0].y,
		cells: 1,
		size:  sizeOf(row),
	}
	var words []rowWord
	for _, s := range row {
		for i, w := range s.words {
			words = append(words, rowWord{w, i == 0, i == 0 && s.cell})
		}
		ln.x1 = max(ln.x1, s.x1)
		if s.em > ln.em {
			ln.em, ln.y = s.em, s.y
		}
	}
	var b strings.Builder
	markApart := false // the last word is the mark of a footnote before its text
	for i, w := range words {
		space := ""
		if i > 0 {
			space = w.spaceAfter(words[i-1])
		}
		if markApart && space == "" {
			space = " "
		}
		if space == "\t" {
			ln.cells++
			ln.last = w.x0
		}
		mark := i > 0 && superscript(w.word, words[i-1].word) || i+1 < len(words) &&
			superscript(w.word, words[i+1].word)
		if mark {
			w.text = superscripts.Replace(w.text)
		}
		markApart = mark && (i == 0 || space != "")
		b.WriteString(space)
		b.WriteString(w.text)
	}
	ln.text = enumeratorCell.ReplaceAllString(withoutSoftHyphens(b.String()), "$1 ")
	return ln
}

// rowWord is a word of a row.
type rowWord struct {
	word
	begins bool // a segment
	cell   bool // a gutter is before it
}

// spaceAfter returns the space between a word and the one before it: a tab between
// cells, or nothing between the parts of one word.
func (w rowWord) spaceAfter(before rowWord) string {
	gap := w.x0 - before.x1
	switch {
	case w.cell, w.begins && gap >= wideGap*min(w.em, before.em):
		return "\t"
	case spaced(gap, w.em):
		return " "
	}
	return ""
}

// superscript reports whether a word is a number in small raised digits beside
// another word: an exponent or the mark of a footnote. Written like the other
// letters, it would change the word or the number beside it.
func superscript(w, beside word) bool {
	if gap := max(w.x0-beside.x1, beside.x0-w.x1); gap > 0.3*beside.em {
		return false
	}
	return !strings.ContainsFunc(w.text, func(r rune) bool { return !raisedDigit(r, w.em, w.y, beside.em, beside.y) })
}

var superscripts = strings.NewReplacer(
	"0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹",
)

// sizeOf returns the font size of most letters of a row.
func sizeOf(row []segment) float64 {
	count := map[float64]int{}
	for _, s := range row {
		for _, w := range s.words {
			count[rounded(w.em)] += len(w.text)
		}
	}
	return mostUsed(count)
}

// withMarks merges rows of small raised or lowered text, such as the marks of
// footnotes, into the row that they belong to.
func withMarks(rows [][]segment) [][]segment {
	var out [][]segment
	for i, row := range rows {
		if i+1 < len(rows) && marks(row, rows[i+1]) {
			rows[i+1] = append(rows[i+1], row...)
			sortByX(rows[i+1])
			continue
		}
		if len(out) > 0 && marks(row, out[len(out)-1]) {
			last := append(out[len(out)-1], row...)
			sortByX(last)
			out[len(out)-1] = last
			continue
		}
		out = append(out, row)
	}
	return out
}

// marks reports whether a row is only small text in the gaps of another row, at
// about its height.
func marks(small, row []segment) bool {
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

// withoutSoftHyphens removes soft hyphens. One at the end of the line was printed
// and becomes a hyphen.
func withoutSoftHyphens(s string) string {
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
