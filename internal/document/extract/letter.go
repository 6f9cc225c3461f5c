package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"pregon/internal/text"
)

// SoftHyphen marks where a word may be broken.
const SoftHyphen = '\u00ad'

// invisible reports whether r may not occur in a text: an invisible or a control
// character. U+FFFD may occur: it shows that a character could not be read.
func invisible(r rune) bool { return text.Invisible(r) || unicode.IsControl(r) }

// Letter returns the character to use for a character of a font, and false if it
// has no meaning. Soft hyphens are kept: they have a meaning at the end of a line.
func Letter(r rune) (rune, bool) {
	switch {
	case r >= ' ' && r <= '~', r == SoftHyphen:
		return r, true
	case r == '\u2010' || r == '\u2011': // hyphen and non-breaking hyphen
		return '-', true
	case r >= 0xf021 && r <= 0xf07e: // symbol fonts map ASCII to this private-use range
		return r - 0xf000, true
	case r >= 0xf080 && r <= 0xf0ff: // and bullets, squares and arrows to this one
		return '•', true
	case r < ' ' && texLetters[r] != 0:
		return texLetters[r], true
	case invisible(r):
		return 0, false
	}
	return r, true
}

// texLetters maps control characters to the dashes and ligatures that the fonts of TeX
// have in their places, often without a map to text.
var texLetters = map[rune]rune{0x15: '–', 0x16: '—', 0x1b: 'ﬀ', 0x1c: 'ﬁ', 0x1d: 'ﬂ', 0x1e: 'ﬃ', 0x1f: 'ﬄ'}

var ligatures = strings.NewReplacer(
	"ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
)

// Normalize composes accented letters (NFC) and expands ligatures.
func Normalize(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return norm.NFC.String(ligatures.Replace(s))
		}
	}
	return s
}

// Tidy returns s on one line, normalized and without invisible characters. Runs
// of white space become one space.
func Tidy(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		r, ok := Letter(r)
		if !ok || r == SoftHyphen {
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return Normalize(b.String())
}

// Title returns s as the title of a heading, cut to MaxTitle characters.
func Title(s string) string {
	s = Tidy(s)
	if utf8.RuneCountInString(s) <= MaxTitle {
		return s
	}
	return text.Clip(s, MaxTitle-1)
}
