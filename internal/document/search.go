package document

import (
	"context"
	"slices"

	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
)

// maxWords is the number of words in a search. Every word is searched on every
// page that is returned.
const maxWords = 32

// Query returns the query of the index for a search.
func Query(asked search.Query) (index.Query, error) {
	var q index.Query
	all, none, err := parse(asked)
	if err != nil {
		return q, fault.New(fault.Invalid, "The search %v.", err)
	}
	for _, w := range all {
		q.All = append(q.All, alternatives(w))
	}
	for _, w := range none {
		q.None = append(q.None, alternatives(w)...)
	}
	return q, nil
}

// parse returns what a search wants in a document, and what it excludes. It fails,
// Invalid, if its text has no word to find, too many, or one that is too long. The error
// completes a sentence that begins with the name of the text.
func parse(asked search.Query) (all, none []search.Wanted, err error) {
	all, none = asked.Wanted()
	if len(all) == 0 {
		return nil, nil, fault.New(fault.Invalid, "needs at least one word to find in documents")
	}
	words := 0
	for _, w := range slices.Concat(all, none) {
		words += len(w.Words)
		if slices.ContainsFunc(w.Words, func(word string) bool { return len(word) > index.MaxWordBytes }) {
			return nil, nil, fault.New(fault.Invalid,
				"has a word of more than %d bytes, and documents are not searched for such words", index.MaxWordBytes)
		}
	}
	if words > maxWords {
		return nil, nil, fault.New(fault.Invalid,
			"has %d words: a search in documents takes %d at most, those of phrases included", words, maxWords)
	}
	return all, none, nil
}

func alternatives(w search.Wanted) []index.Phrase {
	out := []index.Phrase{{Words: w.Words, Prefix: w.Prefix}}
	if w.Stem != "" {
		out = append(out, index.Phrase{Words: []string{w.Stem}, Stem: true})
	}
	for _, other := range w.Or {
		out = append(out, alternatives(other)...)
	}
	return out
}

// Place is a document that matches a search.
type Place struct {
	SHA256 string
	Pages  int // number of its pages
}

// pagesAtOnce is about how many pages are loaded at once: a document may have
// thousands.
const pagesAtOnce = 500

// Snippets returns the snippets of documents that match a search, by the hashes of the
// documents.
func Snippets(
	ctx context.Context,
	docs store.Documents,
	asked search.Query,
	places ...Place,
) (map[string][]Snippet, error) {
	f := newFinder(asked)
	out := make(map[string][]Snippet, len(places))
	for len(places) > 0 {
		var some []string
		for pages := 0; len(places) > 0 &&
			(len(some) == 0 || pages+places[0].Pages <= pagesAtOnce); places = places[1:] {
			some = append(some, places[0].SHA256)
			pages += places[0].Pages
		}
		texts, err := docs.DocumentPages(ctx, some...)
		if err != nil {
			return nil, err
		}
		for hash, pages := range texts {
			out[hash] = f.snippets(pages)
		}
	}
	return out, nil
}
