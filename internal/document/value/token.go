package value

import (
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

// Tokenise splits a text into tokens: numbers, ratings with their sign (BBB+, A-2),
// words and marks. Most tokens are words, so it looks for numbers only at digits.
func Tokenise(text string) []Token {
	return AppendTokens(make([]Token, 0, len(text)/6+1), text)
}

// AppendTokens is like Tokenise but appends the tokens to a slice.
func AppendTokens(tokens []Token, text string) []Token {
	end := 0
	for at := 0; at < len(text); at = max(end, at) {
		c := text[at]
		if isSpace(c) {
			at++
			for at < len(text) && isSpace(text[at]) {
				at++
			}
			if at == len(text) {
				break
			}
		}
		spaced := at > end || end == 0
		end = tokenEnd(text, at)
		t := Token{Text: text[at:end], Spaced: spaced, At: at}
		t.Folded = foldToken(t.Text)
		tokens = append(tokens, t)
	}
	return tokens
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

// tokenEnd returns the end of the token that begins at an index.
func tokenEnd(text string, at int) int {
	if isDigit(text[at]) {
		return numberEnd(text, at)
	}
	end := wordEnd(text, at)
	if end == at { // a mark
		_, size := utf8.DecodeRuneInString(text[at:])
		return at + size
	}
	if behind, ok := ratingEnd(text, at); ok {
		return behind
	}
	return end
}

// wordEnd returns the index behind the letters and digits that begin at an index.
func wordEnd(text string, at int) int {
	for at < len(text) {
		c := text[at]
		if c < utf8.RuneSelf {
			if !isLetter(c) && !isDigit(c) {
				break
			}
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(r) && !unicode.Is(unicode.M, r) {
			break
		}
		at += size
	}
	return at
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || isUpper(c) }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// longestRating is the length of the longest rating without its sign.
const longestRating = 4

// ratingEnd returns the index behind a rating with its sign: BBB+, A-2, or A- if a space
// or a mark follows, so that it is no hyphen.
func ratingEnd(text string, at int) (end int, ok bool) {
	if !isUpper(text[at]) {
		return 0, false
	}
	end = at
	plain := true // only letters
	for end < len(text) && (isUpper(text[end]) || isDigit(text[end])) {
		plain = plain && isUpper(text[end])
		end++
	}
	if end-at > longestRating || end == len(text) {
		return 0, false
	}
	rest := text[end+1:]
	switch {
	case text[end] == '+':
		return end + 1, true
	case text[end] != '-':
		return 0, false
	case rest != "" && isDigit(rest[0]):
		return end + 2, true
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return end + 1, plain && (rest == "" || strings.ContainsRune(" ,.;:)\"”»’'", next))
}

// foldToken returns a token without case and accents, "" for a mark. Most tokens need no
// more than a look at their bytes.
func foldToken(text string) string {
	if c, size := utf8.DecodeRuneInString(text); size == len(text) && !unicode.IsLetter(c) && !unicode.IsNumber(c) {
		return "" // a mark
	}
	simple := 0 // bytes that stay as they are
	for simple < len(text) && ('a' <= text[simple] && text[simple] <= 'z' || isDigit(text[simple])) {
		simple++
	}
	if simple == len(text) {
		return text
	}
	var buffer [32]byte
	folded := append(buffer[:0], text[:min(simple, len(buffer))]...)
	for _, c := range text[len(folded):] {
		if isMarkWithin(c) {
			continue
		}
		plain := foldLetter(c)
		if plain == 0 || len(folded) == len(buffer) {
			return strings.ReplaceAll(strings.TrimSpace(lexicon.Fold(text)), " ", "")
		}
		folded = append(folded, plain)
	}
	return string(folded)
}

// isMarkWithin reports whether a character of a number or a word is not part of its folded
// form: the points of 1.234, the sign of BBB+, the indicator of 1º.
func isMarkWithin(c rune) bool {
	return c < utf8.RuneSelf && !isLetter(byte(c)) && !isDigit(byte(c)) || c == 'º' || c == 'ª'
}

// foldLetter returns the plain letter or digit of a character of Spanish or English, or
// 0 if it is another character.
func foldLetter(c rune) byte {
	switch {
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return byte(c)
	case 'A' <= c && c <= 'Z':
		return byte(c) + 'a' - 'A'
	}
	switch c {
	case 'á', 'à', 'Á', 'À':
		return 'a'
	case 'é', 'è', 'É', 'È':
		return 'e'
	case 'í', 'ï', 'Í', 'Ï':
		return 'i'
	case 'ó', 'ò', 'Ó', 'Ò':
		return 'o'
	case 'ú', 'ü', 'Ú', 'Ü':
		return 'u'
	case 'ñ', 'Ñ':
		return 'n'
	case 'ç', 'Ç':
		return 'c'
	}
	return 0
}
