package document

import (
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/text"
)

// A part ends with a page if possible, since few phrases continue on the next
// page. Parts are small enough for every search engine to index the position of
// every word.
const (
	partWords = 2000 // words after which a part ends with its page
	overlap   = 16   // words that a part repeats from the part before, if a page had to be cut
)

// Index splits the words of pages into the parts that the store indexes.
func Index(pages []string) []store.Part {
	var c cutter
	for _, page := range pages {
		for _, w := range text.Words(page) {
			c.add(w)
		}
		if len(c.words) >= partWords {
			c.end()
		}
	}
	c.end()
	return c.parts
}

// cutter splits words into parts.
type cutter struct {
	parts []store.Part
	words []string
	seen  map[string]int // how often each word is in the part
	stems map[string]bool
}

func (c *cutter) add(word string) {
	if len(word) > store.MostWordBytes {
		return // too long for a search
	}
	if len(c.words) == store.MostPartWords || c.seen[word] == store.MostWordRepeat {
		again := c.words[max(0, len(c.words)-overlap):]
		c.end()
		for _, w := range again {
			c.put(w)
		}
	}
	c.put(word)
}

func (c *cutter) put(word string) {
	if c.seen == nil {
		c.seen, c.stems = map[string]int{}, map[string]bool{}
	}
	c.words = append(c.words, word)
	c.seen[word]++
	c.stems[text.Stem(word)] = true
}

func (c *cutter) end() {
	if len(c.words) == 0 {
		return
	}
	p := store.Part{Words: c.words}
	for s := range c.stems {
		if s != "" {
			p.Stems = append(p.Stems, s)
		}
	}
	c.parts = append(c.parts, p)
	c.words, c.seen, c.stems = nil, nil, nil
}

// query returns the store query for a search text, or nil if the text has no
// words to find.
func query(text string) *store.WordQuery {
	all, none := search.Parse(text).Wanted()
	if len(all) == 0 {
		return nil
	}
	q := &store.WordQuery{}
	for _, w := range all {
		q.All = append(q.All, alternatives(w))
	}
	for _, w := range none {
		q.None = append(q.None, alternatives(w)...)
	}
	return q
}

func alternatives(w search.Wanted) []store.Phrase {
	out := []store.Phrase{{Words: w.Words, Prefix: w.Prefix}}
	if w.Stem != "" {
		out = append(out, store.Phrase{Words: []string{w.Stem}, Stem: true})
	}
	return out
}
