package summary

import "strings"

// The words that identify languages. Words that Spanish shares with similar
// languages count for Spanish only if no word counts against it.
var (
	spanishWords = newLexicon(`el la los las de del que y en un una unos unas por con para se su sus al lo es ha han como mas no sobre
		entre fue sera seran desde hasta mediante asi este esta estos estas cuando donde ya sin tras segun durante mil millones euros`)
	onlySpanish = newLexicon(`los las y con por para su sus una como mas hasta desde mil muy hoy ayer cuando segun fue han sera seran
		euros millones nueva nuevo acciones junta ejercicio`)
	otherWords = newLexicon(`the of and to in for by with has have will at is this from its are was shares million company
		els les amb per dels als seva seu seus aquest aquesta aquests aquestes mes l d consell accions exercici
		os da do ao aos unha dun dunha coa polo pola nao em uma pelo pela dos das conselho
		le des et du dans pour sur est aux une societe
		der die das und von
		eta du dira da duen zuen`)
	// otherEndings have accents: folded, aprobació and aprobacion would be almost
	// equal.
	otherEndings = []string{"ació", "ució", "isició", "dició", "cció", "sió", "tat", "tats", "ment", "tion", "tions", "ção", "ções", "ão", "ões", "ing", "zioa", "ren", "rako"}
)

// shortText is the length, in words, up to which a single Spanish word is enough.
const shortText = 12

// inSpanish reports whether a sentence is in Spanish. A document in another language
// may have sentences in Spanish, but they need more evidence.
func inSpanish(text, language string) bool {
	words, spanish, surely, other := 0, 0, 0, 0
	for w := range strings.FieldsSeq(fold(text)) {
		words++
		switch {
		case onlySpanish.words[w]:
			surely++
			spanish++
		case w == "das" || w == "dos" || w == "du" || w == "d":
			// may also be Spanish or names
		case spanishWords.words[w]:
			spanish++
		case otherWords.words[w]:
			other++
		}
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return foldRune(r) < 0 }) {
		if len(w) > 6 && hasEnding(w, otherEndings) {
			other++
		}
	}
	if language != "" && language != "es" {
		return surely >= 2 && other == 0
	}
	if other == 0 && words <= shortText {
		return spanish > 0
	}
	return spanish >= 2 && spanish >= 2*other
}

func hasEnding(word string, endings []string) bool {
	for _, e := range endings {
		if strings.HasSuffix(word, e) {
			return true
		}
	}
	return false
}
