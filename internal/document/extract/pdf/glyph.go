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

// glyphs reads the characters of a page and joins them to words. Those outside the
// page are left out: nobody sees them.
func (d *file) glyphs(page, textPage uint64) glyphs {
	d.edges = d.box(page)
	count := min(d.callInt("FPDFText_CountChars", textPage), maxGlyphs)
	var list []glyph
	var turns [4]int
	var last glyph
	for i := 0; i < count && d.err == nil; i++ {
		g, ok := d.glyph(textPage, uint64(i), last)
		last = g
		if !ok {
			continue
		}
		if g.turn >= 0 && g.r != ' ' {
			turns[g.turn]++
		}
		list = append(list, g)
	}
	upright := 0
	for turn, n := range turns {
		if n > turns[upright] {
			upright = turn
		}
	}
	return join(list, upright)
}

// glyph returns character i, which follows last. PDFium inserts spaces and line
// ends, which have no place on the page. Its functions write their results to the
// scratch buffer.
func (d *file) glyph(page, i uint64, last glyph) (glyph, bool) {
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
	g := glyph{r: r}
	if uint32(d.call("FPDFText_GetCharOrigin", page, i, out, out+8)) == 0 {
		return glyph{}, false
	}
	x, y := d.float64At(at), d.float64At(at+8)
	if !d.edges.has(x, y) {
		return glyph{}, false
	}
	if last.em == 0 || last.turn != 0 || y != last.y || x < last.x0 { // it is not the next one of a level line
		g.turn = quarters(d.callFloat("FPDFText_GetCharAngle", page, i))
	}
	if g.turn == 0 {
		// left, top, right, bottom: the advance of the character and the height
		// of its font.
		d.call("FPDFText_GetLooseCharBox", page, i, out)
		// The box is wider than the advance of an f, so its left is not used.
		g.x0 = x
		g.x1 = d.float32At(at + 8)
		g.y = y
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
		g.x0 = -y
		g.x1 = -bottom
		g.y = x
	case 2:
		g.x0 = -x
		g.x1 = -left
		g.y = -y
	case 3:
		g.x0 = y
		g.x1 = top
		g.y = -x
	default:
		g.x0 = left
		g.x1 = right
		g.y = y
	}
	g.x1 = max(g.x1, g.x0)
	return g, true
}

// box is a rectangle.
type box struct{ left, top, right, bottom float64 }

func (b box) has(x, y float64) bool {
	return x >= b.left && x <= b.right && y >= b.bottom && y <= b.top
}

// box returns the visible part of a page, with a margin for letters that reach over
// its edge.
func (d *file) box(page uint64) box {
	const margin = 2
	if uint32(d.call("FPDF_GetPageBoundingBox", page, uint64(d.scratch))) == 0 {
		return box{
			left:   -2e6,
			top:    2e6,
			right:  2e6,
			bottom: -2e6,
		} // has all that clamp returns
	}
	at := d.float32At
	return box{at(d.scratch) - margin, at(d.scratch+4) + margin, at(d.scratch+8) + margin, at(d.scratch+12) - margin}
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
	for _, g := range withAccents(list) {
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
			g.x0 = slanted.right
			g.x1 = slanted.right + g.em/2
			g.y = slanted.w.y
			slanted.add(g)
		default:
			slanted.add(g)
		}
	}
	straight.end()
	slanted.end()
	out.legible += others.legible
	out.words = withoutShadows(append(out.words, placeBelow(others.words, out.words)...))
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
		w.y = y
		w.x0 = x
		w.x1 = x + width
		x += width + w.em/3
	}
	return words
}

// withoutShadows removes words that are printed again at about the same place, to
// look bold or to have a shadow.
func withoutShadows(words []word) []word {
	last := make(map[string]word, len(words))
	kept := words[:0]
	for _, w := range words {
		before, seen := last[w.text]
		last[w.text] = w
		if !seen || math.Abs(w.x0-before.x0) > shadow*w.em || math.Abs(w.y-before.y) > shadow*w.em {
			kept = append(kept, w)
		}
	}
	return kept
}

// shadow is the distance, in font sizes, between a letter and its shadow.
const shadow = 0.12

// wordBuilder builds words from characters.
type wordBuilder struct {
	to       *glyphs
	list     []glyph // the letters of w
	w        word
	right    float64 // where the last character ends
	shadowed bool    // a letter of w was printed again
}

// wordGap is the gap between two words, in font sizes. It is only needed where
// PDFium, which knows the fonts, finds no space.
const wordGap = 0.15

