package summary

import (
	"strings"
	"unicode"
	"unicode/utf8"
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
	if plain, ok := plainLetters[r]; ok {
		return plain
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return unicode.ToLower(r)
	}
	return isGap
}

// hidden reports whether a character is invisible: control characters, direction
// marks, joiners, tags.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\r', '\f':
		return false
	case '\u034f', '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800':
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

// plainLetters maps accented letters, and letters of other scripts with the same
// shape, to plain letters.
var plainLetters = func() map[rune]rune {
	table := map[rune]rune{}
	for plain, others := range map[rune]string{
		'a': "áàâäãåāăąÁÀÂÄÃÅĀĂĄаΑА", 'b': "ВΒ", 'c': "çćčÇĆČсС", 'e': "éèêëēęěÉÈÊËĒĘĚеЕΕ",
		'g': "ğĞ", 'h': "НΗ", 'i': "íìîïīıÍÌÎÏĪİіІΙ", 'j': "ј", 'k': "кКΚ", 'l': "łŁ", 'm': "МΜ",
		'n': "ñńňÑŃŇΝ", 'o': "óòôöõøōőÓÒÔÖÕØŌŐоОοΟ", 'p': "рРΡ", 's': "śšşŚŠŞѕЅ", 't': "ТΤ",
		'u': "úùûüūűÚÙÛÜŪŰ", 'x': "хХΧ", 'y': "ýÿÝŸуΥ", 'z': "źżžŹŻŽΖ",
	} {
		for _, r := range others {
			table[r] = plain
		}
	}
	return table
}()

// squeeze makes every run of white space one space.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// lexicon is a set of folded words and prefixes.
type lexicon struct {
	words      map[string]bool
	beginnings []string
}

// newLexicon reads words separated by spaces; a star matches any ending.
func newLexicon(words string) lexicon {
	l := lexicon{words: map[string]bool{}}
	for _, w := range strings.Fields(words) {
		if beginning, ok := strings.CutSuffix(w, "*"); ok {
			l.beginnings = append(l.beginnings, beginning)
		} else {
			l.words[w] = true
		}
	}
	return l
}

func (l lexicon) has(word string) bool { return l.entry(word) != "" }

// entry returns the word or prefix of the lexicon that matches a word, or "".
func (l lexicon) entry(word string) string {
	if l.words[word] {
		return word
	}
	for _, b := range l.beginnings {
		if strings.HasPrefix(word, b) {
			return b
		}
	}
	return ""
}

// phrases are sequences of folded words; a star at the end matches any ending.
type phrases []string

// newPhrases reads one phrase per line.
func newPhrases(lines string) phrases {
	var p phrases
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if open, ok := strings.CutSuffix(line, "*"); ok {
			p = append(p, " "+open)
		} else if line != "" {
			p = append(p, " "+line+" ")
		}
	}
	return p
}

// in reports whether a folded text contains one of them.
func (p phrases) in(folded string) bool {
	for _, phrase := range p {
		if strings.Contains(folded, phrase) {
			return true
		}
	}
	return false
}

// count returns how many of them a folded text contains.
func (p phrases) count(folded string) int {
	n := 0
	for _, phrase := range p {
		if strings.Contains(folded, phrase) {
			n++
		}
	}
	return n
}

// at reports whether a folded text begins with one of them.
func (p phrases) at(folded string) bool {
	for _, phrase := range p {
		if strings.HasPrefix(folded, phrase) {
			return true
		}
	}
	return false
}

// end reports whether a folded text ends with one of them.
func (p phrases) end(folded string) bool {
	for _, phrase := range p {
		if strings.HasSuffix(folded, phrase) {
			return true
		}
	}
	return false
}
