package tools

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"pregon/internal/document"
	"pregon/internal/query"
	"pregon/internal/text"
)

// Limits of a result in bytes. Together they are about 6,000 tokens of three and
// a third bytes each.
const (
	maxJSON = 14_000
	maxText = 5_000
	maxRow  = 3_000 // of one report in a list
)

// newResult returns a result within these limits.
func newResult(object []byte, summary string) Result {
	return Result{shrink(object, maxJSON), text.ClipBytes(summary, maxText)}
}

// shrink shortens the strings and lists of a record until it fits. Only
// imported records are that long.
func shrink(object []byte, most int) []byte {
	if len(object) <= most {
		return object
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	var record any
	if dec.Decode(&record) != nil {
		return object // cannot happen: it was just encoded
	}
	for texts, items := 1000, 50; texts > 15; texts, items = texts/2, max(items*2/3, 3) {
		object, _ = query.Encode(cut(record, texts, items)) // decoded values always encode
		if len(object) <= most {
			break
		}
	}
	return object
}

// cut returns a value with its strings and lists shortened.
func cut(value any, texts, items int) any {
	switch v := value.(type) {
	case string:
		return text.Clip(v, texts)
	case []any:
		out := make([]any, 0, min(len(v), items))
		for _, item := range v[:min(len(v), items)] {
			out = append(out, cut(item, texts, items))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = cut(item, texts, items)
		}
		return out
	}
	return value
}

// trim returns the pages of a piece that have text, up to a number of bytes
// including the markup of each page, and the offset to continue from, 0 at the
// end.
func trim(piece *document.Piece, offset, most int) (pages []pageText, next int) {
	const around = 40
	for _, p := range piece.Pages {
		if p.Text == "" {
			continue // a document may have thousands of empty pages
		}
		room := most - around
		if room < utf8.UTFMax && len(pages) > 0 {
			return pages, offset
		}
		kept := text.Prefix(p.Text, max(room, utf8.UTFMax))
		pages = append(pages, pageText{p.Page, kept})
		offset += utf8.RuneCountInString(kept)
		if len(kept) < len(p.Text) {
			return pages, offset
		}
		most -= len(kept) + around
	}
	return pages, piece.Next
}
