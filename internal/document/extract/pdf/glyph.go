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

// word is a piece of text without spaces, on a page rotated so that its text
// runs to the right. Coordinates are in points; y grows upwards.
type word struct {
	text   string
	x0, x1 float64
	y      float64 // of its baseline
	em     float64 // its font size
}

// glyphs is the text of a page.
type glyphs struct {
	words   []word
	legible int // number of characters with a meaning
}

// maxGlyphs is the number of characters that are read of one page.
const maxGlyphs = 2_000_000

// glyph is a character with its place.
type glyph struct {
	r      rune
	x0, x1 float64
	y, em  float64
	turn   int // rotation in quarter turns, clockwise; -1 for any other angle
}

// glyphs reads the characters of a page and joins them to words.
func (d *file) glyphs(textPage uint64) glyphs {
	count := min(d.callInt("FPDFText_CountChars", textPage), maxGlyphs)
	s := newGlyphReader(d, textPage)
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

// glyphReader reads characters from PDFium. It looks up PDFium's functions once.
type glyphReader struct {
	d    *file
	page uint64

	unicode, loose, tight, origin, angle, size, matrix api.Function
	stack                                              [8]uint64
}

func newGlyphReader(d *file, page uint64) *glyphReader {
	return &glyphReader{
		d: d, page: page,
		unicode: d.function("FPDFText_GetUnicode"),
		loose:   d.function("FPDFText_GetLooseCharBox"),
		tight:   d.function("FPDFText_GetCharBox"),
		origin:  d.function("FPDFText_GetCharOrigin"),
		angle:   d.function("FPDFText_GetCharAngle"),
		size:    d.function("FPDFText_GetFontSize"),
		matrix:  d.function("FPDFText_GetMatrix"),
	}
}

// ask calls a function for character i. The function writes its results to the
// scratch buffer at the given offsets.
func (s *glyphReader) ask(f api.Function, i uint64, offsets ...uint64) uint64 {
	s.stack[0], s.stack[1] = s.page, i
	for n, offset := range offsets {
		s.stack[2+n] = uint64(s.d.scratch) + offset
	}
	return s.d.callStack(f, s.stack[:])
}

// glyph returns character i. PDFium inserts spaces and line ends, which have no
// place on the page.
func (s *glyphReader) glyph(i uint64) (glyph, bool) {
	r := rune(uint32(s.ask(s.unicode, i)))
	const hyphenAtLineEnd = 2 // as PDFium returns it
	switch {
	case r == hyphenAtLineEnd:
		r = '-'
	case r == '\r' || r == '\n' || r == '\t' || unicode.IsSpace(r):
		return glyph{r: ' '}, true
	}
	at := s.d.scratch
	g := glyph{r: r, turn: quarters(float64(api.DecodeF32(s.ask(s.angle, i))))}
	if uint32(s.ask(s.origin, i, 0, 8)) == 0 {
		return glyph{}, false
	}
	x, y := s.d.float64At(at), s.d.float64At(at+8)
	if g.turn == 0 {
		// left, top, right, bottom: the advance of the character and the height
		// of its font.
		s.ask(s.loose, i, 0)
		g.x0, g.x1, g.y = s.d.float32At(at), s.d.float32At(at+8), y
		g.em = s.d.float32At(at+4) - s.d.float32At(at+12)
		if g.em > 0 && g.x1 >= g.x0 {
			return g, true
		}
	}
	s.ask(s.tight, i, 0, 8, 16, 24) // left, right, bottom, top
	left, right := s.d.float64At(at), s.d.float64At(at+8)
	bottom, top := s.d.float64At(at+16), s.d.float64At(at+24)
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

// scaledSize returns the font size of a character on the page, or fallback if it
// is unknown.
func (s *glyphReader) scaledSize(i uint64, fallback float64) float64 {
	size := clamp(api.DecodeF64(s.ask(s.size, i)))
	if uint32(s.ask(s.matrix, i, 0)) == 0 {
		return fallback
	}
	at := s.d.scratch
	size *= math.Hypot(s.d.float32At(at+8), s.d.float32At(at+12))
	if size <= 0 {
		return fallback
	}
	return size
}

// quarters returns an angle in quarter turns, or -1 if it lies between two.
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

// join joins characters to words. Text in another direction than most of the page
// comes last.
func join(list []glyph, upright int) glyphs {
	var out, others glyphs
	straight, slanted := wordBuilder{to: &out}, wordBuilder{to: &others}
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
			// Only the spaces of the file separate its words.
			g.x0, g.x1, g.y = slanted.last.x1, slanted.last.x1+g.em/2, slanted.last.y
			slanted.add(g)
		default:
			slanted.add(g)
		}
	}
	straight.end()
	slanted.end()
	out.legible += others.legible
	out.words = append(out.words, placeBelow(others.words, out.words)...)
	return out
}

// placeBelow moves rotated words below the page, in the order of the file, on
// lines of the usual length.
func placeBelow(words, page []word) []word {
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

// wordBuilder builds words from characters.
type wordBuilder struct {
	to   *glyphs
	text strings.Builder
	w    word
	last glyph
}

// wordGap is the gap between two words, in font sizes. It is only needed where
// PDFium, which knows the fonts, finds no space.
const wordGap = 0.25

func (c *wordBuilder) add(g glyph) {
	r, ok := extract.Letter(g.r)
	if !ok {
		c.last.x1 = max(c.last.x1, g.x1) // it takes space, but separates no words
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

func (c *wordBuilder) widen(g glyph) {
	c.w.x0, c.w.x1 = min(c.w.x0, g.x0), max(c.w.x1, g.x1)
	if g.em > c.w.em {
		c.w.y, c.w.em = g.y, g.em // the baseline of a word is that of its largest letters
	}
}

// replaceLast replaces the last character by its accented form.
func (c *wordBuilder) replaceLast(r rune, g glyph) {
	before := c.text.String()
	_, size := utf8.DecodeLastRuneInString(before)
	c.text.Reset()
	c.text.WriteString(before[:len(before)-size])
	c.text.WriteRune(r)
	c.widen(g)
	c.last.r, c.last.x1 = r, max(c.last.x1, g.x1)
}

func (c *wordBuilder) end() {
	if c.text.Len() == 0 {
		return
	}
	if c.w.text = extract.Normalize(c.text.String()); c.w.text != "" {
		c.to.words = append(c.to.words, c.w)
	}
	c.text.Reset()
}

// accents maps accents that are characters of their own to combining accents.
var accents = map[rune]rune{
	'´': '\u0301', '`': '\u0300', '¨': '\u0308', 'ˆ': '\u0302', '^': '\u0302',
	'˜': '\u0303', '~': '\u0303', '¸': '\u0327', '˙': '\u0307', 'ˇ': '\u030c', '˚': '\u030a',
}

// accented returns the letter that two glyphs form if one is an accent drawn over
// the other, as old typesetting programs do.
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
	composed := norm.NFC.String(string([]rune{base, mark}))
	r, size := utf8.DecodeRuneInString(composed)
	return r, size == len(composed)
}
