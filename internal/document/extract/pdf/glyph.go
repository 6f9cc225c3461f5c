package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tetratelabs/wazero/api"
	"golang.org/x/text/unicode/norm"

	"pregon/internal/document/extract"
)

// word is a piece of text without spaces, on a page turned so that its text
// runs to the right. Lengths are points; y grows upwards.
type word struct {
	text   string
	x0, x1 float64
	y      float64 // of the line it stands on
	em     float64 // its size
}

// glyphs is what a page has of text.
type glyphs struct {
	words   []word
	legible int // characters that mean something
}

// mostGlyphs of one page are looked at.
const mostGlyphs = 2_000_000

// glyph is a character where it stands.
type glyph struct {
	r      rune
	x0, x1 float64
	y, em  float64
	turn   int // quarters of a circle, clockwise; -1 for any other
}

// glyphs collects the characters of a page and puts them together to words.
func (d *file) glyphs(textPage uint64) glyphs {
	count := min(d.callInt("FPDFText_CountChars", textPage), mostGlyphs)
	s := spelling{d: d, page: textPage}
	s.find()
	var list []glyph
	var turns [4]int
	for i := 0; i < count && d.err == nil; i++ {
		g, ok := s.glyph(uint64(i))
		if ok && g.turn >= 0 && g.r != ' ' {
			turns[g.turn]++
		}
		if ok {
			list = append(list, g)
		}
	}
	upright := 0
	for turn, n := range turns {
		if n > turns[upright] {
			upright = turn
		}
	}
	return join(list, upright)
}

// spelling reads characters off PDFium. Its functions are looked up once.
type spelling struct {
	d    *file
	page uint64

	unicode, loose, tight, origin, angle, size, matrix api.Function
	stack                                              [8]uint64
}

func (s *spelling) find() {
	s.unicode = s.d.function("FPDFText_GetUnicode")
	s.loose = s.d.function("FPDFText_GetLooseCharBox")
	s.tight = s.d.function("FPDFText_GetCharBox")
	s.origin = s.d.function("FPDFText_GetCharOrigin")
	s.angle = s.d.function("FPDFText_GetCharAngle")
	s.size = s.d.function("FPDFText_GetFontSize")
	s.matrix = s.d.function("FPDFText_GetMatrix")
}

// ask calls a function for character i, whose results go to the scratch room
// at the given offsets.
func (s *spelling) ask(f api.Function, i uint64, offsets ...uint64) uint64 {
	s.stack[0], s.stack[1] = s.page, i
	for n, offset := range offsets {
		s.stack[2+n] = uint64(s.d.scratch) + offset
	}
	return s.d.callStack(f, s.stack[:])
}

// glyph is character i. PDFium adds spaces and line ends of its own, of which
// only the place in the order counts.
func (s *spelling) glyph(i uint64) (glyph, bool) {
	r := rune(uint32(s.ask(s.unicode, i)))
	const hyphenAtLineEnd = 2 // of PDFium
	switch {
	case r == hyphenAtLineEnd:
		r = '-'
	case r == '\r' || r == '\n' || r == '\t' || unicode.IsSpace(r):
		return glyph{r: ' '}, true
	}
	room := s.d.scratch
	g := glyph{r: r, turn: quarters(float64(api.DecodeF32(s.ask(s.angle, i))))}
	if uint32(s.ask(s.origin, i, 0, 8)) == 0 {
		return glyph{}, false
	}
	x, y := s.d.float64At(room), s.d.float64At(room+8)
	if g.turn == 0 {
		// left, top, right, bottom: as wide as the character takes, as high as
		// its font is large.
		s.ask(s.loose, i, 0)
		g.x0, g.x1, g.y = s.d.float32At(room), s.d.float32At(room+8), y
		g.em = s.d.float32At(room+4) - s.d.float32At(room+12)
		if g.em > 0 && g.x1 >= g.x0 {
			return g, true
		}
	}
	s.ask(s.tight, i, 0, 8, 16, 24) // left, right, bottom, top
	left, right := s.d.float64At(room), s.d.float64At(room+8)
	bottom, top := s.d.float64At(room+16), s.d.float64At(room+24)
	g.em = s.scaledSize(i, max(right-left, top-bottom))
	switch g.turn {
	case 1:
		g.x0, g.x1, g.y = -y, -bottom, x
	case 2:
		g.x0, g.x1, g.y = -x, -left, -y
	case 3:
		g.x0, g.x1, g.y = y, top, -x
	default:
		g.x0, g.x1, g.y = left, right, y
	}
	g.x1 = max(g.x1, g.x0)
	return g, true
}

// scaledSize is the size of a character's font on the page.
func (s *spelling) scaledSize(i uint64, otherwise float64) float64 {
	size := clamp(api.DecodeF64(s.ask(s.size, i)))
	if uint32(s.ask(s.matrix, i, 0)) == 0 {
		return otherwise
	}
	room := s.d.scratch
	size *= math.Hypot(s.d.float32At(room+8), s.d.float32At(room+12))
	if size <= 0 {
		return otherwise
	}
	return size
}

