package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf16"
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
	var list []glyph
	var turns [4]int
	for i := 0; i < count && d.err == nil; i++ {
		g, ok := d.glyph(textPage, uint64(i))
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

// glyph returns character i. PDFium inserts spaces and line ends, which have no
// place on the page. Its functions write their results to the scratch buffer.
func (d *file) glyph(page, i uint64) (glyph, bool) {
	r := d.character(page, i)
	const hyphenAtLineEnd = 2 // as PDFium returns it
	switch {
	case r < 0:
		return glyph{}, false
	case r == hyphenAtLineEnd:
		r = '-'
	case unicode.IsSpace(r):
		return glyph{r: ' '}, true
	}
	at, out := d.scratch, uint64(d.scratch)
	g := glyph{r: r, turn: quarters(d.callFloat("FPDFText_GetCharAngle", page, i))}
	if uint32(d.call("FPDFText_GetCharOrigin", page, i, out, out+8)) == 0 {
		return glyph{}, false
	}
	x, y := d.float64At(at), d.float64At(at+8)
	if g.turn == 0 {
		// left, top, right, bottom: the advance of the character and the height
		// of its font.
		d.call("FPDFText_GetLooseCharBox", page, i, out)
		g.x0, g.x1, g.y = d.float32At(at), d.float32At(at+8), y
		g.em = d.float32At(at+4) - d.float32At(at+12)
		if g.em > 0 && g.x1 >= g.x0 {
			return g, true
		}
	}
	d.call("FPDFText_GetCharBox", page, i, out, out+8, out+16, out+24) // left, right, bottom, top
	left, right := d.float64At(at), d.float64At(at+8)
	bottom, top := d.float64At(at+16), d.float64At(at+24)
	g.em = d.scaledSize(page, i, max(right-left, top-bottom))
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

// character returns character i. It is U+FFFD if the file maps a glyph to no valid
// code point. PDFium has a character outside the basic plane as two surrogates, of
// which the first stands for both; the second is -1.
func (d *file) character(page, i uint64) rune {
	at := func(i uint64) rune { return rune(uint32(d.call("FPDFText_GetUnicode", page, i))) }
	r := at(i)
	if utf8.ValidRune(r) {
		return r
	}
	if i > 0 && utf16.DecodeRune(at(i-1), r) != utf8.RuneError {
		return -1
	}
	return utf16.DecodeRune(r, at(i+1)) // U+FFFD if they are no pair
}

// scaledSize returns the font size of a character on the page, or fallback if it
// is unknown.
func (d *file) scaledSize(page, i uint64, fallback float64) float64 {
	size := clamp(api.DecodeF64(d.call("FPDFText_GetFontSize", page, i)))
	if uint32(d.call("FPDFText_GetMatrix", page, i, uint64(d.scratch))) == 0 {
		return fallback
	}
	size *= math.Hypot(d.float32At(d.scratch+8), d.float32At(d.scratch+12))
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
	if r != utf8.RuneError {
		c.to.legible++
	}
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
