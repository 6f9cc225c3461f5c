package fact

import (
	"embed"
	"maps"
	"slices"
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

// classSet is a set of classes that may have more than were added: a part of which the set
// lacks a class has no cue of it. Most parts have only a few cues.
type classSet [4]uint64

// place returns the bit of a class. Two classes may have the same.
func (c class) place() (word, bit uint) {
	if c == "" {
		return 0, 0
	}
	sum := uint(len(c))*7 + uint(c[0])*31 + uint(c[len(c)-1])*3 + uint(c[len(c)/2])*17
	return sum / 64 % 4, sum % 64
}

func (s *classSet) add(c class) {
	word, bit := c.place()
	s[word] |= 1 << bit
}

func (s *classSet) mayHave(c class) bool {
	word, bit := c.place()
	return s[word]&(1<<bit) != 0
}

// index finds the phrases of all classes in one pass over the words of a text.
type index struct {
	begins  [1 << 16]bool     // by the first two letters of a phrase
	first   node              // whole words
	byStart map[string][]edge // words with a star, by their first letters
	classes map[class]bool
	known   map[string]bool // all words
}

// node is a place in phrases: behind some words with which phrases begin. Most phrases
// begin with one of a few words such as "de", so that they are compared all at once.
type node struct {
	classes []class          // of the phrases that end here
	words   map[string]*node // what follows a whole word
	open    []edge           // what follows a word with a star
}

type edge struct {
	start string // of the word
	next  *node
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
		byStart: map[string][]edge{},
		classes: map[class]bool{},
		known:   map[string]bool{},
	}
	x.addKnown(strings.Fields(months))
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		x.classes[class(name)] = true
		separator := func(r rune) bool { return r == ';' || r == '\n' }
		for text := range strings.FieldsFuncSeq(lists[name], separator) {
			words := strings.Fields(text)
			if len(words) == 0 || strings.HasPrefix(words[0], "#") {
				continue
			}
			x.addKnown(words)
			x.add(class(name), words)
		}
	}
	for _, e := range x.first.open {
		x.byStart[e.start[:startLetters]] = append(x.byStart[e.start[:startLetters]], e)
	}
	return x
}

// add adds a phrase.
func (x *index) add(c class, words []string) {
	x.begins[startOf(words[0])] = true
	at := &x.first
	for _, w := range words {
		at = at.behind(w)
	}
	at.classes = append(at.classes, c)
}

// behind returns the node behind a word, which it adds if it is new.
func (n *node) behind(word string) *node {
	start, isOpen := strings.CutSuffix(word, "*")
	if !isOpen {
		next := n.words[word]
		if next == nil {
			next = new(node)
			if n.words == nil {
				n.words = map[string]*node{}
			}
			n.words[word] = next
		}
		return next
	}
	for _, e := range n.open {
		if e.start == start {
			return e.next
		}
	}
	next := new(node)
	n.open = append(n.open, edge{start, next})
	return next
}

// find returns the phrases in a text, in the order of their first words.
func (x *index) find(tokens []value.Token) []cue {
	return x.appendCues(nil, tokens)
}

// appendCues is like find but appends them to a slice.
func (x *index) appendCues(found []cue, tokens []value.Token) []cue {
	for i := range tokens {
		word := tokens[i].Folded
		if word == "" || !x.begins[startOf(word)] {
			continue
		}
		if next := x.first.words[word]; next != nil {
			found = next.find(tokens, i, i+1, found)
		}
		if len(word) < startLetters {
			continue
		}
		for _, e := range x.byStart[word[:startLetters]] {
			if strings.HasPrefix(word, e.start) {
				found = e.next.find(tokens, i, i+1, found)
			}
		}
	}
	return found
}

// find appends the phrases that begin at a token and of which the words before another
// token led to the node.
func (n *node) find(tokens []value.Token, from, to int, found []cue) []cue {
	for _, c := range n.classes {
		found = append(found, cue{c, from, to})
	}
	if n.words == nil && n.open == nil {
		return found
	}
	i := behindLinks(tokens, to)
	if i >= len(tokens) || tokens[i].Folded == "" {
		return found
	}
	word := tokens[i].Folded
	if next := n.words[word]; next != nil {
		found = next.find(tokens, from, i+1, found)
	}
	for _, e := range n.open {
		if strings.HasPrefix(word, e.start) {
			found = e.next.find(tokens, from, i+1, found)
		}
	}
	return found
}

// behindLinks returns the next token that is no mark between the words of a phrase.
func behindLinks(tokens []value.Token, i int) int {
	for i < len(tokens) && tokens[i].Folded == "" && isLink(tokens[i].Text) {
		i++
	}
	return i
}

// isLink reports whether a mark may stand between the words of a phrase.
func isLink(mark string) bool {
	switch mark {
	case "-", "–", "‑", "'", "’", "\"", "«", "»", "“", "”", "(", ")", "/", "º", "ª":
		return true
	}
	return false
}
