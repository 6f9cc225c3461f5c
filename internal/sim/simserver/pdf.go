package simserver

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// A4, in points.
const (
	paperWidth, paperHeight = 595, 842
	margin                  = 64
	gutter                  = 20 // between two columns
	highest                 = paperHeight - 90
	lowest                  = 84 // where the text of a page ends
)

// style is how a document looks and how its file is made. Issuers use all
// sorts of programs.
type style struct {
	body, bold, figures *font // figures is that of tables
	size                float64
	columns             int
	hyphens             bool
	gaps                bool // spaces are moves, as some programs write them
	packed              bool // streams are compressed
	modern              bool // objects stand in streams, as since PDF 1.5
}

func drawStyle(p *paper, dice *rand.Rand) style {
	s := style{body: helvetica, bold: helveticaBold, size: 10.5, columns: 1, packed: dice.IntN(4) > 0}
	if dice.IntN(3) == 0 {
		s.body, s.bold, s.size = times, timesBold, 11.5
	}
	s.figures = s.body
	if dice.IntN(4) == 0 {
		s.figures = courier
	}
	s.hyphens = dice.IntN(4) == 0
	s.gaps = dice.IntN(6) == 0
	s.modern = dice.IntN(3) == 0
	if dice.IntN(8) == 0 && !slices.ContainsFunc(p.blocks, func(b block) bool { return b.kind == table && len(b.rows[0]) > 3 }) {
		s.fold()
	}
	return s
}

// fold sets the text in two columns.
func (s *style) fold() {
	if s.columns == 1 {
		s.columns, s.hyphens, s.size, s.figures = 2, true, s.size-1.5, s.body
	}
}

// pdf lays a paper out on pages.
type pdf struct {
	style
	pages   []*bytes.Buffer
	y, top  float64
	column  int
	floor   float64 // where the first column ends
	whole   bool    // the text goes over all columns, as a title does
	outline []bookmark
}

// bookmark is a line of the outline that readers show.
type bookmark struct {
	title string
	page  int
	level int
}

// makePDF lays a paper out and makes the file. The columns of a single page are
// made about as long as one another.
func makePDF(p *paper, s style) []byte {
	d := layOut(p, s, lowest)
	if s.columns > 1 && len(d.pages) == 1 && !d.whole {
		used := float64(d.column)*(d.top-lowest) + d.top - d.y
		d = layOut(p, s, max(lowest, d.top-used/2-30))
	}
	d.furnish(p)
	return d.file(p.title)
}

func layOut(p *paper, s style, floor float64) *pdf {
	d := &pdf{style: s, whole: true, floor: floor}
	d.turn()
	for n := range p.blocks {
		d.block(p, n)
	}
	return d
}

// turn goes on to the next column, or to the first of the next page.
func (d *pdf) turn() {
	if len(d.pages) > 0 && !d.whole && d.column+1 < d.columns {
		d.column++
		d.y = d.top
		return
	}
	d.pages = append(d.pages, &bytes.Buffer{})
	d.column, d.top = 0, highest
	d.y = d.top
}

func (d *pdf) measure() float64 {
	if d.whole || d.columns == 1 {
		return paperWidth - 2*margin
	}
	return (paperWidth - 2*margin - gutter) / 2
}

func (d *pdf) left() float64 {
	if d.whole {
		return margin
	}
	return margin + float64(d.column)*(d.measure()+gutter)
}

