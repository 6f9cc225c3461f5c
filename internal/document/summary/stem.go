package summary

import (
	"strings"

	plain "pregon/internal/text"
)

// stopWords are words without information about the topic of a sentence.
var stopWords = lexiconOf("stopWords")

// stems returns the set of the stems of a folded text, without stop words.
func stems(folded string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(folded) {
		if !stopWords.has(w) {
			set[plain.Stem(w)] = true
		}
	}
	return set
}

// shared returns the number of stems in both sets.
func shared(a, b map[string]bool) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}
