package search

import (
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// name is the name of a category, a market or a sector, prepared for comparison.
type name struct {
	folded string
	stems  []string // of its words
}

func newName(s string) name {
	words := text.Words(s)
	return name{strings.Join(words, " "), stemsOf(words)}
}

func stemsOf(words []string) []string {
	stems := make([]string, len(words))
	for i, w := range words {
		stems[i] = text.Stem(w)
	}
	return stems
}

// NameFilter selects names of categories, markets or sectors: see disclosure.Filter.
type NameFilter struct {
	words  bool
	folded string   // the whole name
	stems  []string // of the words that a name must have
}

// NewNameFilter returns the filter of a value that is a whole name or, if byWords is
// set, some words of one. Case, accents and punctuation do not matter, nor does the
// number of a word: two words are the same if their stems are.
func NewNameFilter(value string, byWords bool) NameFilter {
	n := newName(value)
	return NameFilter{words: byWords, folded: n.folded, stems: n.stems}
}

// Match reports whether the filter selects a name. A value without a word selects
// none.
func (f *NameFilter) Match(s string) bool {
	n := newName(s)
	return f.match(&n)
}

func (f *NameFilter) match(n *name) bool {
	if f.folded == "" || !f.words {
		return f.folded != "" && f.folded == n.folded
	}
	for _, stem := range f.stems {
		if !slices.Contains(n.stems, stem) {
			return false
		}
	}
	return true
}

// newCategory returns the name of a category. It has the words of its English name too.
func newCategory(s string) name {
	n := newName(s)
	n.stems = append(n.stems, stemsOf(text.Words(disclosure.CategoryTerms(s)))...)
	return n
}

// NewCategories returns names of categories that are compared often.
func NewCategories(list []string) Names {
	out := make(Names, len(list))
	for i, s := range list {
		out[i] = newCategory(s)
	}
	return out
}

// CategoryLikeness is Likeness for a value that may be English.
func CategoryLikeness(value, category string) float64 {
	return max(Likeness(value, category), Likeness(value, disclosure.CategoryTerms(category)))
}

// Names are names of categories or markets, prepared for comparison.
type Names []name

// NewNames returns names that are compared often.
func NewNames(list []string) Names {
	out := make(Names, len(list))
	for i, s := range list {
		out[i] = newName(s)
	}
	return out
}

// MatchAny reports whether the filter selects one of some names.
func (f *NameFilter) MatchAny(names Names) bool {
	for i := range names {
		if f.match(&names[i]) {
			return true
		}
	}
	return false
}

// Bounds of a comparison of words that are not equal.
const (
	maxLikeWords   = 8  // of a value
	maxLikeLetters = 24 // of a word
)

// Likeness returns how similar a name is to a value that selects none, from 0 to 1:
// the average over the words of the value of their likeness to the most similar word
// of the name.
func Likeness(value, of string) float64 {
	words, others := text.Words(value), text.Words(of)
	if len(words) == 0 {
		return 0
	}
	words = words[:min(len(words), maxLikeWords)]
	sum := 0.0
	for _, w := range words {
		best := 0.0
		for _, other := range others {
			best = max(best, alike(w, other))
		}
		sum += best
	}
	return sum / float64(len(words))
}

// alike returns how similar two folded words are.
func alike(a, b string) float64 {
	const short = 3 // letters that say nothing as the beginning of a word
	switch {
	case text.Stem(a) == text.Stem(b):
		return 1
	case len(a) > short && strings.HasPrefix(b, a):
		return 0.9
	case len(a) > short && len(b) > short && oneError(a, b):
		return 0.8
	}
	return 0.7 * commonPairs(a, b)
}

// commonPairs returns the share of the pairs of adjacent letters that two words have
// in common (the coefficient of Dice), or 0 if that is less than half of them.
func commonPairs(a, b string) float64 {
	a, b = a[:min(len(a), maxLikeLetters)], b[:min(len(b), maxLikeLetters)]
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	var used [maxLikeLetters]bool // pairs of b, by their place
	common := 0
	for i := range len(a) - 1 {
		for j := range len(b) - 1 {
			if !used[j] && a[i:i+2] == b[j:j+2] {
				used[j] = true
				common++
				break
			}
		}
	}
	share := 2 * float64(common) / float64(len(a)+len(b)-2)
	if share < 0.5 {
		return 0
	}
	return share
}
