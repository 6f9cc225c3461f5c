package document

import (
	"context"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// mostWanted is how much may be looked for at once: each costs a look at every
// page that is shown.
const mostWanted = 32

// Find returns the ids of the reports whose documents have what a search text
// asks for, in no particular order.
func Find(ctx context.Context, docs store.Documents, text string) ([]string, error) {
	q := query(text)
	if q == nil {
		return nil, fault.New(fault.Invalid, "A search in documents needs at least one word that is to be found.")
	}
	if n := wordsOf(q); n > mostWanted {
		return nil, fault.New(fault.Invalid, "A search in documents takes %d words at most, those of phrases included, not %d.", mostWanted, n)
	}
	return docs.FindInDocuments(ctx, *q)
}

// wordsOf counts the words that a query looks for.
func wordsOf(q *store.WordQuery) (n int) {
	for _, phrases := range append(q.All, q.None) {
		for _, p := range phrases {
			if !p.Stem { // which is the same word in another form
				n += len(p.Words)
			}
		}
	}
	return n
}

// Place is a document in which something was found.
type Place struct {
	SHA256 string
	Pages  int // how many it has
}

// atOnce is how many pages are looked through at once, about: a document may
// have thousands.
const atOnce = 500

// Snippets shows, by the hashes of documents, where in them a search text is.
func Snippets(ctx context.Context, docs store.Documents, text string, places ...Place) (map[string][]Snippet, error) {
	f := newFinder(text)
	out := make(map[string][]Snippet, len(places))
	for len(places) > 0 {
		var some []string
		for pages := 0; len(places) > 0 && (len(some) == 0 || pages+places[0].Pages <= atOnce); places = places[1:] {
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
