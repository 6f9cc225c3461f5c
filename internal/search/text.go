package search

import (
	"strings"

	"pregon/internal/text"
)

// Wanted is a sequence of adjacent words that a query searches for in a text.
type Wanted struct {
	Words  []string // folded
	Stem   string   // of a single word that may occur in another form; else ""
	Prefix bool     // the word may be the beginning of one
	Or     []Wanted // what the text may have instead
}

// Wanted returns the conditions of a query on a text: the text must have all of
// all, and none of none. Identifiers are searched for as words.
func (q Query) Wanted() (all, none []Wanted) {
	return wanted(q.must), wanted(q.not)
}

func wanted(terms []term) []Wanted {
	out := make([]Wanted, len(terms))
	for i, t := range terms {
		out[i] = Wanted{Words: t.words, Prefix: t.prefix}
		if len(t.words) == 1 && !t.exact {
			out[i].Stem = t.stem
		}
		if t.others != nil {
			out[i].Or = wanted(t.others.terms)
		}
	}
	return out
}

// At returns the number of words that it, or the longest of its alternatives, matches at
// the beginning of words. It returns 0 if it does not match.
func (w Wanted) At(words []string) int {
	n := w.at(words)
	for _, other := range w.Or {
		n = max(n, other.at(words))
	}
	return n
}

// Len returns the number of words that it compares with a text.
func (w Wanted) Len() int {
	n := len(w.Words)
	for _, other := range w.Or {
		n += len(other.Words)
	}
	return n
}

func (w Wanted) at(words []string) int {
	if len(words) < len(w.Words) {
		return 0
	}
	for i, want := range w.Words {
		have := words[i]
		switch {
		case have == want:
		case w.Prefix && i == len(w.Words)-1 && strings.HasPrefix(have, want):
		case w.Stem != "" && text.Stem(have) == w.Stem:
		default:
			return 0
		}
	}
	return len(w.Words)
}
