package pdf

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hyphenated is the set of words that the document writes with a hyphen within a
// line. At the end of a line such a hyphen is part of the word.
type hyphenated map[string]bool

var withHyphen = regexp.MustCompile(`\p{L}+(?:-\p{L}+)+`)

func (h hyphenated) learn(text string) {
	const maxWords = 100_000
	if !strings.Contains(text, "-") || len(h) > maxWords {
		return
	}
	for _, w := range withHyphen.FindAllString(text, -1) {
		h[strings.ToLower(w)] = true
	}
}

// grade is a rating without its sign: BBB, and bbb as agencies write the grades of a
// part of an analysis. A single small letter begins a word.
var grade = regexp.MustCompile(`^(?:A{1,3}|B{1,3}|C{1,3}|D|E|aa|bbb?|ccc?)$`)

// abbreviation is a short word of capitals, perhaps with digits, which no line divides.
var abbreviation = regexp.MustCompile(`^\p{Lu}[\p{Lu}\p{Nd}]{0,3}$`)

// joined appends a line to another, whose last word it may continue.
func (h hyphenated) joined(before, after string) string {
	head, ok := strings.CutSuffix(before, "-")
	last, _ := utf8.DecodeLastRuneInString(head)
	first, _ := utf8.DecodeRuneInString(after)
	if !ok || !unicode.IsLetter(last) && !unicode.IsDigit(last) {
		return before + " " + after
	}
	word := lastWord(head)
	switch {
	case grade.MatchString(word) && !(unicode.IsDigit(first) && len(word) == 1):
		return before + " " + after // BBB- and a new word; but A-2 is one
	case unicode.IsUpper(first) || unicode.IsDigit(first):
		return before + after
	case !unicode.IsLower(first):
		return before + " " + after
	case h[strings.ToLower(word+"-"+firstWord(after))]:
		return before + after
	case abbreviation.MatchString(lastToken(head)):
		return before + " " + after // its hyphen may be a sign of a rating that is not known here
	case !unicode.IsLetter(last):
		return before + after
	case unicode.IsUpper(last):
		return before + after // a name: CORREOS-sectorial
	}
	return head + after
}

// lastToken returns the letters and digits at the end of a text.
func lastToken(s string) string {
	return s[len(strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })):]
}

// lastWord returns the letters and hyphens at the end of a text.
func lastWord(s string) string {
	return s[len(strings.TrimRightFunc(s, func(r rune) bool { return unicode.IsLetter(r) || r == '-' })):]
}

func firstWord(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		return s
	}
	return s[:end]
}
