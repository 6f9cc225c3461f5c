package search

import "pregon/internal/text"

// Span is a part of a text, in bytes.
type Span struct{ From, To int }

// Highlighter finds the matches of one query in many texts.
type Highlighter struct{ wanted []Wanted }

// highlightedWords is the maximum number of words that a Highlighter looks for. It
// compares each of them with every word of a text.
const highlightedWords = 64

// NewHighlighter returns a Highlighter of a query. It ignores excluded terms, and
// those after the first 64 words.
func NewHighlighter(query Query) Highlighter {
	all, _ := query.Wanted()
	words := 0
	for i, w := range all {
		if words += w.Len(); words > highlightedWords {
			return Highlighter{all[:i]}
		}
	}
	return Highlighter{all}
}

// Spans returns the parts of a text that the query matches, in their order. They do
// not overlap; adjacent words are separate unless they match as a phrase.
func (h Highlighter) Spans(s string) (spans []Span) {
	if len(h.wanted) == 0 {
		return nil
	}
	var words []string
	var places []Span
	var t text.Tokenizer
	t.Words(s, func(word []byte) {
		from, to := t.Span()
		words, places = append(words, string(word)), append(places, Span{from, to})
	})
	for i := range words {
		n := h.match(words[i:])
		if n == 0 {
			continue
		}
		match := Span{places[i].From, places[i+n-1].To}
		if last := len(spans) - 1; last >= 0 && match.From < spans[last].To {
			spans[last].To = max(spans[last].To, match.To)
		} else {
			spans = append(spans, match)
		}
	}
	return spans
}

// match returns the number of words of the longest match at the beginning of words.
func (h Highlighter) match(words []string) (n int) {
	for _, w := range h.wanted {
		n = max(n, w.At(words))
	}
	return n
}
