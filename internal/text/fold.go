package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold returns the words of a text, folded and joined by single spaces: two
// texts that differ only in case, accents and punctuation fold alike.
func Fold(text string) string { return strings.Join(Words(text), " ") }

// Words splits a text into its folded words.
func Words(text string) []string {
	if isFolded(text) { // as most words that are typed are
		return []string{text}
	}
	var words []string
	var t Tokenizer
	t.Words(text, func(word []byte) { words = append(words, string(word)) })
	return words
}

// isFolded reports whether a text is one word that is folded already.
func isFolded(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf || asciiFold[c] == 0 || asciiFold[c] != c {
			return false
		}
	}
	return text != ""
}

// Wordless reports whether a text is not blank and has no letter or digit.
// Searching for such a text finds nothing.
func Wordless(text string) bool {
	blank := true
	for _, c := range text {
		if c < utf8.RuneSelf && asciiFold[c] != 0 {
			return false
		}
		if c >= utf8.RuneSelf {
			if _, kind := foldRune(c); kind == isWord {
				return false
			}
		}
		blank = blank && unicode.IsSpace(c)
	}
	return !blank
}

// Tokenizer splits texts into folded words. One Tokenizer serves many texts, one
// after another, without allocating.
//
// Initials ("S.A.", "S. A.") become one word: a single letter that follows a
// single letter and a dot is appended to it. A word is therefore emitted only
// when the next one is complete.
type Tokenizer struct {
	word    []byte // being read
	letters int    // characters in word
	last    []byte // complete, not emitted yet
	initial bool   // last consists of initials, and another may follow
	dotted  bool   // a dot, and at most a space, since last
	spaced  bool   // a space since that dot

	start    int // of word, in bytes of the text
	from, to int // of last
}

// maxInitials bounds the length of joined initials, in bytes.
const maxInitials = 8

// Words calls emit for each word of a text. The word is valid until emit
// returns.
func (t *Tokenizer) Words(s string, emit func(word []byte)) {
	t.word = t.word[:0]
	t.last = t.last[:0]
	t.letters = 0
	t.initial = false
	t.dotted = false
	t.spaced = false
	t.start = 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			if f := asciiFold[c]; f != 0 {
				t.word = append(t.word, f)
				t.letters++
			} else {
				t.gap(rune(c), i-1, emit)
				t.start = i
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch folded, kind := foldRune(r); kind {
		case isWord:
			t.word = append(t.word, folded...)
			t.letters++
		case isGap:
			t.gap(r, i-size, emit)
			t.start = i
		}
	}
	t.flush(len(s), emit)
	if len(t.last) > 0 {
		emit(t.last)
	}
}

// Span returns the place of a word in its text, in bytes, while it is emitted.
func (t *Tokenizer) Span() (from, to int) { return t.from, t.to }

// gap ends a word and records whether initials may continue after it.
func (t *Tokenizer) gap(c rune, at int, emit func([]byte)) {
	t.flush(at, emit)
	switch {
	case c == '.' && !t.dotted:
		t.dotted = true
	case c == ' ' && t.dotted && !t.spaced:
		t.spaced = true
	default:
		t.initial = false
	}
}

// flush completes a word that ends at a byte of the text.
func (t *Tokenizer) flush(end int, emit func([]byte)) {
	if t.letters == 0 {
		return
	}
	single := t.letters == 1 && !isDigit(t.word[0])
	if single && t.initial && t.dotted && len(t.last) < maxInitials {
		t.last = append(t.last, t.word...)
	} else {
		if len(t.last) > 0 {
			emit(t.last)
		}
		t.last, t.word = t.word, t.last
		t.from = t.start
	}
	t.to = end
	t.initial = single
	t.word, t.letters = t.word[:0], 0
	t.dotted, t.spaced = false, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

type runeKind uint8

const (
	isGap  runeKind = iota
	isWord          // a letter or digit
	isMark          // a combining accent, which is ignored
)

// foldRune returns the folded form of a character beyond ASCII.
func foldRune(c rune) (string, runeKind) {
	if c >= 0x300 && c <= 0x36f {
		return "", isMark
	}
	if c < rune(len(latinFold)) {
		if s := latinFold[c]; s != "" {
			return s, isWord
		}
	}
	if unicode.IsLetter(c) || unicode.IsDigit(c) {
		return string(unicode.ToLower(c)), isWord
	}
	return "", isGap
}

// asciiFold maps letters and digits to their folded form, the rest to 0.
var asciiFold = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// latinFold maps the accented letters of the languages in which issuers are
// named.
var latinFold = func() (table [0x220]string) {
	for plain, accented := range map[string]string{
		"a": "áàâäãåāăąªÁÀÂÄÃÅĀĂĄ", "ae": "æÆ", "c": "çćčĉċÇĆČĈĊ", "d": "ďđðĎĐÐ",
		"e": "éèêëēĕėęěÉÈÊËĒĔĖĘĚ", "g": "ğĝġģĞĜĠĢ", "h": "ĥħĤĦ", "i": "íìîïĩīĭįıÍÌÎÏĨĪĬĮİ",
		"j": "ĵĴ", "k": "ķĶ", "l": "łĺļľŀŁĹĻĽĿ", "n": "ñńņňÑŃŅŇ", "o": "óòôöõøōŏőºÓÒÔÖÕØŌŎŐ",
		"oe": "œŒ", "r": "ŕŗřŔŖŘ", "s": "śŝşšșŚŜŞŠȘ", "ss": "ß", "t": "ţťŧțŢŤŦȚ", "th": "þÞ",
		"u": "úùûüũūŭůűųÚÙÛÜŨŪŬŮŰŲ", "w": "ŵŴ", "y": "ýÿŷÝŸŶ", "z": "źżžŹŻŽ",
	} {
		for _, c := range accented {
			table[c] = plain
		}
	}
	return table
}()
