package value

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/lexicon"
)

// Token is a word, a number or a mark of a text.
type Token struct {
	Text   string
	Folded string // empty for marks
	Spaced bool   // white space before it
	At     int    // the offset in the text
}

// End returns the offset behind the token.
func (t Token) End() int { return t.At + len(t.Text) }

// IsNumber reports whether the token begins with a digit.
func (t Token) IsNumber() bool { return t.Folded != "" && isDigit(t.Text[0]) }

// IsCapital reports whether the token begins with a capital letter.
func (t Token) IsCapital() bool {
	first, _ := utf8.DecodeRuneInString(t.Text)
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

// Tokenise splits a text into tokens.
func Tokenise(text string) []Token {
	var tokens []Token
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
		t := Token{Text: text[at[0]:end], Spaced: spaced, At: at[0]}
		t.Folded = strings.ReplaceAll(strings.TrimSpace(lexicon.Fold(t.Text)), " ", "")
		tokens = append(tokens, t)
	}
	return tokens
}
