package paper

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"pregon/internal/sim/filler"
	"pregon/internal/sim/paper/pdf"
)

// Some issuers print a document, sign it and scan it, so that its pages are
// images. They are drawn here with a stroke font at 200 dots per inch.
const (
	scanWidth, scanHeight = 1656, 2339 // of A4; rows are whole bytes
	scanMargin            = 150
	unit                  = 4 // dots per unit of the strokes below
	scanLead              = 13 * unit
)

// strokes are the letters, as lines through points of two digits: x and y. The
// baseline is y = 2, and the height of capitals y = 8.
const strokes = `A=022842,1434 B=0208,083847463505,3544433202 C=4738180703123243 D=0208,082846442202 E=48080242,0535 F=480802,0535 G=47381807031232434525 H=0208,4248,0545 I=0828,0222,1218 J=3833221203 K=0208,4804,1542 L=080242 M=0208254842
N=02084248 O=120307183847433212 P=0208,083847463505 Q=120307183847433212,2441 R=0208,083847463505,2542 S=473818070615354443321203 T=0848,2822 U=080312324348 V=082248 W=0812263248 X=0842,0248 Y=0825,4825,2522 Z=08480242
a=0516263532,341403122233 b=0208,0516263533221203 c=3526160503122233 d=3238,3526160503122233 e=043435261605031232 f=38281712,0626 g=3526160503122233,36312000 h=0208,0516263532 i=0206,0808 j=161100,1818 k=0208,0436,1532
l=080312 m=0206,05162522,25364542 n=0206,0516263532 o=120305162635332212 p=0006,0516263533221203 q=3036,3526160503122233 r=0206,041626 s=35261605142433221203 t=18132232,0626 u=0603122233,3632 v=062246 w=0612253246 x=0632,0236
y=0622,462210 z=06360232 0=120307182837332212 1=071812,0222 2=07182837360232 3=0718283736253433221203,1525 4=22280434 5=3808052534332202 6=372818070312223334251504 7=083812 8=15060718283736251504031222333425
9=031222333728180706152536 .=0202 ,=1201 :=0202,0505 ;=0505,1201 -=0424 —=0454 (=19070311 )=09171301 /=0239 %=0818170708,3343423233,0248 º=0718271607 ª=0718271607 €=4738281713223243,0636,0434 «=160412,362432 »=061402,263422
·=0404 [=19090111 ]=09191101 á=0516263532,341403122233,1729 é=043435261605031232,1729 í=0206,0819 ó=120305162635332212,1729 ú=0603122233,3632,1729 ü=0603122233,3632,0808,2828 ñ=0206,0516263532,07182738 Ñ=02084248,0949`

// glyph is the bitmap of a letter.
type glyph struct {
	dots  [][2]int // x and y of the black dots
	width int
}

// scanGlyphs returns the letters by their code in WinAnsiEncoding, and a font with
// their widths.
var scanGlyphs = sync.OnceValues(func() (all *[256]glyph, f *pdf.Font) {
	all = &[256]glyph{}
	for one := range strings.FieldsSeq(strokes) {
		name, lines, _ := strings.Cut(one, "=")
		all[pdf.Encode(name)[0]] = rasterize(strings.Split(lines, ","))
	}
	for n, c := range pdf.Encode("ÁÉÍÓÚÜ") { // without accents, as on typewriters
		all[c] = all["AEIOUU"[n]]
	}
	all[' '].width = 3 * unit
	f = &pdf.Font{}
	for n := range all {
		f.Widths[n] = all[n].width
	}
	return all, f
})

// rasterize blackens every dot that is near a line.
func rasterize(lines []string) (g glyph) {
	const halfWidth = 0.42
	right := 0
	for n, points := 0, strings.Join(lines, ""); n < len(points); n += 2 {
		right = max(right, int(points[n]-'0'))
	}
	g.width = (right + 2) * unit
	for y := -unit; y < 11*unit; y++ {
		for x := -unit; x < (right+1)*unit; x++ {
			px, py := float64(x)/unit, float64(y)/unit
			for _, l := range lines {
				if distance(l, px, py) <= halfWidth {
					g.dots = append(g.dots, [2]int{x, y})
					break
				}
			}
		}
	}
	return g
}

