package document

import (
	"slices"
	"strings"

	"pregon/internal/document/index"
	"pregon/internal/search"
	"pregon/internal/text"
)

// Matcher is a compiled search text that is compared with documents in memory.
// It finds what a search in documents finds.
type Matcher struct {
	all, none []search.Wanted
}

// NewMatcher compiles a search. See parse for when it fails.
func NewMatcher(asked search.Query) (*Matcher, error) {
	all, none, err := parse(asked)
	if err != nil {
		return nil, err
	}
	return &Matcher{all, none}, nil
}

// Content holds the words of a document with their positions, so that any number
// of searches is compared with it at little cost. It is immutable. The zero value has
// no words.
type Content struct {
	words     []string // each once, sorted
	positions []int32  // of all words, grouped by word, in order
	starts    []int32  // of each word in positions, and the length of positions
	stems     map[string]bool
}

// NewContent splits the pages of a document into words.
func NewContent(pages []string) *Content {
	ids := map[string]int32{}
	var (
		words     []string // by id
		sequence  []int32  // the ids of the words of the document
		tokenizer text.Tokenizer
	)
	for _, page := range pages {
		tokenizer.Words(page, func(word []byte) {
			if len(word) > index.MaxWordBytes {
				return // too long for a search
			}
			id, ok := ids[string(word)]
			if !ok {
				id = int32(len(words))
				words = append(words, string(word))
				ids[words[id]] = id
			}
			sequence = append(sequence, id)
		})
	}
	c := &Content{words: slices.Clone(words), stems: make(map[string]bool, len(words))}
	slices.Sort(c.words)
	rank := make([]int32, len(words)) // the index in c.words of each id
	for i, word := range c.words {
		rank[ids[word]] = int32(i)
		c.stems[text.Stem(word)] = true
	}
	delete(c.stems, "")
	c.place(sequence, rank)
	return c
}

// place groups the positions of a sequence of words by their rank.
func (c *Content) place(sequence, rank []int32) {
	c.starts = make([]int32, len(rank)+1)
	for _, id := range sequence {
		c.starts[rank[id]+1]++
	}
	for i := range rank {
		c.starts[i+1] += c.starts[i]
	}
	next := slices.Clone(c.starts)
	c.positions = make([]int32, len(sequence))
	for at, id := range sequence {
		c.positions[next[rank[id]]] = int32(at)
		next[rank[id]]++
	}
}

// size returns about how many bytes the content takes.
func (c *Content) size() int {
	n := 4*len(c.positions) + 4*len(c.starts)
	for _, word := range c.words {
		n += 2*len(word) + 64 // the word and its stem
	}
	return n
}

// Match reports whether a document has the words of the search text.
func (m *Matcher) Match(c *Content) bool {
	for _, w := range m.all {
		if !c.has(w) {
			return false
		}
	}
	return !slices.ContainsFunc(m.none, c.has)
}

func (c *Content) has(w search.Wanted) bool {
	return c.hasWords(w) || slices.ContainsFunc(w.Or, c.hasWords)
}

func (c *Content) hasWords(w search.Wanted) bool {
	if len(w.Words) > 1 {
		return c.hasPhrase(w.Words)
	}
	i, found := slices.BinarySearch(c.words, w.Words[0])
	return found || w.Stem != "" && c.stems[w.Stem] ||
		w.Prefix && i < len(c.words) && strings.HasPrefix(c.words[i], w.Words[0])
}

// hasPhrase reports whether the words are adjacent somewhere. It starts from the
// rarest of them.
func (c *Content) hasPhrase(words []string) bool {
	places := make([][]int32, len(words))
	rarest := 0
	for i, word := range words {
		n, found := slices.BinarySearch(c.words, word)
		if !found {
			return false
		}
		places[i] = c.positions[c.starts[n]:c.starts[n+1]]
		if len(places[i]) < len(places[rarest]) {
			rarest = i
		}
	}
	for _, at := range places[rarest] {
		first := at - int32(rarest)
		adjacent := true
		for i := 0; i < len(words) && adjacent; i++ {
			_, adjacent = slices.BinarySearch(places[i], first+int32(i))
		}
		if adjacent {
			return true
		}
	}
	return false
}
