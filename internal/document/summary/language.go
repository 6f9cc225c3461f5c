package summary

import (
	"slices"
	"strings"
	"unicode"

	"pregon/internal/document/extract"
	"pregon/internal/document/lexicon"
)

// The words that identify languages. Words that Spanish shares with similar
// languages count for Spanish only if no word counts against it.
var (
	spanishWords = lexiconOf("spanishWords")
	onlySpanish  = lexiconOf("onlySpanish")
	otherWords   = lexiconOf("otherWords")
	// otherEndings have accents: folded, aprobació and aprobacion would be almost
	// equal.
	otherEndings = strings.Fields(lists.Section("otherEndings"))
)

// languageOf returns the language of a sentence, or "" if it is too short to tell.
func languageOf(text string) string { return extract.Language([]extract.Page{{Text: text}}) }

// inLanguage reports whether a sentence is in a language. Only Spanish and English are
// distinguished from all others.
func inLanguage(text, language string) bool {
	if language == "es" || inSpanish(text, language) {
		return language == "es" && inSpanish(text, "es")
	}
	found := languageOf(text)
	return found == "" || found == language || language != "en" && found != "en"
}

// shortText is the length, in words, up to which a single Spanish word is enough.
const shortText = 12

// inSpanish reports whether a sentence is in Spanish. A document in another language
// may have sentences in Spanish, but they need more evidence.
func inSpanish(text, language string) bool {
	words := 0
	spanish := 0
	surely := 0
	other := 0
	for w := range strings.FieldsSeq(lexicon.Fold(text)) {
		words++
		switch {
		case onlySpanish.Has(w):
			surely++
			spanish++
		case w == "das" || w == "dos" || w == "du" || w == "d":
			// may also be Spanish or names
		case spanishWords.Has(w):
			spanish++
		case otherWords.Has(w):
			other++
		}
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(w) > 6 && slices.ContainsFunc(otherEndings, func(e string) bool { return strings.HasSuffix(w, e) }) {
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
