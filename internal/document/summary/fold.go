package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"

	plain "pregon/internal/text"
)

// fold returns the words of a text in lower case and without accents, one space
// before each and one after the last, so that strings.Contains finds " phrase " in
// it. Invisible characters are skipped: they do not split words.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	gap := true
	for _, r := range text {
		switch f := foldRune(r); {
		case f >= 0:
			b.WriteRune(f)
			gap = false
		case f == isGap && !gap:
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}

const (
	isGap    rune = -1
	isHidden rune = -2
)

// foldRune returns the folded form of a letter or digit, or else isGap or isHidden.
// The ordinal indicators in nº and Dª are gaps, so that nº does not become "no".
func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != '\f' {
			return isHidden
		}
		return isGap
	case r == 'ª', r == 'º':
		return isGap
	case hidden(r), unicode.Is(unicode.Mn, r):
		return isHidden
	}
	if letter, ok := plainLetters[r]; ok {
		return letter
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return unicode.ToLower(r)
	}
	return isGap
}

// hidden reports whether a character is invisible.
func hidden(r rune) bool { return plain.Invisible(r) }

// plainLetters maps accented letters, and letters of other scripts with the same
// shape, to plain letters.
var plainLetters = func() map[rune]rune {
	table := map[rune]rune{}
	for letter, others := range map[rune]string{
		'a': "áàâäãåāăąÁÀÂÄÃÅĀĂĄаΑА", 'b': "ВΒ", 'c': "çćčÇĆČсС", 'e': "éèêëēęěÉÈÊËĒĘĚеЕΕ",
		'g': "ğĞ", 'h': "НΗ", 'i': "íìîïīıÍÌÎÏĪİіІΙ", 'j': "ј", 'k': "кКΚ", 'l': "łŁ", 'm': "МΜ",
		'n': "ñńňÑŃŇΝ", 'o': "óòôöõøōőÓÒÔÖÕØŌŐоОοΟ", 'p': "рРΡ", 's': "śšşŚŠŞѕЅ", 't': "ТΤ",
		'u': "úùûüūűÚÙÛÜŪŰ", 'x': "хХΧ", 'y': "ýÿÝŸуΥ", 'z': "źżžŹŻŽΖ",
	} {
		for _, r := range others {
			table[r] = letter
		}
	}
	return table
}()

// squeeze makes every run of white space one space.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
