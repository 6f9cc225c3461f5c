package document

import (
	"context"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// maxWords is the number of words in a search. Every word is searched on every
// page that is returned.
const maxWords = 32

// Find returns the ids of the reports whose documents match a search text, in no
// particular order.
func Find(ctx context.Context, docs store.Documents, text string) ([]string, error) {
	q := query(text)
	if q == nil {
		return nil, fault.New(fault.Invalid, "A search in documents needs at least one word to find.")
	}
	if n := wordsOf(q); n > maxWords {
		return nil, fault.New(fault.Invalid, "A search in documents takes %d words at most, those of phrases included, not %d.", maxWords, n)
	}
	return docs.FindInDocuments(ctx, *q)
}

// wordsOf counts the words of a query.
func wordsOf(q *store.WordQuery) (n int) {
	for _, phrases := range append(q.All, q.None) {
		for _, p := range phrases {
			if !p.Stem { // the stem of a word that is counted already
				n += len(p.Words)
			}
		}
	}
	return n
}

// Place is a document that matches a search.
type Place struct {
	SHA256 string
	Pages  int // number of its pages
}

// pagesAtOnce is about how many pages are loaded at once: a document may have
// thousands.
const pagesAtOnce = 500

// Snippets returns the snippets of documents that match a search text, by the
// hashes of the documents.
func Snippets(ctx context.Context, docs store.Documents, text string, places ...Place) (map[string][]Snippet, error) {
	f := newFinder(text)
	out := make(map[string][]Snippet, len(places))
	for len(places) > 0 {
		var some []string
		for pages := 0; len(places) > 0 && (len(some) == 0 || pages+places[0].Pages <= pagesAtOnce); places = places[1:] {
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
