package summary

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// institutions are capitalized words that are not names.
var institutions = newLexicon(`consejo administracion junta general ordinaria extraordinaria accionistas sociedad compania entidad grupo fondo
	presidente presidenta consejero consejera delegado delegada director directora secretario secretaria vocal d don dona sr sra
	estado plan estrategico euros eur estatutos gestora depositario depositaria participes asamblea oferta ley reglamento`)

// name is a sequence of capitalized words of a sentence.
type name struct {
	words []string // folded, with the particles between them
	from  int      // token
	to    int
}

func (n name) String() string { return strings.Join(n.words, " ") }

var particles = newLexicon("de del la las los y e")

// namesOf returns the names of a text. The first word of a text is capitalized and
// may be an ordinary word; the caller must check it.
func namesOf(tokens []token) []name {
	var found []name
	for i := 0; i < len(tokens); i++ {
		if !startsName(tokens, i) {
			continue
		}
		n := name{words: []string{tokens[i].folded}, from: i, to: i + 1}
		for {
			next := nextInName(tokens, n.to)
			if next == 0 {
				break
			}
			for k := n.to; k < next; k++ {
				n.words = append(n.words, tokens[k].folded)
			}
			n.to = next
		}
		found = append(found, n)
		i = n.to - 1
	}
	return found
}

func startsName(tokens []token, i int) bool {
	t := tokens[i]
	return t.folded != "" && t.isCapital() && !institutions.has(t.folded) && !isInitial(tokens, i)
}

// isInitial reports whether a token is one letter of an abbreviation: S.A., J.
func isInitial(tokens []token, i int) bool {
	return utf8.RuneCountInString(tokens[i].text) == 1 && i+1 < len(tokens) && tokens[i+1].text == "."
}

// nextInName returns the end of a name that continues at i, possibly after a "de
// la", or 0. A "y" begins another name.
func nextInName(tokens []token, i int) int {
	for k := i; k < min(i+3, len(tokens)); k++ {
		switch w := tokens[k].folded; {
		case startsName(tokens, k):
			return k + 1
		case w == "de", w == "del", w == "la", w == "las", w == "los":
		default:
			return 0
		}
	}
	return 0
}

// known holds the texts that the names of a summary may come from.
type known struct {
	runs  []string // folded words between spaces: the quote, the title, the company
	heads []string // the initials of the words of each
}

// knows reports whether a text contains the words in sequence.
func (k known) knows(words []string) bool {
	run := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(k.runs, func(text string) bool { return strings.Contains(text, run) })
}

// capitalRun returns the words of a text with a star in place of each lower-case
// word, so that "sol" is not evidence for "Sol".
func capitalRun(tokens []token) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, t := range tokens {
		switch {
		case t.folded == "":
			continue
		case t.isCapital() || t.isNumber() || particles.has(t.folded):
			b.WriteString(t.folded)
		default:
			b.WriteByte('*')
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// initials returns the first letters of the words, without particles.
func initials(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		if t.folded != "" && !particles.has(t.folded) && t.folded != "en" && t.folded != "a" {
			b.WriteByte(t.folded[0])
		}
	}
	return b.String()
}

// newKnown collects the names of the quote, the title and the company.
func newKnown(quote []token, s Source) known {
	k := known{runs: []string{capitalRun(quote), fold(s.Title), fold(s.Company)}}
	for _, tokens := range [][]token{quote, tokenise(s.Title), tokenise(s.Company)} {
		k.heads = append(k.heads, initials(tokens))
	}
	return k
}

// names reports whether every name of a sentence is known.
func (k known) names(sentence []token, quote map[string]bool) bool {
	for _, n := range namesOf(sentence) {
		if k.knows(n.words) || k.abbreviates(n, sentence) {
			continue
		}
		if n.from > 0 {
			return false
		}
		// The first word of a sentence is always capitalized.
		first := sentence[0].folded
		if !openers.has(first) && !stopWords.has(first) && !quote[meaning(first)] {
			return false
		}
		if rest := n.words[1:]; len(rest) > 0 && !k.knows(trimParticles(rest)) {
			return false
		}
	}
	return true
}

func trimParticles(words []string) []string {
	for len(words) > 0 && particles.has(words[0]) {
		words = words[1:]
	}
	return words
}

// abbreviates reports whether a name consists of the initials of words: OPA.
func (k known) abbreviates(n name, sentence []token) bool {
	text := sentence[n.from].text
	if len(n.words) != 1 || len(text) < 3 || !shouted(text) {
		return false
	}
	return slices.ContainsFunc(k.heads, func(heads string) bool { return strings.Contains(heads, n.words[0]) })
}