// quarters is an angle in quarters of a circle, -1 when it lies between.
func quarters(radians float64) int {
	if math.IsNaN(radians) || math.IsInf(radians, 0) {
		return 0
	}
	q := radians / (math.Pi / 2)
	whole := math.Round(q)
	if math.Abs(q-whole) > 0.1 {
		return -1
	}
	return (int(whole)%4 + 4) % 4
}

// join puts characters together to words. What runs in another direction than
// most of the page comes last.
func join(list []glyph, upright int) glyphs {
	var out, others glyphs
	straight, slanted := composer{to: &out}, composer{to: &others}
	turn := upright
	for _, g := range list {
		if g.r != ' ' && g.turn != turn {
			straight.end()
			slanted.end()
			turn = g.turn
		}
		switch {
		case g.r == ' ':
			straight.end()
			slanted.end()
		case g.turn == upright:
			straight.add(g)
		case g.turn < 0:
			// Its words are only where the file has spaces.
			g.x0, g.x1, g.y = slanted.last.x1, slanted.last.x1+g.em/2, slanted.last.y
			slanted.add(g)
		default:
			slanted.add(g)
		}
	}
	straight.end()
	slanted.end()
	out.legible += others.legible
	out.words = append(out.words, aside(others.words, out.words)...)
	return out
}

// aside puts words that run another way below the page, in the order of the
// file, on lines that are as long as a usual one.
func aside(words, page []word) []word {
	x, y := 0.0, 0.0
	for _, w := range page {
		y = min(y, w.y)
	}
	y -= 100
	for i := range words {
		w := &words[i]
		width := w.x1 - w.x0
		if x > 500 {
			x, y = 0, y-2*w.em
		}
		w.y, w.x0, w.x1 = y, x, x+width
		x += width + w.em/3
	}
	return words
}

// composer builds words.
type composer struct {
	to   *glyphs
	text strings.Builder
	w    word
	last glyph
}

// A gap of more than this part of the size parts words. PDFium, which knows the
// fonts, says where most spaces are.
const wordGap = 0.25

func (c *composer) add(g glyph) {
	r, ok := extract.Letter(g.r)
	if !ok {
		c.last.x1 = max(c.last.x1, g.x1) // it takes room, and parts no words
		return
	}
	g.r = r
	if c.text.Len() > 0 {
		if both, ok := accented(c.last, g); ok {
			c.replaceLast(both, g)
			return
		}
		em := max(g.em, c.last.em)
		gap := g.x0 - c.last.x1
		if math.Abs(g.y-c.last.y) > 0.5*em || gap > wordGap*em || gap < -0.8*em {
			c.end()
		}
	}
	if c.text.Len() == 0 {
		c.w = word{x0: g.x0, x1: g.x1, y: g.y, em: g.em}
	}
	c.widen(g)
	c.text.WriteRune(g.r)
	c.last = g
	c.to.legible++
}

func (c *composer) widen(g glyph) {
	c.w.x0, c.w.x1 = min(c.w.x0, g.x0), max(c.w.x1, g.x1)
	if g.em > c.w.em {
		c.w.y, c.w.em = g.y, g.em // the line of a word is that of its largest letters
	}
}

// replaceLast changes the last character, which an accent was drawn upon.
func (c *composer) replaceLast(r rune, g glyph) {
	before := c.text.String()
	_, size := utf8.DecodeLastRuneInString(before)
	c.text.Reset()
	c.text.WriteString(before[:len(before)-size])
	c.text.WriteRune(r)
	c.widen(g)
	c.last.r, c.last.x1 = r, max(c.last.x1, g.x1)
}

func (c *composer) end() {
	if c.text.Len() == 0 {
		return
	}
	if c.w.text = extract.Normalize(c.text.String()); c.w.text != "" {
		c.to.words = append(c.to.words, c.w)
	}
	c.text.Reset()
}

// accents that stand alone, with those that join the letter before them.
var accents = map[rune]rune{
	'´': '\u0301', '`': '\u0300', '¨': '\u0308', 'ˆ': '\u0302', '^': '\u0302',
	'˜': '\u0303', '~': '\u0303', '¸': '\u0327', '˙': '\u0307', 'ˇ': '\u030c', '˚': '\u030a',
}

// accented is the letter that two glyphs make when one is an accent drawn upon
// the other, as old typesetters do.
func accented(a, b glyph) (rune, bool) {
	mark, ok := accents[a.r]
	base := b.r
	if !ok {
		if mark, ok = accents[b.r]; !ok {
			return 0, false
		}
		base = a.r
	}
	overlap := min(a.x1, b.x1) - max(a.x0, b.x0)
	if !unicode.IsLetter(base) || overlap < 0.5*min(a.x1-a.x0, b.x1-b.x0) {
		return 0, false
	}
	if base == 'ı' {
		base = 'i'
	}
	whole := norm.NFC.String(string([]rune{base, mark}))
	if utf8.RuneCountInString(whole) != 1 {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(whole)
	return r, true
}
