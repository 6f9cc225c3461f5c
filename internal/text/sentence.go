package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence returns a clause, such as the text of an error, as a sentence: with a
// capital letter and a full stop.
func Sentence(clause string) string {
	first, size := utf8.DecodeRuneInString(clause)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(clause[size:], ".") + "."
}
