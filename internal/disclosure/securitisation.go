package disclosure

import (
	"slices"
	"strings"

	"pregon/internal/text"
)

// IsSecuritisationFund reports whether the name of an issuer is that of a
// securitisation fund. No register lists these funds, but the law makes them say in
// their names what they are. The companies that manage them have the same word in
// theirs, and a legal form, which a fund has not.
func IsSecuritisationFund(name string) bool {
	words := text.Words(name)
	if slices.ContainsFunc(words, isManagerWord) || len(words) == 0 || companyForms[words[len(words)-1]] {
		return false
	}
	return slices.Contains(words, "titulizacion") || endsInFundForm(words)
}

// isManagerWord reports whether a word is only in the names of managers. Initials
// that follow each other are one word, as in S.G.F.T. S.A.
func isManagerWord(word string) bool {
	return strings.Contains(word, "sgft") || strings.HasPrefix(word, "gestora") ||
		strings.HasPrefix(word, "titulizadora")
}

var (
	companyForms = map[string]bool{"sa": true, "sau": true, "sl": true, "slu": true}
	fundForms    = map[string]bool{"ft": true, "fta": true, "fth": true}
)

// endsInFundForm reports whether a name ends in the legal form of a securitisation
// fund: one word, or as many words as it has letters.
func endsInFundForm(words []string) bool {
	if fundForms[words[len(words)-1]] {
		return true
	}
	for n := 2; n <= min(3, len(words)-1); n++ {
		if form := strings.Join(words[len(words)-n:], ""); len(form) == n && fundForms[form] {
			return true
		}
	}
	return false
}
