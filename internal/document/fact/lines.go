package fact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/document/passage"
	"pregon/internal/document/value"
)

// splitLines splits a block into its lines if each of them has a label and a value, as in a
// form without columns: "Fecha de pago: 5 de mayo de 2026". Otherwise it is a paragraph,
// whose lines end anywhere.
func splitLines(page string, block passage.Span) []passage.Span {
	text := block.Of(page)
	if !strings.Contains(text, "\n") {
		return []passage.Span{block}
	}
	var lines []passage.Span
	at := block.Start
	for line := range strings.Lines(text) {
		if !isLabelLine(line) {
			return []passage.Span{block}
		}
		lines = append(lines, passage.Span{Start: at, End: at + len(strings.TrimRight(line, "\n "))})
		at += len(line)
	}
	return lines
}

// isLabelLine reports whether a line begins with a short label and a colon.
func isLabelLine(line string) bool {
	const longest = 60
	label, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(label, "-–—•*·() \t"))
	isLabel := len(label) <= longest && !strings.Contains(label, ". ") &&
		(unicode.IsUpper(first) || unicode.IsDigit(first))
	return ok && isLabel && strings.TrimSpace(rest) != ""
}

// inTwoNotations reports whether the figures of two texts are in different notations.
func inTwoNotations(a, b string) bool {
	notation := func(text string) (s style) {
		for _, t := range value.Tokenise(text) {
			if t.IsNumber() {
				s.count(t.Text)
			}
		}
		return s
	}
	left, right := notation(a), notation(b)
	return left.spanish > 0 && left.english == 0 && right.english > 0 && right.spanish == 0 ||
		left.english > 0 && left.spanish == 0 && right.spanish > 0 && right.english == 0
}
