package fact

import (
	"strings"

	"pregon/internal/document/value"
)

// Text recognition takes some letters for others: "rnáxirno" for máximo, "lmporte" for
// importe. A word that no rule knows is read as a known one if only such letters differ.
// Figures are never changed.

// misread are the letters that text recognition confuses, as it writes them, with what they
// may be.
var misread = []struct{ wrong, right string }{
	{"rn", "m"},
	{"l", "i"},
	{"1", "i"},
	{"1", "l"},
	{"i", "l"},
	{"0", "o"},
	{"5", "s"},
	{"vv", "w"},
	{"cl", "d"},
	{"ii", "n"},
}

// Shorter words are too like one another, and longer ones are none.
const (
	shortestRepaired = 5
	longestRepaired  = 24
)

// months are words that values need, beside those of the rules.
const months = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre " +
	"january february march april june july august september october november december euros millones million"

// addKnown adds the words of a phrase to those that the rules know.
func (x *index) addKnown(words []string) {
	for _, w := range words {
		if !strings.HasSuffix(w, "*") {
			x.known[w] = true
		}
	}
}

// repair replaces the folded words that text recognition misread.
func (x *index) repair(tokens []value.Token) {
	for i := range tokens {
		word := tokens[i].Folded
		if len(word) < shortestRepaired || len(word) > longestRepaired || x.known[word] || tokens[i].IsNumber() {
			continue
		}
		if right, ok := x.repaired(word); ok {
			tokens[i].Folded = right
		}
	}
}

// repaired returns the only known word that differs from a word by one misread letter, or by
// the same one everywhere.
func (x *index) repaired(word string) (found string, ok bool) {
	try := func(candidate string) {
		switch {
		case !x.known[candidate] || found == candidate:
		case found == "":
			found = candidate
			ok = true
		default:
			ok = false // two words are possible
		}
	}
	for _, m := range misread {
		if !strings.Contains(word, m.wrong) {
			continue
		}
		try(strings.ReplaceAll(word, m.wrong, m.right))
		for at := 0; at+len(m.wrong) <= len(word); at++ {
			if word[at:at+len(m.wrong)] == m.wrong {
				try(word[:at] + m.right + word[at+len(m.wrong):])
			}
		}
	}
	return found, ok
}
