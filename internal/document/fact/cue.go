package fact

import (
	"embed"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// The words of the rules are data: words/*.txt has, for each class, the phrases that
// belong to it. A star at the end of a word matches any ending.
//
//go:embed words/*.txt
var wordFiles embed.FS

var phrases = newIndex(lexicon.Load(wordFiles, "words"))

// class is a group of phrases that mean the same to the rules. Its name is that of the
// section in words/*.txt.
type class string

// cue is a phrase in a part of a document.
type cue struct {
	class class
	from  int // first token
	to    int // behind the last token
}

// phrase is a sequence of folded words.
type phrase struct {
	class class
	words []pattern
}

// pattern is a folded word, or the beginning of one.
type pattern struct {
	text string
	open bool // any ending
}

func (p pattern) matches(word string) bool {
	return word == p.text || p.open && strings.HasPrefix(word, p.text)
}

// bit returns a bit for the class. Two classes may have the same: a part without the bit
// has no cue of the class, and most parts have only a few cues.
func (c class) bit() uint64 {
	if c == "" {
		return 0
	}
	return 1 << ((uint(len(c))*7 + uint(c[0])*3 + uint(c[len(c)-1]) + uint(c[len(c)/2])*5) % 64)
}

func bitsOf(classes []class) (bits uint64) {
	for _, c := range classes {
		bits |= c.bit()
	}
	return bits
}

// index finds the phrases of all classes in one pass over the words of a text.
type index struct {
	begins  [1 << 16]bool       // by the first two letters of a phrase
	byWord  map[string][]phrase // by their first word
	byStart map[string][]phrase // by the first letters of a first word with a star
	classes map[class]bool
	known   map[string]bool // all words
}

// startOf returns a number for the first two bytes of a word.
func startOf(word string) uint16 {
	if len(word) < 2 {
		return uint16(word[0])
	}
	return uint16(word[0])<<8 | uint16(word[1])
}

// startLetters is the number of letters that a first word with a star needs.
const startLetters = 3

func newIndex(lists lexicon.Lists) *index {
	x := &index{
		byWord:  map[string][]phrase{},
		byStart: map[string][]phrase{},
		classes: map[class]bool{},
		known:   map[string]bool{},
	}
	x.addKnown(strings.Fields(months))
	for name, body := range lists {
		x.classes[class(name)] = true
		separator := func(r rune) bool { return r == ';' || r == '\n' }
		for text := range strings.FieldsFuncSeq(body, separator) {
			words := strings.Fields(text)
			if len(words) == 0 || strings.HasPrefix(words[0], "#") {
				continue
			}
			x.addKnown(words)
			p := phrase{class: class(name)}
			for _, w := range words {
				text, open := strings.CutSuffix(w, "*")
				p.words = append(p.words, pattern{text, open})
			}
			first := p.words[0]
			x.begins[startOf(first.text)] = true
			if first.open {
				start := first.text[:startLetters]
				x.byStart[start] = append(x.byStart[start], p)
			} else {
				x.byWord[first.text] = append(x.byWord[first.text], p)
			}
		}
	}
	return x
}

// find returns the phrases in a text, in the order of their first words.
func (x *index) find(tokens []value.Token) (found []cue) {
	for i := range tokens {
		word := tokens[i].Folded
		if word == "" || !x.begins[startOf(word)] {
			continue
		}
		for _, p := range x.byWord[word] {
			if to, ok := p.at(tokens, i); ok {
				found = append(found, cue{p.class, i, to})
			}
		}
		if len(word) < startLetters {
			continue
		}
		for _, p := range x.byStart[word[:startLetters]] {
			if to, ok := p.at(tokens, i); ok {
				found = append(found, cue{p.class, i, to})
			}
		}
	}
	return found
}

// at reports whether the phrase begins at a token, and returns the end. Hyphens, quotes,
// brackets and apostrophes between the words do not matter.
func (p *phrase) at(tokens []value.Token, i int) (end int, ok bool) {
	for n, want := range p.words {
		for n > 0 && i < len(tokens) && tokens[i].Folded == "" && isLink(tokens[i].Text) {
			i++
		}
		if i >= len(tokens) || !want.matches(tokens[i].Folded) {
			return 0, false
		}
		i++
	}
	return i, true
}

// isLink reports whether a mark may stand between the words of a phrase.
func isLink(mark string) bool {
	switch mark {
	case "-", "–", "‑", "'", "’", "\"", "«", "»", "“", "”", "(", ")", "/", "º", "ª":
		return true
	}
	return false
}
