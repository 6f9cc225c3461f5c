package site

import (
	"strings"

	"pregon/internal/search"
	"pregon/internal/text"
)

// mark returns a text with the words marked that match a search.
func mark(matches search.Highlighter, s string) []span {
	var out []span
	end := 0
	for _, m := range matches.Spans(s) {
		if m.From > end {
			out = append(out, span{Text: s[end:m.From]})
		}
		out = append(out, span{Text: s[m.From:m.To], Marked: true})
		end = m.To
	}
	if end < len(s) {
		out = append(out, span{Text: s[end:]})
	}
	return out
}

// compareFolded orders texts without regard to case and accents.
func compareFolded(a, b string) int { return strings.Compare(text.Fold(a), text.Fold(b)) }
