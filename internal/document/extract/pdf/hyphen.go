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

// joined appends a line to another, whose last word it may continue.
func (h hyphenated) joined(before, after string) string {
	head, ok := strings.CutSuffix(before, "-")
	last, _ := utf8.DecodeLastRuneInString(head)
	first, _ := utf8.DecodeRuneInString(after)
	if !ok || !unicode.IsLetter(last) && !unicode.IsDigit(last) {
		return before + " " + after
	}
	switch {
	case unicode.IsUpper(first) || unicode.IsDigit(first):
		return before + after
	case !unicode.IsLower(first):
		return before + " " + after
	case !unicode.IsLetter(last), h[strings.ToLower(lastWord(head)+"-"+firstWord(after))]:
		return before + after
	case unicode.IsUpper(last) && utf8.RuneCountInString(lastWord(head)) > 1:
		return before + after // an abbreviation: IBEX-sectorial
	}
	return head + after
}

func lastWord(s string) string {
	return s[strings.LastIndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })+1:]
}

func firstWord(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		return s
	}
	return s[:end]
}
