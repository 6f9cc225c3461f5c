package document

import (
	"pregon/internal/document/extract"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/text"
)

// Parts end with a page where they can, since few phrases run from one page to
// the next, and are small enough that every engine keeps the place of every
// word.
const (
	usualPart = 2000 // words after which a part ends with its page
	overlap   = 16   // words of a part that the next repeats when a page had to be cut
)

// Index cuts the words of the texts of pages into what the store indexes.
func Index(texts []string) []store.Part {
	pages := make([]extract.Page, len(texts))
	for i, text := range texts {
		pages[i].Text = text
	}
	return parts(pages)
}

// parts cuts the words of pages into what the store indexes.
func parts(pages []extract.Page) []store.Part {
	var c cutter
	for _, p := range pages {
		for _, w := range text.Words(p.Text) {
			c.add(w)
		}
		if len(c.words) >= usualPart {
			c.end()
		}
	}
	c.end()
	return c.parts
}

// cutter fills parts with words.
type cutter struct {
	parts []store.Part
	words []string
	seen  map[string]int // how often each word is in the part
	stems map[string]bool
}

func (c *cutter) add(word string) {
	if len(word) > store.MostWordBytes {
		return // nobody looks for it
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

// query turns a search text into what the store looks for. It is nil when the
// text asks for nothing that a document could have.
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
