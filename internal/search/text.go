package search

import (
	"strings"

	"pregon/internal/text"
)

// Wanted is one thing that a query looks for in a text: words side by side.
type Wanted struct {
	Words  []string // folded
	Stem   string   // of a single word that may also be there in another form; else nothing
	Prefix bool     // the word may be the beginning of one
}

// Wanted returns what a query asks a text for: everything of all must be there,
// and nothing of none. Identifiers are looked for as the words they are.
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
	}
	return out
}

// At returns how many words it takes at the beginning of some, 0 when it is not
// there.
func (w Wanted) At(words []string) int {
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
