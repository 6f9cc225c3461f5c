// Package headline says in a sentence what the facts of a report are, in Spanish and in
// English, without a model: the same facts always give the same words.
//
// A sentence says only what the fields say. A field may be missing, because a value that
// was not certain is left out; then the sentence does not mention it. A value that is not
// of the form that its field has counts as missing, too, as facts may be imported. These
// are left out although a field has them:
//
//   - an amount of money without its currency, which a reader would take for euros;
//   - a name that is longer than maxName bytes or has invisible characters;
//   - what has no certain meaning, such as the new shares of a reduction of capital.
//
// A fact of which nothing useful is left has no sentence. Numbers are never rounded: an
// amount is written in millions only if that is exact with four decimals at most.
package headline

import (
	"cmp"
	"slices"
	"strings"

	"pregon/internal/disclosure"
)

const (
	maxSentences = 2
	maxBytes     = 300 // of a headline
	maxLine      = 120 // bytes of a line
	maxName      = 80  // bytes of the name of a person, a post, an agency or a company
	maxDigits    = 18  // bytes of a number in a field
)

// byImportance has the kinds in the order in which a headline mentions them.
var byImportance = []disclosure.FactKind{
	disclosure.Suspension,
	disclosure.Takeover,
	disclosure.Results,
	disclosure.Dividend,
	disclosure.Capital,
	disclosure.BuybackProgramme,
	disclosure.Board,
	disclosure.Rating,
	disclosure.Meeting,
	disclosure.BuybackTrades,
	disclosure.VotingRights,
	disclosure.LiquidityContract,
	disclosure.Securitisation,
}

// Spanish returns the headline of facts in Spanish, at most two sentences without the
// final full stop, or "" if they say nothing useful.
func Spanish(facts []disclosure.Fact) string {
	return headline(facts, func(f disclosure.Fact) string {
		write := inSpanish[f.Kind]
		if write == nil {
			return ""
		}
		return write(&values{fields: f.Fields, language: spanish})
	})
}

// English returns the headline of facts in English: see Spanish.
func English(facts []disclosure.Fact) string {
	return headline(facts, func(f disclosure.Fact) string {
		write := inEnglish[f.Kind]
		if write == nil {
			return ""
		}
		return write(&values{fields: f.Fields, language: english})
	})
}

// Line returns what a row of a list says about facts, such as "0,25 € · ex 15 dic · pago
// 17 dic": the most important fact, in few words. The language is es or en. It returns
// "" if the facts say nothing useful.
func Line(facts []disclosure.Fact, language string) string {
	for _, f := range sorted(facts) {
		write := inLines[f.Kind]
		if write == nil {
			continue
		}
		v := &values{fields: f.Fields, language: english, short: true}
		if language == "es" {
			v.language = spanish
		}
		parts := present(write(v))
		for len(strings.Join(parts, " · ")) > maxLine {
			parts = parts[:len(parts)-1]
		}
		if len(parts) > 0 {
			return strings.Join(parts, " · ")
		}
	}
	return ""
}

// headline joins the sentences of the most important facts.
func headline(facts []disclosure.Fact, sentence func(disclosure.Fact) string) string {
	var sentences []string
	for _, f := range sorted(facts) {
		s := sentence(f)
		if s == "" || slices.Contains(sentences, s) {
			continue
		}
		if len(strings.Join(append(sentences, s), ". ")) > maxBytes {
			continue
		}
		if sentences = append(sentences, s); len(sentences) == maxSentences {
			break
		}
	}
	return strings.Join(sentences, ". ")
}

// MaxRank is the rank of facts without any importance.
const MaxRank = 99

// Rank returns the rank of the most important of some facts: 0 for the most important kind,
// and MaxRank if there are none.
func Rank(facts []disclosure.Fact) int {
	rank := MaxRank
	for _, f := range facts {
		if i := slices.Index(byImportance, f.Kind); i >= 0 {
			rank = min(rank, i)
		}
	}
	return rank
}

// sorted returns facts in the order of their importance. Those of one kind stay in the
// order of the document.
func sorted(facts []disclosure.Fact) []disclosure.Fact {
	facts = slices.Clone(facts)
	slices.SortStableFunc(facts, func(a, b disclosure.Fact) int {
		return cmp.Compare(slices.Index(byImportance, a.Kind), slices.Index(byImportance, b.Kind))
	})
	return facts
}

// present returns the parts that are not empty.
func present(parts []string) []string {
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// list joins the parts that are not empty with commas.
func list(parts ...string) string { return strings.Join(present(parts), ", ") }

// affix returns a value with what stands before and after it, or "" if there is none.
func affix(before, value, after string) string {
	if value == "" {
		return ""
	}
	return before + value + after
}
