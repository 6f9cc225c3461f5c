package summary

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a number or a mark of a short text.
type token struct {
	text   string
	folded string // empty for marks
	spaced bool   // white space before it
}

func (t token) isNumber() bool { return t.folded != "" && isDigit(t.text[0]) }

func (t token) isCapital() bool {
	first, _ := utf8.DecodeRuneInString(t.text)
	return unicode.IsUpper(first)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

const datePattern = `\d{4}-\d{2}-\d{2}\b|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})\b`

var (
	// tokenShape matches a date in figures, a number with its points, commas and
	// spaces between thousands and with letters attached to it (84.6m, 1T26), a rating
	// with its sign (BBB+, A-2), a word, or a mark.
	tokenShape = regexp.MustCompile(datePattern + `|(?:\d{1,3}(?:[ \x{a0}\x{202f}]\d{3})+\b(?:[.,]\d+)?|\d+(?:[.,:/']\d+)*)[\pL\d]*` +
		`|[A-Z][A-Z0-9]{0,3}(?:\+|-\d)|[\pL\pM\d]+|\S`)
	ratingEnd = regexp.MustCompile(`^-(?:[ ,.;:)"”»’']|$)`)
	capitals  = regexp.MustCompile(`^[A-Z]{1,4}$`)
)

// tokenise splits a text into tokens.
func tokenise(text string) []token {
	var tokens []token
	end := 0
	for _, at := range tokenShape.FindAllStringIndex(text, -1) {
		if at[0] < end {
			continue // the minus of a rating
		}
		spaced := at[0] > end || end == 0
		end = at[1]
		if capitals.MatchString(text[at[0]:end]) && ratingEnd.MatchString(text[end:]) {
			end++ // A-
		}
		t := token{text: text[at[0]:end], spaced: spaced}
		t.folded = strings.ReplaceAll(strings.TrimSpace(fold(t.text)), " ", "")
		tokens = append(tokens, t)
	}
	return tokens
}
