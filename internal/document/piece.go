package document

import (
	"unicode/utf8"

	"pregon/internal/document/extract"
)

// Piece is a part of a text, addressed by the offset of its first character.
// Offsets count no separator between pages.
type Piece struct {
	Pages []PagePiece
	Chars int // characters in the piece
	Next  int // offset of the next piece; 0 for the last piece
	Total int // characters in the text
}

// PagePiece is the part of a page that is in a piece.
type PagePiece struct {
	Page       int            `json:"page"` // from 1
	Text       string         `json:"text"`
	Method     extract.Method `json:"method"`
	Confidence float64        `json:"confidence,omitempty"`
}

// Cut returns up to limit characters of a text from an offset. A page without text
// is in the piece with the character before it.
func Cut(t *extract.Text, offset, limit int) Piece {
	var out Piece
	for i, p := range t.Pages {
		length := utf8.RuneCountInString(p.Text)
		from, to := max(offset-out.Total, 0), min(offset+limit-out.Total, length)
		blank := length == 0 && out.Total <= offset+limit && (out.Total > offset || out.Total == 0 && offset == 0)
		if from < to || blank {
			out.Pages = append(out.Pages, PagePiece{
				Page:       i + 1,
				Text:       chars(p.Text, from, max(from, to)),
				Method:     p.Method,
				Confidence: p.Confidence,
			})
			out.Chars += max(to-from, 0)
		}
		out.Total += length
	}
	if end := offset + out.Chars; out.Chars > 0 && end < out.Total {
		out.Next = end
	}
	return out
}

// chars returns the characters of s from one index to another.
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

// Tokens estimates the tokens of a language model for a number of characters. A
// token of Spanish has about 3.5 characters; the estimate is slightly too high.
func Tokens(characters int) int { return (characters*10 + 32) / 33 }
