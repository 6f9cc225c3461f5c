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
	first   node              // what begins phrases
	byStart map[string][]edge // words with a star that begin phrases, by their first letters
	begins  [1 << 16]bool     // by the first two letters of such a word
	classes map[class]bool
	words   map[string]*word
}

// word is what the rules know of a word. Each word of a document is looked up once; what
// phrases have behind it is then found by its number, without its letters.
type word struct {
	number  int
	begins  *node  // behind the word as the first one of phrases; nil if it begins none
	open    []edge // words with a star that begin phrases, and may match the word
	known   bool   // a phrase has it, or a value
	english bool   // one of the commonest words of the language
	spanish bool
}

// node is a place in phrases: behind some words with which phrases begin. Most phrases
// begin with one of a few words such as "de", so that they are compared all at once.
type node struct {
	classes []class // of the phrases that end here
	words   []step  // what follows a whole word, in the order of their numbers
	open    []edge  // what follows a word with a star
}

type step struct {
	word int // its number
	next *node
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
		words:   map[string]*word{},
	}
	x.addKnown(strings.Fields(months))
	x.addLanguages()
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
		x.begins[startOf(e.start)] = true
		x.byStart[e.start[:startLetters]] = append(x.byStart[e.start[:startLetters]], e)
	}
	for text, w := range x.words {
		w.begins = x.first.after(w)
		w.open = x.openAt(text)
	}
	return x
}

// word returns the word with some letters, which it adds if it is new.
func (x *index) word(text string) *word {
	w := x.words[text]
	if w == nil {
		w = &word{number: len(x.words)}
		x.words[text] = w
	}
	return w
}

// add adds a phrase.
func (x *index) add(c class, words []string) {
	at := &x.first
	for _, text := range words {
		if start, isOpen := strings.CutSuffix(text, "*"); isOpen {
			at = at.behindOpen(start)
		} else {
			at = at.behind(x.word(text))
		}
	}
	at.classes = append(at.classes, c)
}

// behind returns the node behind a whole word, which it adds if it is new.
func (n *node) behind(w *word) *node {
	i, found := n.search(w)
	if !found {
		n.words = slices.Insert(n.words, i, step{w.number, new(node)})
	}
	return n.words[i].next
}

// after returns the node behind a whole word, or nil.
func (n *node) after(w *word) *node {
	if i, found := n.search(w); found {
		return n.words[i].next
	}
	return nil
}

func (n *node) search(w *word) (at int, found bool) {
	return slices.BinarySearchFunc(n.words, w.number, func(s step, number int) int { return s.word - number })
}

// behindOpen returns the node behind a word with a star, which it adds if it is new.
func (n *node) behindOpen(start string) *node {
	for _, e := range n.open {
		if e.start == start {
			return e.next
		}
	}
	next := new(node)
	n.open = append(n.open, edge{start, next})
	return next
}

// openAt returns the words with a star that begin phrases and match a word. It may return
// others too.
func (x *index) openAt(text string) []edge {
	if len(text) < startLetters || !x.begins[startOf(text)] {
		return nil
	}
	return x.byStart[text[:startLetters]]
}

// find returns the phrases in a text, in the order of their first words.
func (x *index) find(tokens []value.Token) []cue {
	return x.appendCues(nil, tokens, x.appendWords(nil, tokens))
}

// appendWords appends what the rules know of each token to a slice: nil for a mark, and for
// a word that they do not know.
func (x *index) appendWords(words []*word, tokens []value.Token) []*word {
	for i := range tokens {
		words = append(words, x.words[tokens[i].Folded])
	}
	return words
}

// appendCues is like find but appends them to a slice.
func (x *index) appendCues(found []cue, tokens []value.Token, words []*word) []cue {
	for i, w := range words {
		var open []edge
		switch {
		case w != nil:
			if w.begins != nil {
				found = w.begins.find(tokens, words, i, i+1, found)
			}
			open = w.open
		default:
			open = x.openAt(tokens[i].Folded)
		}
		for _, e := range open {
			if strings.HasPrefix(tokens[i].Folded, e.start) {
				found = e.next.find(tokens, words, i, i+1, found)
			}
		}
	}
	return found
}

// find appends the phrases that begin at a token and of which the words before another
// token led to the node.
func (n *node) find(tokens []value.Token, words []*word, from, to int, found []cue) []cue {
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
	if w := words[i]; w != nil {
		if next := n.after(w); next != nil {
			found = next.find(tokens, words, from, i+1, found)
		}
	}
	for _, e := range n.open {
		if strings.HasPrefix(tokens[i].Folded, e.start) {
			found = e.next.find(tokens, words, from, i+1, found)
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
