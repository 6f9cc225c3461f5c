package paper

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper/pdf"
)

// Positions on a page, in points.
const (
	margin = 64
	gutter = 20 // between two columns
	top    = pdf.PageHeight - 90
	bottom = 84
)

// style is the layout of a document and the structure of its file. Issuers use many
// programs.
type style struct {
	body, bold, figures *pdf.Font // figures is the font of tables
	size                float64
	columns             int
	hyphens             bool
	gaps                bool // spaces are written as moves
	compress            bool
}

func randomStyle(d *document, rng filler.Random) style {
	s := style{
		body:     pdf.Helvetica,
		bold:     pdf.HelveticaBold,
		size:     10.5,
		columns:  1,
		compress: rng.IntN(4) > 0,
	}
	if rng.IntN(3) == 0 {
		s.body = pdf.Times
		s.bold = pdf.TimesBold
		s.size = 11.5
	}
	s.figures = s.body
	if rng.IntN(4) == 0 {
		s.figures = pdf.Courier
	}
	s.hyphens = rng.IntN(4) == 0
	s.gaps = rng.IntN(6) == 0
	wide := func(b block) bool { return b.kind == table && len(b.rows[0]) > 3 }
	if rng.IntN(8) == 0 && !slices.ContainsFunc(d.blocks, wide) {
		s.setTwoColumns()
	}
	return s
}

func (s *style) setTwoColumns() {
	if s.columns == 1 {
		s.columns = 2
		s.hyphens = true
		s.size = s.size - 1.5
		s.figures = s.body
	}
}

// layout places the blocks of a document on pages.
type layout struct {
	style
	pages     []*bytes.Buffer
	y, top    float64
	column    int
	floor     float64        // the end of the first column
	fullWidth bool           // text crosses all columns, as a title does
	bookmarks []pdf.Bookmark // whose pages are numbers from 0 until the file is written
}

// makePDF returns the file of a document. The columns of a single page have about
// the same length.
func makePDF(d *document, s style) []byte {
	l := newLayout(d, s, bottom)
	if s.columns > 1 && len(l.pages) == 1 && !l.fullWidth {
		used := float64(l.column)*(l.top-bottom) + l.top - l.y
		l = newLayout(d, s, max(bottom, l.top-used/2-30))
	}
	l.addHeadsAndFeet(d)
	return l.file(d.title)
}

func newLayout(d *document, s style, floor float64) *layout {
	l := &layout{style: s, fullWidth: true, floor: floor}
	l.nextColumn()
	for n := range d.blocks {
		l.block(d, n)
	}
	return l
}

// nextColumn starts the next column, on the next page if need be.
func (l *layout) nextColumn() {
	if len(l.pages) > 0 && !l.fullWidth && l.column+1 < l.columns {
		l.column++
		l.y = l.top
		return
	}
	l.pages = append(l.pages, &bytes.Buffer{})
	l.column, l.top = 0, top
	l.y = l.top
}

// width returns the width of the current column.
func (l *layout) width() float64 {
	if l.fullWidth || l.columns == 1 {
		return pdf.PageWidth - 2*margin
	}
	return (pdf.PageWidth - 2*margin - gutter) / 2
}

// left returns the left end of the current column.
func (l *layout) left() float64 {
	if l.fullWidth {
		return margin
	}
	return margin + float64(l.column)*(l.width()+gutter)
}

func (l *layout) block(of *document, n int) {
	b := &of.blocks[n]
	size, lead := l.size, l.size*1.38
	switch b.kind {
	case letterhead:
		l.text(l.bold, size+5, 0, []float64{30, 20}, b.text)
	case small:
		l.text(l.body, size-2, 0, []float64{16, 11}, b.text)
	case heading:
		l.keep(60)
		l.text(l.bold, size+2.5, 0, []float64{28, 17}, b.text)
		if l.fullWidth && n > 2 && l.columns > 1 { // columns begin below the title
			l.fullWidth, l.top = false, l.y-10
			l.y = l.top
		}
	case chapter:
		if l.y < top-200 {
			l.fullWidth = l.fullWidth && l.columns > 1
			l.nextColumn()
		}
		l.bookmarks = append(l.bookmarks, pdf.Bookmark{Title: b.text, Page: pdf.Ref(len(l.pages) - 1), Level: 1})
		l.text(l.bold, size+6, 0, []float64{34, 22}, b.text)
	case section:
		l.keep(70)
		l.bookmarks = append(l.bookmarks, pdf.Bookmark{Title: b.text, Page: pdf.Ref(len(l.pages) - 1), Level: 2})
		l.text(l.bold, size+1.5, 0, []float64{26, 16}, b.text)
	case item:
		l.keep(lead)
		l.put(len(l.pages)-1, l.body, size, l.left()+6, l.y-lead-4, []byte{0x95})
		l.text(l.body, size, 20, []float64{lead + 4, lead}, b.text)
	case table:
		l.table(b)
	case newPage:
		l.column = l.columns // no column is left on this page
		l.nextColumn()
	default:
		l.text(l.body, size, 0, []float64{lead + 7, lead}, b.text)
	}
}