func (d *pdf) block(p *paper, n int) {
	b := &p.blocks[n]
	size, lead := d.size, d.size*1.38
	switch b.kind {
	case letterhead:
		d.text(d.bold, size+5, 0, []float64{30, 20}, b.text)
	case small:
		d.text(d.body, size-2, 0, []float64{16, 11}, b.text)
	case heading:
		d.keep(60)
		d.text(d.bold, size+2.5, 0, []float64{28, 17}, b.text)
		if d.whole && n > 2 && d.columns > 1 { // the title is over: columns begin
			d.whole, d.top = false, d.y-10
			d.y = d.top
		}
	case chapter:
		if d.y < highest-200 {
			d.whole = d.whole && d.columns > 1
			d.turn()
		}
		d.mark(b.text, 1)
		d.text(d.bold, size+6, 0, []float64{34, 22}, b.text)
	case section:
		d.keep(70)
		d.mark(b.text, 2)
		d.text(d.bold, size+1.5, 0, []float64{26, 16}, b.text)
	case item:
		d.keep(lead)
		d.put(len(d.pages)-1, d.body, size, d.left()+6, d.y-lead-4, []byte{0x95})
		d.text(d.body, size, 20, []float64{lead + 4, lead}, b.text)
	case table:
		d.table(b)
	default:
		d.text(d.body, size, 0, []float64{lead + 7, lead}, b.text)
	}
}

// keep turns the page when there is less room than that, so that no heading
// stands alone at its foot.
func (d *pdf) keep(room float64) {
	floor := float64(lowest)
	if !d.whole && d.column == 0 && len(d.pages) == 1 {
		floor = d.floor
	}
	if d.y-room < floor {
		d.turn()
	}
}

func (d *pdf) mark(title string, level int) {
	d.outline = append(d.outline, bookmark{title, len(d.pages) - 1, level})
}

// text writes lines; leads are what goes before the first one and the others.
func (d *pdf) text(f *font, size, indent float64, leads []float64, text string) {
	hyphens := d.hyphens && f == d.body
	for n, l := range f.wrap(ansi(text), size, d.measure()-indent, hyphens) {
		lead := leads[min(n, 1)]
		d.keep(lead)
		d.y -= lead
		d.put(len(d.pages)-1, f, size, d.left()+indent, d.y, l)
	}
}

// put writes one line at a place.
func (d *pdf) put(page int, f *font, size, x, y float64, text []byte) {
	out := d.pages[page]
	b := out.AvailableBuffer()
	b = append(b, "BT /"...)
	b = append(b, d.resource(f)...)
	b = append(b, ' ')
	b = strconv.AppendFloat(b, size, 'f', -1, 64)
	b = append(b, " Tf 1 0 0 1 "...)
	b = strconv.AppendFloat(b, x, 'f', 2, 64)
	b = append(b, ' ')
	b = strconv.AppendFloat(b, y, 'f', 2, 64)
	b = append(b, " Tm "...)
	b = d.show(b, f, text)
	out.Write(append(b, " ET\n"...))
}

// show writes the text itself: in one string, or word by word with moves in
// the place of spaces.
func (d *pdf) show(b []byte, f *font, text []byte) []byte {
	if !d.gaps {
		return append(literal(b, text), " Tj"...)
	}
	b = append(b, '[')
	for n, word := range bytes.Split(text, []byte(" ")) {
		if n > 0 {
			b = strconv.AppendInt(append(b, ' '), int64(-f.widths[' ']), 10)
			b = append(b, ' ')
		}
		b = literal(b, word)
	}
	return append(b, "] TJ"...)
}

// resource is the name of a font on the pages.
func (d *pdf) resource(f *font) string {
	switch f {
	case d.body:
		return "F1"
	case d.bold:
		return "F2"
	}
	return "F3"
}

// furnish writes the head and the foot of every page.
func (d *pdf) furnish(p *paper) {
	head := ansi(p.head)
	size := min(8.5, 8.5*(paperWidth-2*margin)/d.bold.width(head, 8.5)) // all of it must be read
	for n := range d.pages {
		d.put(n, d.bold, math.Floor(size*100)/100, margin, paperHeight-50, head)
		d.put(n, d.body, 8, margin, 50, ansi(p.foot))
		number := ansi(fmt.Sprintf("Página %d de %d", n+1, len(d.pages)))
		d.put(n, d.body, 8, paperWidth-margin-d.body.width(number, 8), 50, number)
	}
}

// literal appends text as a string of the file.
func literal(b, text []byte) []byte {
	b = append(b, '(')
	for _, x := range text {
		if x == '(' || x == ')' || x == '\\' {
			b = append(b, '\\')
		}
		b = append(b, x)
	}
	return append(b, ')')
}
