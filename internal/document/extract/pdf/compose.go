package pdf

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/extract"
	"pregon/internal/text"
)

// compose returns the text of the pages, up to a number of bytes, and their
// headings.
func compose(sheets []sheet, limit int) ([]extract.Page, []extract.Heading) {
	dropFurniture(sheets)
	h := hyphenated{}
	sizes := map[float64]int{}
	for _, s := range sheets {
		for _, l := range s.lines {
			h.learn(l.text)
			sizes[l.size] += len(l.text)
		}
	}
	titles := titles{body: mostUsed(sizes)}
	pages := make([]extract.Page, 0, len(sheets))
	for n, s := range sheets {
		p := extract.Page{Method: s.method, Confidence: s.confidence, Text: s.read}
		if len(s.lines) > 0 {
			paragraphs := paragraphs(s.lines, h)
			titles.add(paragraphs, n+1)
			p.Text = pageText(paragraphs)
		}
		p.Text = text.Prefix(p.Text, limit)
		limit -= len(p.Text)
		pages = append(pages, p)
	}
	return pages, titles.headings()
}

// paragraph is a paragraph, or a row of a table.
type paragraph struct {
	text  string
	size  float64
	lines int
	row   bool
}

// byHeight returns the indexes of lines from the top of the page to the bottom.
func byHeight(lines []line) []int {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lines[b].y, lines[a].y) })
	return order
}

// paragraphs joins the lines of a page to paragraphs.
func paragraphs(lines []line, h hyphenated) []paragraph {
	var list []paragraph
	leading := leading(lines)
	for i, l := range lines {
		row := isRow(lines, i)
		if i > 0 && !row {
			p := &list[len(list)-1]
			if !p.row && continues(lines[i-1], l, leading) && !outdented(p, lines[i-1], l) {
				p.text = h.joined(p.text, l.text)
				p.lines++
				continue
			}
		}
		list = append(list, paragraph{
			text:  l.text,
			size:  l.size,
			lines: 1,
			row:   row,
		})
	}
	return list
}

// outdented reports whether line b begins left of line a. The first line of a
// paragraph may be indented and does not count.
func outdented(p *paragraph, a, b line) bool {
	return p.lines > 1 && a.column == b.column && b.x0 < a.x0-0.8*a.em
}

// isRow reports whether a line is a row of a table: it has more than two cells, or
// two and so has the line above or below. A list item, whose text continues below
// its second cell, is no row.
func isRow(lines []line, i int) bool {
	l := lines[i]
	if l.cells < 2 || l.cells == 2 && i+1 < len(lines) && hangs(l, lines[i+1]) {
		return false
	}
	several := func(n int) bool {
		return n >= 0 && n < len(lines) && lines[n].column == l.column && lines[n].cells > 1
	}
	return l.cells > 2 || several(i-1) || several(i+1)
}

// hangs reports whether b continues a below the last cell of a.
func hangs(a, b line) bool {
	return b.cells == 1 && b.column == a.column && math.Abs(b.x0-a.last) < 0.3*a.em &&
		a.x1 > a.right-4*a.em && a.y-b.y < 1.6*a.em
}

// leading returns the usual distance between lines, in font sizes: the smallest of
// those that are frequent, since a larger one may be between paragraphs.
func leading(lines []line) float64 {
	count := map[float64]int{}
	all := 0
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		if d := (a.y - b.y) / max(a.em, 1); a.column == b.column && d > 0.8 && d < 3 {
			count[math.Round(d*20)/20]++
			all++
		}
	}
	best := math.Inf(1)
	for d, n := range count {
		if 5*n >= all {
			best = min(best, d)
		}
	}
	if math.IsInf(best, 1) {
		return 1.2
	}
	return best
}

// item matches the beginning of a list item or a numbered section. It must not
// match a number within a sentence: thousands have three digits after the point,
// dates a zero or a year. A time, 12.30, has the form of a section number, but a
// section begins with a capital.
var item = regexp.MustCompile(`^(?:` + enumerator + ` |` + section + ` [\p{Lu}\p{Ps}\p{Pi}"'¿¡])`)

// enumeratorCell matches an enumerator that is far from its text. They are no cells
// of a table.
var enumeratorCell = regexp.MustCompile(`^(` + enumerator + `)\t`)

const enumerator = `(?:[•·▪■◦○●–—*-]|\(?[0-9]{1,2}[.)]+|\(?` + section + `[.)]+|\(?[a-zA-Z][.)]|\(?[ivxIVX]{1,4}[.)])`

const section = `[1-9][0-9]?\.[1-9][0-9]?(?:\.1?[0-9])*`

// continues reports whether b belongs to the paragraph of a.
func continues(a, b line, leading float64) bool {
	em := max(a.em, b.em)
	if math.Abs(a.size-b.size) > 0.15*em || item.MatchString(b.text) {
		return false
	}
	if a.column != b.column {
		// The paragraph continues in the next column if the line is full and the
		// sentence has not ended.
		first, _ := utf8.DecodeRuneInString(b.text)
		return unicode.IsLower(first) && a.x1 > a.right-2*em
	}
	if distance := a.y - b.y; distance > (max(leading, 1.2)+0.35)*em || distance < 0 {
		return false
	}
	indented := b.x0 > a.x0+0.8*em && a.x0 < a.left+0.5*em && b.x0 < a.left+6*em
	if indented && !strings.HasSuffix(a.text, "-") && !item.MatchString(a.text) {
		return false // it begins a paragraph
	}
	return breaksWord(a.text, b.text) || !endsShort(a, b)
}

// breaksWord reports whether a line ends in the middle of a word.
func breaksWord(a, b string) bool {
	head, ok := strings.CutSuffix(a, "-")
	last, _ := utf8.DecodeLastRuneInString(head)
	first, _ := utf8.DecodeRuneInString(b)
	return ok && unicode.IsLetter(last) && unicode.IsLower(first)
}

// endsShort reports whether line a ends although the next word would have fitted.
func endsShort(a, b line) bool {
	word := strings.IndexByte(b.text, ' ')
	if word < 0 {
		word = len(b.text)
	}
	width := (b.x1 - b.x0) * float64(word+1) / float64(max(len(b.text), 1))
	room := a.right - a.x1
	if a.x0 > a.left+2*a.em && math.Abs((a.x0-a.left)-room) < 2*a.em {
		return false // it is centred
	}
	return room > width+2*a.em
}

// pageText returns the text of a page: rows are separated by a line break,
// paragraphs by a blank line.
func pageText(list []paragraph) string {
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteByte('\n')
			if !p.row || !list[i-1].row {
				b.WriteByte('\n')
			}
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// rounded returns a size rounded to a quarter of a point.
func rounded(em float64) float64 { return math.Round(em*4) / 4 }

// mostUsed returns the key with the highest count, the lowest of several.
func mostUsed(count map[float64]int) float64 {
	best, most := 0.0, 0
	for key, n := range count {
		if n > most || n == most && key < best {
			best, most = key, n
		}
	}
	return best
}
