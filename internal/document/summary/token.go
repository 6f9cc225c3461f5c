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
	start  int    // in bytes
	spaced bool   // white space before it
}

func (t token) isNumber() bool { return t.folded != "" && isDigit(t.text[0]) }

func (t token) isCapital() bool {
	first, _ := utf8.DecodeRuneInString(t.text)
	return unicode.IsUpper(first)
}

// dateShape matches a date in figures, which is one token.
var dateShape = regexp.MustCompile(`^(?:\d{4}-\d{2}-\d{2}|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2}))`)

// tokenise splits a text into tokens. Numbers keep their points and commas, and the
// spaces between their thousands; ratings keep their signs.
func tokenise(text string) []token {
	var tokens []token
	spaced := true
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) || hidden(r) {
			spaced = spaced || unicode.IsSpace(r)
			i += size
			continue
		}
		end := i + size
		switch {
		case '0' <= r && r <= '9':
			end = i + numberLength(text[i:])
		case foldRune(r) >= 0:
			end = i + wordLength(text[i:])
		}
		t := token{text: text[i:end], start: i, spaced: spaced}
		if foldRune(r) >= 0 {
			t.folded = strings.ReplaceAll(strings.TrimSpace(fold(t.text)), " ", "")
		}
		tokens = append(tokens, t)
		i, spaced = end, false
	}
	return tokens
}

// numberLength returns the length of the number, date or code that begins here.
func numberLength(text string) int {
	if date := dateShape.FindString(text); date != "" && !digitAt(text, len(date)) {
		return len(date)
	}
	i := 0
	for i < len(text) {
		switch c := text[i]; {
		case isDigit(c):
			i++
		case strings.IndexByte(".,:/'", c) >= 0 && digitAt(text, i+1):
			i += 2
		case i <= 3 && !strings.ContainsAny(text[:i], ".,:/'") && thousandsAt(text[i:]) > 0:
			i += thousandsAt(text[i:])
			for thousandsAt(text[i:]) > 0 {
				i += thousandsAt(text[i:])
			}
		default:
			return i + suffixLength(text[i:])
		}
	}
	return i
}

// suffixLength returns the length of the letters attached to a number: 84.6m, 1T26.
func suffixLength(text string) int {
	r, _ := utf8.DecodeRuneInString(text)
	if foldRune(r) < 0 {
		return 0
	}
	return wordLength(text)
}

func digitAt(text string, i int) bool { return i < len(text) && isDigit(text[i]) }

// thousandsAt returns the length of a space and exactly three digits.
func thousandsAt(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if !unicode.IsSpace(r) || r == '\n' {
		return 0
	}
	for k := range 3 {
		if !digitAt(text, size+k) {
			return 0
		}
	}
	if digitAt(text, size+3) {
		return 0
	}
	return size + 3
}

// wordLength returns the length of the word that begins here, including the sign of
// a rating: BBB+, A-2.
func wordLength(text string) int {
	i, capitals := 0, true
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if foldRune(r) < 0 && !hidden(r) && !unicode.Is(unicode.Mn, r) {
			break
		}
		capitals = capitals && (unicode.IsUpper(r) || unicode.IsDigit(r))
		i += size
	}
	if !capitals || i > 4 || i == len(text) {
		return i
	}
	switch {
	case text[i] == '+':
		return i + 1
	case text[i] == '-' && digitAt(text, i+1):
		return i + 2
	case text[i] == '-' && (i+1 == len(text) || strings.IndexByte(" ,.;)\n", text[i+1]) >= 0):
		return i + 1
	}
	return i
}
