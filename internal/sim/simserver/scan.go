package simserver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// Some issuers print a document, sign it and scan it: its pages are pictures.
// They are drawn here with a pen of our own, at 200 dots an inch.
const (
	scanWidth, scanHeight = 1656, 2339 // of A4; rows are whole bytes
	scanMargin            = 150
	unit                  = 4 // dots to a step of the letters below
	scanLead              = 13 * unit
)

// strokes are the letters: points of two digits, how far right and how far up,
// that a pen joins. Two is the line that letters stand on, eight the height of
// capitals.
const strokes = `A=022842,1434 B=0208,083847463505,3544433202 C=4738180703123243 D=0208,082846442202 E=48080242,0535 F=480802,0535 G=47381807031232434525 H=0208,4248,0545 I=0828,0222,1218 J=3833221203 K=0208,4804,1542 L=080242 M=0208254842
N=02084248 O=120307183847433212 P=0208,083847463505 Q=120307183847433212,2441 R=0208,083847463505,2542 S=473818070615354443321203 T=0848,2822 U=080312324348 V=082248 W=0812263248 X=0842,0248 Y=0825,4825,2522 Z=08480242
a=0516263532,341403122233 b=0208,0516263533221203 c=3526160503122233 d=3238,3526160503122233 e=043435261605031232 f=38281712,0626 g=3526160503122233,36312000 h=0208,0516263532 i=0206,0808 j=161100,1818 k=0208,0436,1532
l=080312 m=0206,05162522,25364542 n=0206,0516263532 o=120305162635332212 p=0006,0516263533221203 q=3036,3526160503122233 r=0206,041626 s=35261605142433221203 t=18132232,0626 u=0603122233,3632 v=062246 w=0612253246 x=0632,0236
y=0622,462210 z=06360232 0=120307182837332212 1=071812,0222 2=07182837360232 3=0718283736253433221203,1525 4=22280434 5=3808052534332202 6=372818070312223334251504 7=083812 8=15060718283736251504031222333425
9=031222333728180706152536 .=0202 ,=1201 :=0202,0505 ;=0505,1201 -=0424 —=0454 (=19070311 )=09171301 /=0239 %=0818170708,3343423233,0248 º=0718271607 ª=0718271607 €=4738281713223243,0636,0434 «=160412,362432 »=061402,263422
·=0404 [=19090111 ]=09191101 á=0516263532,341403122233,1729 é=043435261605031232,1729 í=0206,0819 ó=120305162635332212,1729 ú=0603122233,3632,1729 ü=0603122233,3632,0808,2828 ñ=0206,0516263532,07182738 Ñ=02084248,0949`

// glyph is a drawn letter: the dots it blackens, and how wide it is.
type glyph struct {
	dots  [][2]int // right of its place, and up
	width int
}

// penned are the letters drawn, by WinAnsiEncoding, and a font of their widths.
var penned = sync.OnceValues(func() (all [256]glyph, f *font) {
	for one := range strings.FieldsSeq(strokes) {
		name, drawn, _ := strings.Cut(one, "=")
		all[ansi(name)[0]] = draw(strings.Split(drawn, ","))
	}
	for n, c := range ansi("ÁÉÍÓÚÜ") { // as typewriters had them
		all[c] = all["AEIOUU"[n]]
	}
	all[' '].width = 3 * unit
	f = &font{}
	for n := range all {
		f.widths[n] = all[n].width
	}
	return all, f
})

// draw blackens every dot that the pen comes near to.
func draw(lines []string) (g glyph) {
	const pen = 0.42
	right := 0
	for n, points := 0, strings.Join(lines, ""); n < len(points); n += 2 {
		right = max(right, int(points[n]-'0'))
	}
	g.width = (right + 2) * unit
	for y := -unit; y < 11*unit; y++ {
		for x := -unit; x < (right+1)*unit; x++ {
			px, py := float64(x)/unit, float64(y)/unit
			for _, l := range lines {
				if near(l, px, py) <= pen {
					g.dots = append(g.dots, [2]int{x, y})
					break
				}
			}
		}
	}
	return g
}

// near is how far a point is from a line of strokes.
func near(l string, px, py float64) float64 {
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

// scanLines breaks a paper into lines as wide as the sheet.
func scanLines(p *paper) (lines [][]byte) {
	_, f := penned()
	for _, b := range p.blocks {
		text := []string{b.text}
		for _, row := range b.rows {
			text = append(text, strings.Join(row, " .... "))
		}
		for _, t := range text {
			lines = append(lines, f.wrap(ansi(t), 1000, scanWidth-2*scanMargin, false)...)
		}
		if b.kind != item {
			lines = append(lines, nil)
		}
	}
	return lines
}

// makeScan makes a file whose pages are pictures of the paper, a little askew
// and not quite clean.
func makeScan(p *paper, dice *rand.Rand) []byte {
	lines, perPage := scanLines(p), (scanHeight-2*scanMargin)/scanLead-4
	letters, _ := penned()
	count := (len(lines) + perPage - 1) / perPage
	o := &objects{packed: true}
	root, tree := o.add("<< /Type /Catalog /Pages 2 0 R >>"), o.add("")
	info := o.add("<< /Title " + textString(p.title) + " /Producer (Mercado simulado) >>")
	kids := ""
	for n := range count {
		sheet := make([]byte, scanWidth/8*scanHeight)
		slope := 200 + dice.IntN(400)
		write := func(row int, text []byte) {
			x, y := scanMargin, scanMargin+row*scanLead
			for _, c := range text {
				g := &letters[c]
				for _, dot := range g.dots {
					if px, py := x+dot[0], y-dot[1]+x/slope; px >= 0 && px < scanWidth && py >= 0 && py < scanHeight {
						sheet[py*(scanWidth/8)+px/8] |= 0x80 >> (px % 8)
					}
				}
				x += g.width
			}
		}
		write(0, ansi(p.head))
		for row, text := range lines[n*perPage : min(len(lines), (n+1)*perPage)] {
			write(row+2, text)
		}
		write(perPage+2, ansi(p.foot))
		write(perPage+3, ansi(fmt.Sprintf("Página %d de %d", n+1, count)))
		for range 60 {
			sheet[dice.IntN(len(sheet))] |= 0x18
		}
		image := o.addStream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 1 /Decode [1 0]",
			scanWidth, scanHeight), sheet)
		content := o.addStream("", fmt.Appendf(nil, "q %d 0 0 %d 0 0 cm /Im Do Q", paperWidth, paperHeight))
		kids += fmt.Sprintf("%d 0 R ", o.add(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Resources << /XObject << /Im %d 0 R >> >> /Contents %d 0 R >>",
			paperWidth, paperHeight, image, content)))
	}
	o.all[tree-1].dict = fmt.Sprintf("<< /Type /Pages /Kids [ %s] /Count %d >>", kids, count)
	return o.classic(fmt.Sprintf("/Root %d 0 R /Info %d 0 R", root, info))
}
