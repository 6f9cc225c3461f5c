package summary

import (
	"slices"
	"strings"
)

// negations in Spanish and English. "nº" is not one: see foldRune.
var negations = newLexicon(`no ni nunca jamas sin tampoco ningun ninguna ninguno nada nadie excepto salvo
	descarta* niega niegan nego desmient* not neither nor never without except`)

// hedges are words that make a statement a plan, an expectation or a possibility.
var hedges = []lexicon{
	newLexicon("podr* pudier* posible posibles posibilidad eventual* estudi* explora* valora valorara hipotetic* may might could possible"),
	newLexicon("preve preven prever* previst* prevision* esper* estim* objetiv* intencion* proyect* pretend* plane* preten* expect* target* forecast* intend* guidance"),
	newLexicon("propon* propuest* propus* somet* propos* submit*"),
	newLexicon("probabl* quiza quizas seguramente presumibl* previsibl* dificilmente escenario* probably likely perhaps scenario"),
	newLexicon("haya hayan hubier* hubies* habria habrian"),
	newLexicon("negocia* conversaci* preliminar* indicativ* talks negotiat*"),
}

// negated returns, for each negation of a text, the next significant words of the
// clause.
func negated(tokens []token) [][]string {
	var found [][]string
	for n, t := range tokens {
		if !negations.has(t.folded) {
			continue
		}
		var about []string
		for _, next := range tokens[n+1:] {
			if isBreak(next) {
				break
			}
			if next.folded != "" && !stopWords.has(next.folded) && !negations.has(next.folded) {
				about = append(about, meaning(next.folded))
			}
			if len(about) == 3 {
				break
			}
		}
		found = append(found, about)
	}
	return found
}

// samePolarity reports whether a sentence and the document deny the same statements.
func samePolarity(sentence, document []token) bool {
	said, there := negated(sentence), negated(document)
	if (len(said) == 0) != (len(there) == 0) {
		return false
	}
	for _, about := range said {
		if len(about) > 0 && !anyShares(about[:1], there) {
			return false
		}
	}
	content := contentOf(sentence, lexicon{})
	for _, about := range there { // the sentence must not affirm what the document denies
		if len(about) > 0 && content[about[0]] && !anyShares(about[:1], said) {
			return false
		}
	}
	return true
}

func anyShares(about []string, others [][]string) bool {
	for _, other := range others {
		for _, a := range about {
			for _, b := range other {
				if a == b {
					return true
				}
			}
		}
	}
	return false
}

// sameCertainty reports whether a sentence is as certain as the document.
func sameCertainty(sentence, document []token) bool {
	sentence, document = withoutLaw(sentence), withoutLaw(document)
	for _, h := range hedges {
		if hasWord(sentence, h) != hasWord(document, h) {
			return false
		}
	}
	return true
}

// withoutLaw removes "lo previsto en la ley", which is not a plan.
func withoutLaw(tokens []token) []token {
	tokens = slices.Clone(tokens)
	for n := 1; n < len(tokens); n++ {
		if tokens[n-1].folded == "lo" && strings.HasPrefix(tokens[n].folded, "previst") {
			tokens[n].folded = ""
		}
	}
	return tokens
}

func hasWord(tokens []token, words lexicon) bool {
	for _, t := range tokens {
		if t.folded != "" && words.has(t.folded) {
			return true
		}
	}
	return false
}

// terms are technical terms of reports, such as kinds of directors, securities and
// results. A sentence may use only the terms of its quote.
var terms = newLexicon(`dominical* independiente* ejecutiv* extern* presiden* vicepresiden* secretari* vocal* delegad*
	brut* net* anual* trimestral* semestral* mensual* ordinari* extraordinari* maxim* minim* voluntari* obligatori* provisional* definitiv*
	consolidad* individual* recurrente* operativ* vinculante* preferente* simple* convertible* senior subordinad* garantizad*
	participacion* bonos obligaciones pagares cedulas derechos warrants ebitda ebit
	comprador* vendedor* oferente* absorbent* absorbid* gestora* depositari* acreedor* deudor* auditor* filial* matriz
	fusion* escision* opa concurso liquidacion disolucion mes meses semana* diari* trimestre* semestre*`)

