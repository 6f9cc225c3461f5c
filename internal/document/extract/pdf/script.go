package pdf

import (
	"unicode"

	"pregon/internal/document/extract"
)

// scriptNote returns a note if much of a text is in a script that this package does
// not put into reading order, or an empty string.
func scriptNote(pages []extract.Page) string {
	letters := 0
	leftward := 0
	spaceless := 0
	for _, p := range pages {
		for _, r := range p.Text {
			switch {
			case !unicode.IsLetter(r):
				continue
			case unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana):
				leftward++
			case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
				spaceless++
			}
			letters++
		}
	}
	switch {
	case 10*leftward > letters:
		return "Part of the text is in a script that is written from right to left; its words may be in the " +
			"wrong order."
	case 10*spaceless > letters:
		return "Part of the text is in an East Asian script; its lines may be in the wrong order, and its " +
			"words are not separated."
	}
	return ""
}