// distance returns the distance of a point from a line.
func distance(l string, px, py float64) float64 {
	at := func(n int) (float64, float64) { return float64(l[n] - '0'), float64(l[n+1] - '0') }
	best := math.Inf(1)
	for n := 0; n+2 <= len(l); n += 2 {
		ax, ay := at(n)
		bx, by := at(min(n+2, len(l)-2))
		t := 0.0
		if d := (bx-ax)*(bx-ax) + (by-ay)*(by-ay); d > 0 {
			t = max(0, min(1, ((px-ax)*(bx-ax)+(py-ay)*(by-ay))/d))
		}
		best = min(best, math.Hypot(px-ax-t*(bx-ax), py-ay-t*(by-ay)))
	}
	return best
}

// scanLines breaks a document into lines as wide as the page.
func scanLines(d *document) (lines [][]byte) {
	_, f := scanGlyphs()
	for _, b := range d.blocks {
		text := []string{b.text}
		for _, row := range b.rows {
			text = append(text, strings.Join(row, " .... "))
		}
		for _, t := range text {
			lines = append(lines, f.Wrap(pdf.Encode(t), 1000, scanWidth-2*scanMargin, false)...)
		}
		if b.kind != item {
			lines = append(lines, nil)
		}
	}
	return lines
}

// makeScan returns a file whose pages are images of the document, slightly rotated
// and with specks.
func makeScan(d *document, rng filler.Random) []byte {
	lines, perPage := scanLines(d), (scanHeight-2*scanMargin)/scanLead-4
	count := (len(lines) + perPage - 1) / perPage
	f := &pdf.File{Compress: true}
	root, tree := f.Add("<< /Type /Catalog /Pages 2 0 R >>"), f.Add("") // the tree is set below
	info := f.Add("<< /Title " + pdf.TextString(d.title) + producer)
	var pages []pdf.Ref
	for n := range count {
		sheet := bitmap{make([]byte, scanWidth/8*scanHeight), 200 + rng.IntN(400)}
		sheet.write(0, d.head)
		for row, text := range lines[n*perPage : min(len(lines), (n+1)*perPage)] {
			sheet.writeEncoded(row+2, text)
		}
		sheet.write(perPage+2, d.foot)
		sheet.write(perPage+3, fmt.Sprintf("Página %d de %d", n+1, count))
		for range 60 {
			sheet.bits[rng.IntN(len(sheet.bits))] |= 0x18
		}
		image := f.AddStream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace "+
			"/DeviceGray /BitsPerComponent 1 /Decode [1 0]",
			scanWidth, scanHeight), sheet.bits)
		content := f.AddStream("", fmt.Appendf(nil, "q %d 0 0 %d 0 0 cm /Im Do Q", pdf.PageWidth, pdf.PageHeight))
		pages = append(pages, f.Addf("<< /Type /Page /Parent %v /MediaBox [0 0 %d %d] /Resources << /XObject "+
			"<< /Im %v >> >> /Contents %v >>",
			tree, pdf.PageWidth, pdf.PageHeight, image, content))
	}
	f.Set(tree, pageTree(pages))
	return f.Bytes(fmt.Sprintf("/Root %v /Info %v", root, info))
}

// bitmap is the image of a page.
type bitmap struct {
	bits  []byte
	slope int // dots per dot that the lines descend
}

func (m bitmap) write(row int, text string) { m.writeEncoded(row, pdf.Encode(text)) }

func (m bitmap) writeEncoded(row int, text []byte) {
	glyphs, _ := scanGlyphs()
	x, y := scanMargin, scanMargin+row*scanLead
	for _, c := range text {
		g := &glyphs[c]
		for _, dot := range g.dots {
			px, py := x+dot[0], y-dot[1]+x/m.slope
			if px >= 0 && px < scanWidth && py >= 0 && py < scanHeight {
				m.bits[py*(scanWidth/8)+px/8] |= 0x80 >> (px % 8)
			}
		}
		x += g.width
	}
}