func (c *wordBuilder) add(g glyph) {
	r, ok := extract.Letter(g.r)
	if !ok {
		c.right = max(c.right, g.x1) // it takes space, but separates no words
		return
	}
	g.r = r
	if len(c.list) > 0 {
		last := c.list[len(c.list)-1]
		if c.shadows(last, g) {
			c.shadowed = true
			return
		}
		if !c.continues(last, g) {
			c.end()
		}
	}
	if len(c.list) == 0 {
		c.w = word{
			x0: g.x0,
			x1: g.x1,
			y:  g.y,
			em: g.em,
		}
		c.right = g.x1
	}
	c.widen(g)
	c.list = append(c.list, g)
	if r != utf8.RuneError {
		c.to.legible++
	}
}

// continues reports whether g belongs to the word that ends with last.
func (c *wordBuilder) continues(last, g glyph) bool {
	if g.x0 == last.x0 && g.x1 == last.x1 && g.y == last.y {
		return true // the letters of a ligature share its box
	}
	if raisedDigit(g.r, g.em, g.y, last.em, last.y) || raisedDigit(last.r, last.em, last.y, g.em, g.y) {
		return false
	}
	em := max(g.em, last.em)
	gap := g.x0 - c.right
	tracking := 0.0 // of spaced letters
	if n := len(c.list); n > 1 {
		tracking = min(max(0, last.x0-c.list[n-2].x1), 0.2*em)
	}
	return math.Abs(g.y-last.y) <= 0.5*em && gap <= wordGap*em+tracking && gap >= -0.8*em
}

// raisedDigit reports whether a character is a digit that is smaller and higher
// than the text beside it: an exponent or the mark of a footnote.
func raisedDigit(r rune, em, y, textEm, textY float64) bool {
	return r >= '0' && r <= '9' && em < 0.85*textEm && y > textY+0.15*textEm && y < textY+textEm
}

// shadows reports whether a letter is printed again at about the same place. The
// letters of a ligature are at the same place too, and may be equal.
func (c *wordBuilder) shadows(a, b glyph) bool {
	near := min(shadow*b.em, 0.4*(b.x1-b.x0))
	if a.r != b.r || math.Abs(a.x0-b.x0) > near || math.Abs(a.y-b.y) > shadow*b.em {
		return false
	}
	return c.shadowed || a.x0 != b.x0 || a.y != b.y || a.r != 'f' && a.r != 't'
}

func (c *wordBuilder) widen(g glyph) {
	c.w.x0, c.w.x1 = min(c.w.x0, g.x0), max(c.w.x1, g.x1)
	c.right = max(c.right, g.x1)
	if g.em > c.w.em {
		c.w.y, c.w.em = g.y, g.em // the baseline of a word is that of its largest letters
	}
}

func (c *wordBuilder) end() {
	if len(c.list) == 0 {
		return
	}
	var b strings.Builder
	for _, g := range c.list {
		b.WriteRune(g.r)
	}
	if c.w.text = extract.Normalize(b.String()); c.w.text != "" {
		c.to.words = append(c.to.words, c.w)
	}
	c.list, c.shadowed = c.list[:0], false
}

// accents maps accents that are characters of their own to combining accents.
var accents = map[rune]rune{
	'´': '\u0301', '`': '\u0300', '¨': '\u0308', 'ˆ': '\u0302', '^': '\u0302',
	'˜': '\u0303', '~': '\u0303', '¸': '\u0327', '˙': '\u0307', 'ˇ': '\u030c', '˚': '\u030a',
}

// withAccents replaces letters by their accented forms, if an accent is drawn over
// them, as old typesetting programs do. The accent is before its letter, after it,
// or at the end of the line.
func withAccents(list []glyph) []glyph {
	const maxDistance = 200
	kept := list[:0]
	for i, g := range list {
		if _, ok := accents[g.r]; ok {
			if i+1 < len(list) && accent(&list[i+1], g) {
				continue
			}
			placed := false
			for k := len(kept) - 1; k >= max(0, len(kept)-maxDistance) && !placed; k-- {
				placed = accent(&kept[k], g)
			}
			if placed {
				continue
			}
		}
		kept = append(kept, g)
	}
	return kept
}

// accent adds an accent to a letter, if it is drawn over it.
func accent(letter *glyph, mark glyph) bool {
	overlap := min(letter.x1, mark.x1) - max(letter.x0, mark.x0)
	if !unicode.IsLetter(letter.r) || letter.turn != mark.turn || math.Abs(letter.y-mark.y) > 0.6*letter.em ||
		overlap < 0.5*min(letter.x1-letter.x0, mark.x1-mark.x0) {
		return false
	}
	base := letter.r
	if base == 'ı' {
		base = 'i'
	}
	composed := norm.NFC.String(string([]rune{base, accents[mark.r]}))
	r, size := utf8.DecodeRuneInString(composed)
	if size == len(composed) {
		letter.r = r
	}
	return size == len(composed)
}
