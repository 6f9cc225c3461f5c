package summary

import (
	"slices"
	"strings"
)

// An omission may change the meaning: "evitó la pérdida" without its verb is a loss.
// So a word must keep the words that govern or narrow it.

// lenient are governing words that may be omitted, such as verbs of reporting,
// agreeing and reaching.
var lenient = newLexicon(`comunic* inform* anunci* notific* report* announc* acord* acuerd* aprob* aprueb* decid* tomad* tomo razon
	ascend* ascien* alcanz* obtuv* obten* registr* situ* logr* tendra* tuvo pasa pasan paso reunion sesion cumplimiento conformidad articulo efect* periodo ejercicio conjunto cierre
	sociedad compania empresa entidad grupo consejo junta administracion company group board`)

// kept reports whether a sentence contains a word or may omit it.
func kept(content map[string]bool, word string) bool {
	return content[meaning(word)] || lenient.has(word)
}

// governed reports whether a sentence contains, for each of its words, the word
// that governs it in the document.
func governed(s Source, said, document text) bool {
	content := contentOf(said.tokens, lexicon{})
	company := contentOf(tokenise(s.Company), lexicon{})
	fine := map[string]bool{} // by meaning; false if no occurrence keeps its governor
	for n, t := range document.tokens {
		if t.folded == "" || t.isNumber() || stopWords.has(t.folded) || harmless.has(t.folded) || inFacts(document, n) {
			continue
		}
		m := meaning(t.folded)
		if company[m] || !content[m] {
			continue
		}
		governor := governorOf(document, n)
		fine[m] = fine[m] || governor == "" || company[meaning(governor)] || kept(content, governor)
	}
	for _, ok := range fine {
		if !ok {
			return false
		}
	}
	return deedsKept(content, said, document) && narrowed(content, said, document) && relativesKept(content, said, document)
}

// governorOf returns the word before word n in its clause, if an article or a
// preposition links them, or if word n is a name or an infinitive. Consecutive
// adjectives do not govern each other.
func governorOf(t text, n int) string {
	linked := hasEnding(t.tokens[n].folded, []string{"ar", "er", "ir", "arse", "erse", "irse"})
	for i := n - 1; i >= 0; i-- {
		w := t.tokens[i].folded
		switch {
		case isBreak(t.tokens[i]), inFacts(t, i):
			return ""
		case w == "" || t.tokens[i].isCapital():
			if w != "" {
				return ""
			}
		case stopWords.has(w):
			linked = linked || !auxiliaries.has(w) && w != "se"
		case linked, t.tokens[n].isCapital() && isVerb(t.tokens, i):
			return w
		default:
			return ""
		}
	}
	return ""
}

// isVerb reports whether a word is a verb, alone or after an auxiliary.
func isVerb(tokens []token, i int) bool {
	return isFinite(tokens, i) || i > 0 && auxiliaries.has(tokens[i-1].folded)
}

// deedsKept reports whether each fact of a sentence has the verb that it has in
// the document.
func deedsKept(content map[string]bool, said, document text) bool {
	for _, f := range said.facts {
		found := matches(f, document)
		if len(found) == 0 {
			continue
		}
		if !slices.ContainsFunc(found, func(n int) bool { return deedKept(content, document, document.facts[n].from) }) {
			return false
		}
	}
	return true
}

func deedKept(content map[string]bool, document text, before int) bool {
	for i := before - 1; i >= 0; i-- {
		if !isFinite(document.tokens, i) || i > 0 && articles.has(document.tokens[i-1].folded) {
			continue
		}
		for k := i; k < min(i+4, before); k++ {
			if w := document.tokens[k].folded; w != "" && !stopWords.has(w) && !inFacts(document, k) {
				return kept(content, w)
			}
		}
		return true
	}
	return true
}

// narrowing words may not be omitted after the word that they narrow.
var narrowing = newLexicon(`comparable* operativ* recurrente* ajustad* organic* subyacente* atribu* diluid* potencial* internacional* nacional* domestic* proforma
	teoric* contable* nominal* maxim* minim* medi* preferente* subordinad* convertible* concursal*`)

var labels = newLexicon("clase serie tramo categoria")

