package summary

import "strings"

// A generated sentence may omit words of the document and may use a few synonyms.
// It may not add words: every added word could be an invention.

// harmless are words without information about the event: verbs of reporting, and
// generic words for the issuer. sameSubject compares the subjects.
var harmless = newLexicon(`comunica comunico comunicado informa informo informado anuncia anuncio anunciado notifica notifico
	sociedad compania empresa entidad grupo tendra tendran tenia tuvo`)

// reaching are verbs that only link a noun to its figure.
var reaching = newLexicon("ascendio ascendieron asciende ascienden alcanzo alcanzaron alcanza obtuvo obtiene registro registra situo situa")

// weighty are short words that change the meaning of a sentence.
var weighty = newLexicon("contra tod* cada otr* muy porque aun tanto nada algo mientras aunque sino")

// addsNothing reports whether the document contains every significant word of a
// sentence, or a synonym of it. Names may also come from the company or the title.
func addsNothing(s Source, said, document text) bool {
	there := contentOf(document.tokens, lexicon{})
	small := map[string]bool{}
	for _, t := range document.tokens {
		small[weighty.entry(t.folded)] = true
	}
	names := fold(s.Company) + fold(s.Title)
	proved := len(said.facts)
	tokens := said.withoutFigures()
	for n, t := range tokens {
		w := t.folded
		switch {
		case w == "" || t.isNumber():
		case weighty.has(w) && !small[weighty.entry(w)]:
			return false
		case stopWords.has(w), negations.has(w):
		case there[meaning(w)]:
			proved++
		case harmless.has(w), reaching.has(w) && len(said.facts) > 0:
		case w == "administracion" && n > 1 && tokens[n-2].folded == "consejo" && there[meaning("consejo")]:
		case n > 0 && t.isCapital() && strings.Contains(names, " "+w+" "), n == 0 && strings.Contains(fold(s.Company), " "+w+" "):
		case n > 0 && t.isCapital() && shouted(t.text): // made of initials, which namesAgree has checked
		case inFacts(said, n): // which factsAgree has checked
		case impliedBy(document, w):
		default:
			return false
		}
	}
	return proved >= 2
}

func inFacts(t text, n int) bool {
	for _, f := range t.facts {
		if n >= f.from && n < f.to {
			return true
		}
	}
	return false
}

// impliedBy reports whether the figures of the document imply a word: a change
// from 5 to 3 is a decrease.
func impliedBy(document text, word string) bool {
	for _, pair := range []int{upDown, profitLoss} {
		for side, words := range opposites[pair] {
			if words.has(word) && document.implies(pair, side) {
				return true
			}
		}
	}
	return false
}

// qualifiers weaken the words that follow them. They may not be omitted.
var qualifiers = newLexicon(`algun alguna algunos algunas vari* parte parcial* cierto cierta ciertos ciertas determinad* casi apenas solo solamente unicamente
	mitad resto supuest* presunt* pretendid* futur* antigu* ex some part partial* certain only alleged* former`)

// paired are words of opposite meaning. If a document has several, none may be
// omitted, and their order may not change.
var paired = []lexicon{
	newLexicon("estable* negativ* positiv*"),
	newLexicon("favor contra"),
}

// sameQualifiers reports whether a sentence keeps the qualifiers of the document.
func sameQualifiers(said, document []token) bool {
	content := contentOf(said, lexicon{})
	for n, t := range document {
		if q := qualifiers.entry(t.folded); q == "" || hasEntry(said, qualifiers, q) {
			continue
		}
		for _, next := range document[n+1:] {
			if next.folded == "" || next.isNumber() || stopWords.has(next.folded) {
				continue
			}
			if content[meaning(next.folded)] {
				return false
			}
			break
		}
	}
	for _, p := range paired {
		theirs, ours := entries(document, p), entries(said, p)
		if len(ours) > 0 && strings.Join(theirs, " ") != strings.Join(ours, " ") {
			return false
		}
	}
	return !hasBothForms(said, document)
}

func hasEntry(tokens []token, words lexicon, entry string) bool {
	for _, t := range tokens {
		if t.folded != "" && words.entry(t.folded) == entry {
			return true
		}
	}
	return false
}

func entries(tokens []token, words lexicon) []string {
	var found []string
	for _, t := range tokens {
		if entry := words.entry(t.folded); entry != "" {
			found = append(found, entry)
		}
	}
	return found
}

// hasBothForms reports whether the document contains both a word of a sentence and
// its opposite, so that it is unclear which of them the sentence is based on:
// "pagó el cupón e impagó el principal".
func hasBothForms(said, document []token) bool {
	there, ours := roots(document), roots(said)
	for w := range there {
		for _, prefix := range []string{"in", "im", "i", "des", "dis"} {
			if len(w) >= shortestRoot && there[prefix+w] && ours[w] != ours[prefix+w] {
				return true
			}
		}
	}
	return false
}

const shortestRoot = 3

// roots are stems without the vowels that short words keep.
func roots(tokens []token) map[string]bool {
	set := map[string]bool{}
	for _, t := range tokens {
		if t.folded != "" && !t.isNumber() && !stopWords.has(t.folded) {
			set[strings.TrimRight(stem(t.folded), "aeiou")] = true
		}
	}
	return set
}
