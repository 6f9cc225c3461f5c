package summary

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/passage"
	"pregon/internal/document/value"
)

var (
	// institutions are capitalized words that are not names.
	institutions = lexiconOf("institutions")
	// starts are ordinary words that begin sentences, and so are capitalized.
	starts    = lexiconOf("starts")
	particles = lexicon.NewSet("de del la las los y e of the and i da do dos")
	// issuers are words for the company that files the report.
	issuers = lexiconOf("issuers")
)

// name is a sequence of capitalized words of a sentence.
type name struct {
	words []string // folded, with the particles between them
	from  int      // token
	to    int
}

// namesOf returns the names of a sentence. The first one may begin with an ordinary
// word, which is capitalized too.
func namesOf(tokens []value.Token) []name {
	var found []name
	for i := 0; i < len(tokens); i++ {
		if !startsName(tokens, i) {
			continue
		}
		n := name{from: i, to: i + 1}
		for next := nextInName(tokens, n.to); next > 0; next = nextInName(tokens, n.to) {
			n.to = next
		}
		for _, t := range tokens[n.from:n.to] {
			n.words = append(n.words, t.Folded)
		}
		found = append(found, n)
		i = n.to - 1
	}
	return found
}

func startsName(tokens []value.Token, i int) bool {
	t := tokens[i]
	ordinary := t.Folded == "" || institutions.Has(t.Folded) || value.Months[t.Folded] > 0 || value.Quantities[t.Folded] != ""
	return !ordinary && strings.ContainsFunc(t.Text, unicode.IsUpper) && !isInitial(tokens, i)
}

// isInitial reports whether a token is a letter of an abbreviation such as S.A., not
// the name of a class ("clase B.") or of a person ("A. Roca").
func isInitial(tokens []value.Token, i int) bool {
	single := func(k int) bool { return utf8.RuneCountInString(tokens[k].Text) == 1 }
	dotted := i+1 < len(tokens) && tokens[i+1].Text == "."
	ofClass := i > 0 && lettersOf.Has(tokens[i-1].Folded)
	if !single(i) || !dotted || ofClass {
		return false
	}
	return i+2 >= len(tokens) || !tokens[i+2].IsCapital() || single(i+2)
}

// nextInName returns the end of a name that continues at i, possibly after a "de
// la", or 0. A conjunction begins another name.
func nextInName(tokens []value.Token, i int) int {
	for k := i; k < min(i+3, len(tokens)); k++ {
		if startsName(tokens, k) {
			return k + 1
		}
		switch w := tokens[k].Folded; {
		case w == "y", w == "e", w == "and", w == "i", !particles.Has(w):
			return 0
		}
	}
	return 0
}

// lettersOf are nouns whose name is a letter.
var lettersOf = lexicon.NewSet("clase clases serie series tramo tramos grupo anexo class tranche annex categoria tipo")

// capitalRun returns the words of a sentence between spaces, as runOf does, with a star
// in place of everything that is no part of a name: "sol" is no evidence for "Sol",
// nor "BBB+" for "BBB".
func capitalRun(tokens []value.Token) string {
	run := " "
	for _, t := range tokens {
		sign := strings.HasSuffix(t.Text, "+") || strings.HasSuffix(t.Text, "-")
		inName := t.IsCapital() || t.IsNumber() || particles.Has(t.Folded)
		switch {
		case t.Folded != "" && !sign && inName:
			run += t.Folded + " "
		case t.Folded != "" || strings.Contains(",;(", t.Text):
			run += "* "
		}
	}
	return run
}

func runOf(words []string) string { return " " + strings.Join(words, " ") + " " }

// namesAgree reports whether every name of a claim is in its sources or is the
// company's, and those of the sources keep their order.
func namesAgree(s Source, claim, cited []value.Token) bool {
	there, company := capitalRun(cited), lexicon.Fold(s.Company)
	inCompany := func(words []string) bool { return strings.Contains(company, runOf(words)) }
	lower := map[string]bool{}
	speaksOfIssuer := len(namesOf(cited)) == 0
	for _, t := range cited {
		lower[t.Folded] = lower[t.Folded] || !t.IsCapital()
		speaksOfIssuer = speaksOfIssuer || issuers.Has(t.Folded)
	}
	rest := there // from the name before on
	first := slices.IndexFunc(claim, func(t value.Token) bool { return t.Folded != "" })
	for _, n := range namesOf(claim) {
		words := n.words
		ordinary := n.from == first && (lower[words[0]] || starts.Has(words[0]) || passage.Openers.Has(words[0]) ||
			value.StopWords.Has(words[0]))
		if ordinary && (len(words) == 1 || !strings.Contains(there, runOf(words)) && !inCompany(words)) {
			for words = words[1:]; len(words) > 0 && particles.Has(words[0]); {
				words = words[1:]
			}
		}
		if len(words) > 0 && strings.Contains(there, runOf(words)) {
			at := strings.Index(rest, runOf(words))
			if at < 0 {
				return false // the names have changed places
			}
			rest = rest[at:]
			continue
		}
		// A sentence about another company does not prove anything about this one.
		if len(words) > 0 && (!speaksOfIssuer || !inCompany(words)) {
			return false
		}
	}
	return true
}
