package disclosure

import (
	_ "embed"
	"strings"
	"unicode"

	"pregon/internal/text"
)

// legalWords has the words that only names of legal persons have, folded.
//
//go:embed legal_words.txt
var legalWordList string

var legalWords = wordSet(legalWordList)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			set[line] = true
		}
	}
	return set
}

// IsLegalEntity reports whether a name is certainly that of a legal person: a company, a
// fund, a foundation, a public body. Registers write persons and companies in the same
// column, and do not state which is which. A name that has none of the known words, such as
// «Fuente Clara», may be that of a natural person.
//
// Dots within a word are left out, as in S.A., but separate initials are not joined:
// «GIL , S. A.» may be a natural person.
func IsLegalEntity(name string) bool {
	separator := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;()/&-", r) }
	words := strings.FieldsFunc(name, separator)
	for i, word := range words {
		bare := strings.ReplaceAll(word, ".", "")
		folded := text.Fold(bare)
		if !legalWords[folded] {
			continue
		}
		if !surnames[folded] {
			return true
		}
		last := i > 0 && i == len(words)-1
		if last && strings.EqualFold(bare, folded) && !particles[text.Fold(words[i-1])] {
			return true
		}
	}
	return false
}

// surnames are the forms that are names too, as in «DE SÁ , PEDRO». They count only at the
// end of a name, without an accent, and not after a particle.
var (
	surnames  = map[string]bool{"sa": true, "se": true, "as": true, "ab": true, "ag": true, "co": true, "bank": true}
	particles = map[string]bool{"de": true, "da": true, "do": true, "e": true, "y": true}
)
