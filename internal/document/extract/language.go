package extract

import (
	"strings"
	"unicode"
)

// languages are the languages that Language detects.
var languages = []string{"es", "ca", "gl", "eu", "en", "pt", "fr"}

// functionWords are the most frequent short words of each language. A word of
// two languages counts for both.
var functionWords = map[string][]string{
	"es": {"de", "la", "el", "los", "las", "en", "y", "que", "del", "por", "con", "para", "una", "un", "se", "su", "al", "como", "no", "sus", "ha", "es", "o", "lo", "más", "entre", "sobre", "sin", "así", "cuando"},
	"ca": {"de", "la", "el", "els", "les", "en", "i", "que", "del", "dels", "per", "amb", "una", "un", "es", "seu", "al", "com", "no", "ha", "aquest", "aquesta", "són", "o", "més", "entre", "sobre", "sense", "així", "als", "pel", "és"},
	"gl": {"de", "a", "o", "os", "as", "en", "e", "que", "do", "da", "dos", "das", "por", "con", "para", "unha", "un", "se", "seu", "ao", "como", "non", "no", "na", "nos", "nas", "máis", "entre", "sobre", "sen", "é", "súa", "polo", "pola"},
	"eu": {"eta", "da", "ez", "du", "dira", "bat", "ere", "edo", "izan", "dute", "zen", "hau", "baina", "bere", "egin", "den", "dituzte", "dela", "bezala", "arte", "zuen", "baita", "urteko", "beste", "guztiak"},
	"en": {"the", "of", "and", "to", "in", "a", "is", "that", "for", "on", "with", "as", "by", "at", "from", "are", "be", "this", "or", "an", "which", "has", "have", "its", "not", "will", "was", "been", "were"},
	"pt": {"de", "a", "o", "os", "as", "em", "e", "que", "do", "da", "dos", "das", "por", "com", "para", "uma", "um", "se", "seu", "ao", "como", "não", "no", "na", "nos", "nas", "mais", "entre", "sobre", "sem", "é", "são", "pelo", "pela", "à"},
	"fr": {"de", "la", "le", "les", "en", "et", "que", "du", "des", "par", "avec", "pour", "une", "un", "se", "sa", "au", "aux", "comme", "ne", "pas", "a", "est", "ou", "plus", "entre", "sur", "sans", "dans", "qui", "il", "ce", "cette", "sont"},
}

var languagesOf = func() map[string][]string {
	m := map[string][]string{}
	for language, words := range functionWords {
		for _, w := range words {
			m[w] = append(m[w], language)
		}
	}
	return m
}()

// Language returns the language of a text by its function words, or "" if there
// are too few.
func Language(pages []Page) string {
	const enough = 5_000 // words
	count := map[string]int{}
	words := 0
	for _, p := range pages {
		for w := range strings.FieldsFuncSeq(p.Text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if words++; words > enough {
				break
			}
			for _, language := range languagesOf[strings.ToLower(w)] {
				count[language]++
			}
		}
	}
	best := ""
	for _, language := range languages {
		if count[language] > count[best] {
			best = language
		}
	}
	if count[best] < 3 || count[best]*12 < min(words, enough) {
		return ""
	}
	return best
}