// narrowed reports whether a sentence keeps the words that narrow its words: an
// adjective, a place, a class, before or after taxes.
func narrowed(content map[string]bool, said, document text) bool {
	last := ""
	says := func(word string) bool {
		return slices.ContainsFunc(said.tokens, func(t token) bool { return t.folded == word })
	}
	for n, t := range document.tokens {
		w := t.folded
		switch {
		case w == "" || stopWords.has(w):
			continue
		case narrowing.has(w) && content[last] && !content[meaning(w)]:
			return false
		case content[last] && !says(w) && belongs(document, n):
			return false
		case strings.HasPrefix(w, "impuesto") && len(said.facts) > 0 && !content[meaning(w)]:
			return false
		case n > 0 && labels.has(document.tokens[n-1].folded) && len(w) == 1 && !says(w):
			return false
		case n > 0 && document.tokens[n-1].folded == "en" && t.isCapital() && !institutions.has(w) && len(said.facts) > 0 && !says(w):
			return false
		}
		last = meaning(w)
	}
	return true
}

// belongs reports whether a word is the owner of the noun before it: "el beneficio
// de Rival", "las ventas de la filial". Persons and the issuer do not count.
func belongs(t text, n int) bool {
	tok := t.tokens[n]
	if inFacts(t, n) || t.common[meaning(tok.folded)] || institutions.has(tok.folded) || !tok.isCapital() && !casts.has(tok.folded) || hasWord(t.tokens[max(0, n-4):n], acting) {
		return false
	}
	i := n - 1
	for i > 0 && articles.has(t.tokens[i].folded) {
		i--
	}
	return i > 0 && (t.tokens[i].folded == "de" || t.tokens[i].folded == "del" || t.tokens[i].folded == "of") && !inFacts(t, i-1)
}

// relativesKept reports whether the verb of a relative clause ("que") keeps its
// subject, and whether both alternatives of an "o" are kept.
func relativesKept(content map[string]bool, said, document text) bool {
	tokens := document.tokens
	for n := 1; n+1 < len(tokens); n++ {
		switch w := tokens[n].folded; {
		case w == "que" || w == "which":
			at := n - 1
			if tokens[at].text == "," && at > 0 {
				at--
			}
			who := tokens[at]
			some := at > 0 && (tokens[at-1].folded == "una" || tokens[at-1].folded == "un") && references.has(who.folded)
			verb := verbFrom(tokens, n+1)
			if verb > n+3 || inFacts(document, at) || !content[deed(tokens, verb)] {
				continue
			}
			if some || (who.isCapital() || casts.has(who.folded)) && !content[meaning(who.folded)] {
				return false
			}
		case (w == "o" || w == "u" || w == "or") && !hasWord(said.tokens, either):
			before, after := "", deed(tokens, n+1)
			for i := n - 1; i >= 0 && before == ""; i-- {
				if b := tokens[i].folded; b != "" && !stopWords.has(b) {
					before = meaning(b)
				}
			}
			if content[before] || content[after] {
				return false
			}
		}
	}
	return true
}

var either = newLexicon("o u")

// voices returns, for each verb by its meaning, whether it occurs in the active
// voice and whether it occurs in the passive voice.
func voices(tokens []token) map[string][2]bool {
	found := map[string][2]bool{}
	for n, t := range tokens {
		form := strings.ToLower(t.text)
		participle := hasEnding(t.folded, []string{"ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas", "to", "ta", "tos", "tas"})
		before := ""
		if n > 0 {
			before = tokens[n-1].folded
		}
		v := found[meaning(t.folded)]
		switch {
		case participle && passive.has(before):
			v[1] = true
		case participle && auxiliaries.has(before), len(form) > 4 && hasEnding(form, []string{"ó", "aron", "ieron", "rá", "rán"}):
			v[0] = true
		default:
			continue
		}
		found[meaning(t.folded)] = v
	}
	return found
}

// sameVoice reports whether the verbs of a sentence have the voice that they have
// in the document.
func sameVoice(said, document []token) bool {
	if appointed(said, document) {
		return true
	}
	theirs := voices(document)
	for m, v := range voices(said) {
		if d, ok := theirs[m]; ok && (v[0] && !d[0] || v[1] && !d[1]) {
			return false
		}
	}
	return true
}
