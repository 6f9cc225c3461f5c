package document

import (
	"unicode/utf8"

	"pregon/internal/document/extract"
)

// Piece is a run of a text, in characters from its beginning. Nothing stands
// between two pages: the last character of one is followed by the first of the
// next.
type Piece struct {
	Pages []PagePiece
	Chars int // in the piece
	Next  int // where the next piece begins; 0 when this is the last
	Total int // characters of the whole text
}

// PagePiece is what a piece has of a page.
type PagePiece struct {
	Page       int            `json:"page"` // from 1
	Text       string         `json:"text"`
	Method     extract.Method `json:"method"`
	Confidence float64        `json:"confidence,omitempty"`
}

// Cut returns up to most characters of a text from an offset on. A page without
// text is in the piece that has the character before it.
func Cut(t *extract.Text, offset, most int) Piece {
	var out Piece
	for i, p := range t.Pages {
		length := utf8.RuneCountInString(p.Text)
		from, to := max(offset-out.Total, 0), min(offset+most-out.Total, length)
		blank := length == 0 && out.Total <= offset+most && (out.Total > offset || out.Total == 0 && offset == 0)
		if from < to || blank {
			out.Pages = append(out.Pages, PagePiece{Page: i + 1, Text: chars(p.Text, from, max(from, to)), Method: p.Method, Confidence: p.Confidence})
			out.Chars += max(to-from, 0)
		}
		out.Total += length
	}
	if end := offset + out.Chars; out.Chars > 0 && end < out.Total {
		out.Next = end
	}
	return out
}

// chars returns the characters from one place to another.
func chars(s string, from, to int) string {
	if from == 0 && to == utf8.RuneCountInString(s) {
		return s
	}
	start, n := len(s), 0
	for at := range s {
		if n == from {
			start = at
		}
		if n == to {
			return s[start:at]
		}
		n++
	}
	return s[start:]
}

// Tokens estimates how many tokens of a language model so many characters of a
// text are. Spanish takes about one for three and a half; the estimate is on
// the safe side.
func Tokens(characters int) int { return (characters*10 + 32) / 33 }