// keep starts a new column if there is less room than given, so that no heading is
// alone at the end of a column.
func (l *layout) keep(room float64) {
	floor := float64(bottom)
	if !l.fullWidth && l.column == 0 && len(l.pages) == 1 {
		floor = l.floor
	}
	if l.y-room < floor {
		l.nextColumn()
	}
}

// text writes lines. leads are the distances above the first line and above the
// others.
func (l *layout) text(f *pdf.Font, size, indent float64, leads []float64, text string) {
	hyphens := l.hyphens && f == l.body
	for n, line := range f.Wrap(pdf.Encode(text), size, l.width()-indent, hyphens) {
		lead := leads[min(n, 1)]
		l.keep(lead)
		l.y -= lead
		l.put(len(l.pages)-1, f, size, l.left()+indent, l.y, line)
	}
}

// put writes one line at a position.
func (l *layout) put(page int, f *pdf.Font, size, x, y float64, text []byte) {
	fmt.Fprintf(l.pages[page], "BT /%s %v Tf 1 0 0 1 %.2f %.2f Tm %s ET\n", l.resource(f), size, x, y, l.show(f, text))
}

// show returns the operator that shows text: as one string, or word by word with
// moves instead of spaces.
func (l *layout) show(f *pdf.Font, text []byte) []byte {
	if !l.gaps {
		return append(pdf.AppendLiteral(nil, text), " Tj"...)
	}
	b := []byte("[")
	for n, word := range bytes.Split(text, []byte(" ")) {
		if n > 0 {
			b = fmt.Appendf(b, " %d ", -f.Widths[' '])
		}
		b = pdf.AppendLiteral(b, word)
	}
	return append(b, "] TJ"...)
}

// resource returns the name of a font on the pages.
func (l *layout) resource(f *pdf.Font) string {
	switch f {
	case l.body:
		return "F1"
	case l.bold:
		return "F2"
	}
	return "F3"
}

// addHeadsAndFeet writes the head and the foot of every page.
func (l *layout) addHeadsAndFeet(of *document) {
	head := pdf.Encode(of.head)
	size := min(8.5, 8.5*(pdf.PageWidth-2*margin)/l.bold.Width(head, 8.5)) // it must fit
	for n := range l.pages {
		l.put(n, l.bold, math.Floor(size*100)/100, margin, pdf.PageHeight-50, head)
		l.put(n, l.body, 8, margin, 50, pdf.Encode(of.foot))
		number := pdf.Encode(fmt.Sprintf("Página %d de %d", n+1, len(l.pages)))
		l.put(n, l.body, 8, pdf.PageWidth-margin-l.body.Width(number, 8), 50, number)
	}
}

// file returns the file of the pages.
func (l *layout) file(title string) []byte {
	f := &pdf.File{Compress: l.compress}
	root, tree := f.Add(""), f.Add("") // set below: they refer to later objects
	info := f.Add("<< /Title " + pdf.TextString(title) + producer)
	fonts := "<<"
	for n, font := range []*pdf.Font{l.body, l.bold, l.figures} {
		fonts += fmt.Sprintf(" /F%d %v", n+1, f.Add(font.Dict()))
	}
	resources := f.Add("<< /Font " + fonts + " >> >>")
	var pages []pdf.Ref
	for _, content := range l.pages {
		pages = append(pages, f.Addf("<< /Type /Page /Parent %v /MediaBox [0 0 %d %d] /Resources %v /Contents %v >>",
			tree, pdf.PageWidth, pdf.PageHeight, resources, f.Next(1)))
		f.AddStream("", content.Bytes())
	}
	f.Set(tree, pageTree(pages))
	catalog := fmt.Sprintf("<< /Type /Catalog /Pages %v /Lang (es-ES)", tree)
	if len(l.bookmarks) > 0 {
		for n, m := range l.bookmarks {
			l.bookmarks[n].Page = pages[m.Page]
		}
		catalog += fmt.Sprintf(" /Outlines %v /PageMode /UseOutlines", f.AddOutline(l.bookmarks))
	}
	f.Set(root, catalog+" >>")
	return f.Bytes(fmt.Sprintf("/Root %v /Info %v", root, info))
}

const producer = " /Producer (Mercado simulado) >>"

// pageTree returns the dictionary of the tree of pages.
func pageTree(pages []pdf.Ref) string {
	kids := strings.Trim(fmt.Sprint(pages), "[]")
	return fmt.Sprintf("<< /Type /Pages /Kids [ %s ] /Count %d >>", kids, len(pages))
}
