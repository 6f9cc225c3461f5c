package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const softHyphen = '\u00ad'

// unwanted tells of characters that have no place in a text for people: those
// that control, those that nobody agreed upon, those that stand for none.
func unwanted(r rune) bool {
	if r >= ' ' && r <= '~' || r >= 'À' && r <= 'ÿ' {
		return false // most are these
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point) || r == utf8.RuneError
}

// letter is a character as fonts have it made one that means the same. False
// says that it means nothing; a soft hyphen still means something at the end of
// a line.
func letter(r rune) (rune, bool) {
	switch {
	case r >= ' ' && r <= '~', r == softHyphen:
		return r, true
	case r == '\u2010' || r == '\u2011': // hyphens that differ in how lines break
		return '-', true
	case r >= 0xf021 && r <= 0xf07e: // symbol fonts, which put ASCII up there
		return r - 0xf000, true
	case r >= 0xf080 && r <= 0xf0ff: // and their squares, arrows and balls
		return '•', true
	case r == 0 || unwanted(r):
		return 0, false
	}
	return r, true
}

var ligatures = strings.NewReplacer(
	"ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
)

// normal writes a word the usual way: letters with their accents in one, and
// apart what was cast in one.
func normal(s string) string {
	if isASCII(s) {
		return s
	}
	return norm.NFC.String(ligatures.Replace(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
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

// tidy makes text from elsewhere clean: spaces in one, line ends too.
func tidy(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		r, ok := letter(r)
		if !ok || r == softHyphen {
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return normal(b.String())
}

// titled is a title of a table of contents, cut when it is too long.
func titled(s string) string {
	s = tidy(s)
	if utf8.RuneCountInString(s) <= mostTitle {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:mostTitle-1])) + "…"
}
