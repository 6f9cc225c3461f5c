package search

import (
	"strings"
	"unicode"
)

// Fold returns the words of a text, folded and joined by single spaces: two
// texts that differ only in case, accents and punctuation fold alike.
func Fold(text string) string { return strings.Join(Words(text), " ") }

// Words splits a text into its folded words.
func Words(text string) []string {
	var t tokenizer
	for _, c := range text {
		t.rune(c)
	}
	return t.end()
}

// tokenizer gathers words one character at a time. Initials ("S.A.", "S. A.")
// are joined as they pass: a single letter that follows a single letter and a
// dot continues that letter's word.
type tokenizer struct {
	words    []string
	word     []byte
	letters  int  // characters in word
	initial  bool // the last word is made of initials and may go on
	dotted   bool // a dot, and at most spaces, since the last word
	hasSpace bool // a space since that dot
}

// longestInitials bounds what joining costs when somebody sends a page of them.
const longestInitials = 8

func (t *tokenizer) rune(c rune) {
	folded, kind := foldRune(c)
	switch kind {
	case isWord:
		t.word = append(t.word, folded...)
		t.letters++
	case isMark:
	default:
		t.flush()
		switch {
		case c == '.' && !t.dotted:
			t.dotted = true
		case c == ' ' && t.dotted && !t.hasSpace:
			t.hasSpace = true
		default:
			t.initial = false
		}
	}
}

func (t *tokenizer) flush() {
	if t.letters == 0 {
		return
	}
	single := t.letters == 1 && !isDigit(t.word[0])
	if last := len(t.words) - 1; single && t.initial && t.dotted && len(t.words[last]) < longestInitials {
		t.words[last] += string(t.word)
	} else {
		t.words = append(t.words, string(t.word))
	}
	t.initial = single
	t.word, t.letters = t.word[:0], 0
	t.dotted, t.hasSpace = false, false
}

func (t *tokenizer) end() []string {
	t.flush()
	return t.words
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

type runeKind uint8

const (
	isGap  runeKind = iota
	isWord          // a letter or digit
	isMark          // a combining accent: belongs to the letter before, says nothing
)

// foldRune returns what a character contributes to a word.
func foldRune(c rune) (string, runeKind) {
	switch {
	case c < 0x80:
		s := asciiFold[c]
		if s == "" {
			return "", isGap
		}
		return s, isWord
	case c >= 0x300 && c <= 0x36f:
		return "", isMark
	}
	if s, ok := latinFold[c]; ok {
		return s, isWord
	}
	if unicode.IsLetter(c) || unicode.IsDigit(c) {
		return string(unicode.ToLower(c)), isWord
	}
	return "", isGap
}

// asciiFold maps letters and digits to their folded form, the rest to nothing.
var asciiFold = func() (table [0x80]string) {
	for c := range table {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			table[c] = string(unicode.ToLower(r))
		}
	}
	return table
}()

// latinFold maps the accented letters of the languages that issuers' names
// come in.
var latinFold = func() map[rune]string {
	table := map[rune]string{}
	for plain, accented := range map[string]string{
		"a": "áàâäãåāăąªÁÀÂÄÃÅĀĂĄ", "ae": "æÆ", "c": "çćčĉċÇĆČĈĊ", "d": "ďđðĎĐÐ",
		"e": "éèêëēĕėęěÉÈÊËĒĔĖĘĚ", "g": "ğĝġģĞĜĠĢ", "h": "ĥħĤĦ", "i": "íìîïĩīĭįıÍÌÎÏĨĪĬĮİ",
		"j": "ĵĴ", "k": "ķĶ", "l": "łĺļľŀŁĹĻĽĿ", "n": "ñńņňÑŃŅŇ", "o": "óòôöõøōŏőºÓÒÔÖÕØŌŎŐ",
		"oe": "œŒ", "r": "ŕŗřŔŖŘ", "s": "śŝşšșŚŜŞŠȘ", "ss": "ßẞ", "t": "ţťŧțŢŤŦȚ", "th": "þÞ",
		"u": "úùûüũūŭůűųÚÙÛÜŨŪŬŮŰŲ", "w": "ŵŴ", "y": "ýÿŷÝŸŶ", "z": "źżžŹŻŽ", "fi": "ﬁ", "fl": "ﬂ",
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