// sameTerms reports whether a quote contains all terms of a sentence, possibly in
// another language.
func sameTerms(sentence, document []token) bool {
	there := contentOf(document, lexicon{})
	for _, t := range document {
		there["term "+terms.entry(t.folded)] = true
	}
	for _, t := range sentence {
		if term := terms.entry(t.folded); term != "" && !there["term "+term] && !there[meaning(t.folded)] {
			return false
		}
	}
	return true
}

// sameDirection reports whether no word of a sentence is the opposite of a word of
// the document. The document must contain the word of a serious pair, or its figures
// must imply it. If the document contains both words of a pair, the clauses are
// compared.
func sameDirection(sentence []token, document text) bool {
	for n, pair := range opposites {
		for k := range pair {
			if !hasWord(sentence, pair[k]) {
				continue
			}
			same, other := hasWord(document.tokens, pair[k]), hasWord(document.tokens, pair[1-k])
			switch {
			case same && other:
				if !clausesAgree(sentence, document.tokens, pair[k], pair[1-k]) {
					return false
				}
			case !same && (other || n < mostSerious) && !document.implies(n, k):
				return false
			}
		}
	}
	return true
}

// implies reports whether figures imply a word: a change from 5 to 3 is a decrease,
// and a negative figure is a decrease or a loss.
func (t text) implies(pair, side int) bool {
	down := side == 1
	for n, f := range t.facts {
		switch {
		case f.kind != aFigure:
		case f.negative && !f.doubtful && down && (pair == upDown || pair == profitLoss):
			return true
		case pair == upDown && f.compared && f.pair != 0 && n+1 < len(t.facts) && t.facts[n+1].pair == f.pair:
			if to := t.facts[n+1].value.compare(f.value); down && to < 0 || !down && to > 0 {
				return true
			}
		}
	}
	return false
}

// clausesAgree compares each clause of a sentence that contains one word of a pair
// with the clause of the document that shares the most words with it.
func clausesAgree(sentence, document []token, said, opposite lexicon) bool {
	theirs := clauses(document)
	for _, c := range clauses(sentence) {
		if !hasWord(c, said) {
			continue
		}
		about := contentOf(c, said)
		same, other := 0, 0 // words shared with clauses that contain the word, or its opposite
		for _, d := range theirs {
			common := shared(about, contentOf(d, opposite))
			if hasWord(d, said) {
				same = max(same, common)
			} else if hasWord(d, opposite) {
				other = max(other, common)
			}
		}
		if other > same {
			return false
		}
	}
	return true
}

// breaks are the words that separate clauses.
var breaks = newLexicon("y e o ni pero mientras tras frente aunque and while but versus compared hasta desde respecto contra")

func isBreak(t token) bool {
	if t.folded == "" {
		return t.text == "," || t.text == ";" || t.text == ":" || t.text == "(" || t.text == ")"
	}
	return breaks.has(t.folded)
}

// clauses splits a text at its breaks and at the ends of its sentences.
func clauses(tokens []token) [][]token {
	var found [][]token
	start := 0
	for n, t := range tokens {
		ends := t.text == "." && n > 0 && len(tokens[n-1].folded) > 2 && !neverLast.has(tokens[n-1].folded)
		if ends || isBreak(t) {
			if n > start {
				found = append(found, tokens[start:n])
			}
			start = n + 1
		}
	}
	if start < len(tokens) {
		found = append(found, tokens[start:])
	}
	return found
}

// fell distinguishes "bajó" from "bajo".
func fell(t token) bool { return strings.ToLower(t.text) == "bajó" }

// contentOf returns the meanings of the words of a text, without stop words, the
// words of a lexicon and digits.
func contentOf(tokens []token, without lexicon) map[string]bool {
	set := map[string]bool{}
	for _, t := range tokens {
		if t.folded != "" && !t.isNumber() && (!stopWords.has(t.folded) || fell(t)) && !without.has(t.folded) {
			set[meaning(t.folded)] = true
		}
	}
	return set
}
