package search

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
	var words []string
	var t tokenizer
	t.text(text, func(word []byte) { words = append(words, string(word)) })
	return words
}

// Wordless reports whether a text has something in it, and no letter or digit
// that could be searched for.
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

// tokenizer cuts texts into words. It is used again and again by whoever
// analyses many, so that it allocates nothing.
//
// Initials ("S.A.", "S. A.") are joined as they pass: a single letter that
// follows a single letter and a dot continues that letter's word. So a word is
// handed out only when the next one has begun.
type tokenizer struct {
	word    []byte // being read
	letters int    // characters in word
	last    []byte // read, and not handed out yet
	initial bool   // last is made of initials and may go on
	dotted  bool   // a dot, and at most spaces, since last
	spaced  bool   // a space since that dot
}

// longestInitials bounds what joining costs when somebody sends a page of them.
const longestInitials = 8

// text hands out the words of a text. The bytes are good until the next word.
func (t *tokenizer) text(s string, emit func(word []byte)) {
	t.word, t.last, t.letters = t.word[:0], t.last[:0], 0
	t.initial, t.dotted, t.spaced = false, false, false
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			if f := asciiFold[c]; f != 0 {
				t.word = append(t.word, f)
				t.letters++
			} else {
				t.gap(rune(c), emit)
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
			t.gap(r, emit)
		}
	}
	t.flush(emit)
	if len(t.last) > 0 {
		emit(t.last)
	}
}

// gap ends a word and notes whether initials may go on behind it.
func (t *tokenizer) gap(c rune, emit func([]byte)) {
	t.flush(emit)
	switch {
	case c == '.' && !t.dotted:
		t.dotted = true
	case c == ' ' && t.dotted && !t.spaced:
		t.spaced = true
	default:
		t.initial = false
	}
}

func (t *tokenizer) flush(emit func([]byte)) {
	if t.letters == 0 {
		return
	}
	single := t.letters == 1 && !isDigit(t.word[0])
	if single && t.initial && t.dotted && len(t.last) < longestInitials {
		t.last = append(t.last, t.word...)
	} else {
		if len(t.last) > 0 {
			emit(t.last)
		}
		t.last, t.word = t.word, t.last
	}
	t.initial = single
	t.word, t.letters = t.word[:0], 0
	t.dotted, t.spaced = false, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

type runeKind uint8

const (
	isGap  runeKind = iota
	isWord          // a letter or digit
	isMark          // a combining accent: belongs to the letter before, says nothing
)

// foldRune returns what a character beyond ASCII contributes to a word.
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

// asciiFold maps letters and digits to their folded form, the rest to nothing.
var asciiFold = func() (table [utf8.RuneSelf]byte) {
	for c := range table {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = byte(unicode.ToLower(r))
		}
	}
	return table
}()

// latinFold maps the accented letters of the languages that issuers' names
// come in.
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

// Stem returns a folded word without its plural and gender ending. It is a
// light stemmer in the manner of J. Savoy's: it needs no accents, and it does
// not reach into verbs and derivations, because two companies' names must not
// fall together.
func Stem(word string) string {
	if n := len(word); n < 3 || isDigit(word[n-1]) {
		return word
	}
	word = singular(word)
	n := len(word)
	switch {
	case n >= 5 && (word[n-1] == 'o' || word[n-1] == 'a'): // dividendo, junta
		return word[:n-1]
	case n >= 4 && word[n-1] == 'e': // balance
		return word[:n-1]
	case word[n-1] == 'z': // raiz, raices
		return word[:n-1] + "c"
	}
	return word
}

func singular(word string) string {
	n := len(word)
	switch {
	case n >= 7 && strings.HasSuffix(word, "eses"): // intereses, interes
		return word[:n-4]
	case n >= 5 && strings.HasSuffix(word, "es"): // acciones, balances
		return word[:n-2]
	case n >= 4 && (strings.HasSuffix(word, "os") || strings.HasSuffix(word, "as")):
		return word[:n-1]
	}
	return word
}

// legalForms never tell one company from another.
var legalForms = map[string]bool{
	"sa": true, "sau": true, "sl": true, "slu": true, "sll": true, "sme": true, "sad": true,
	"sc": true, "scoop": true, "nv": true, "bv": true, "plc": true, "ag": true, "se": true,
	"inc": true, "ltd": true, "llc": true, "spa": true, "sarl": true, "gmbh": true, "ab": true, "asa": true,
}
