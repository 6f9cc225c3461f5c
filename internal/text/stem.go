package text

import "strings"

// Stem returns a folded word without its plural and gender ending. It is a
// light stemmer in the manner of J. Savoy's: it needs no accents, and it does
// not reach into verbs and derivations, because two companies' names must not
// fall together.
func Stem(word string) string {
	if n := len(word); n < 3 || isDigit(word[n-1]) {
		return word
	}
	word = singular(word)
	n := len(word)
	switch {
	case n >= 5 && (word[n-1] == 'o' || word[n-1] == 'a'): // dividendo, junta
		return word[:n-1]
	case n >= 4 && word[n-1] == 'e': // balance
		return word[:n-1]
	case word[n-1] == 'z': // raiz, raices
		return word[:n-1] + "c"
	}
	return word
}

func singular(word string) string {
	n := len(word)
	switch {
	case n >= 7 && strings.HasSuffix(word, "eses"): // intereses, interes
		return word[:n-4]
	case n >= 5 && strings.HasSuffix(word, "es"): // acciones, balances
		return word[:n-2]
	case n >= 4 && (strings.HasSuffix(word, "os") || strings.HasSuffix(word, "as")):
		return word[:n-1]
	}
	return word
}
