package value

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/document/lexicon"
)

const datePattern = `\d{4}-\d{2}-\d{2}\b|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})\b`

// The shapes of tokens as regular expressions: slower, and easier to read.
var (
	tokenShape = regexp.MustCompile(datePattern + `|(?:\d{1,3}(?:[ \x{a0}\x{202f}]\d{3})+\b(?:[.,]\d+)?|\d+(?:[.,:/']\d+)*)[\pL\d]*` +
		`|[A-Z][A-Z0-9]{0,3}(?:\+|-\d)|[\pL\pM\d]+|\S`)
	signedEnd = regexp.MustCompile(`^-(?:[ ,.;:)"”»’']|$)`)
	capitals  = regexp.MustCompile(`^[A-Z]{1,4}$`)
)

func tokeniseByShape(text string) []Token {
	var tokens []Token
	end := 0
	for _, at := range tokenShape.FindAllStringIndex(text, -1) {
		if at[0] < end {
			continue // the minus of a rating
		}
		spaced := at[0] > end || end == 0
		end = at[1]
		if capitals.MatchString(text[at[0]:end]) && signedEnd.MatchString(text[end:]) {
			end++ // A-
		}
		t := Token{Text: text[at[0]:end], Spaced: spaced, At: at[0]}
		t.Folded = strings.ReplaceAll(strings.TrimSpace(lexicon.Fold(t.Text)), " ", "")
		tokens = append(tokens, t)
	}
	return tokens
}

func FuzzTokenise(f *testing.F) {
	for _, text := range []string{
		"El 15.12.2026 pagará 1.284,6 millones; rating BBB- y A-2, Baa1, BB+ (AA-).",
		"2026-01-02 1 000 000,5 84.6m 1T26 12:30h nº Dª Àlex’s ’49 ABCDE+ ABCD- X",
		"1.2.26 1.2.2026 1.2.20267 12/13/14a 2026-05-28T12 2026-05-2 1 234x 12 3456 1 234 567,89m 1'5 12:30:45 1., 1º",
		"a\u0301 \u00a0\u202f9 999 \xff\u200b ß İ ﬁ",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, want := Tokenise(text), tokeniseByShape(text)
		if !slices.Equal(got, want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
		}
	})
}
