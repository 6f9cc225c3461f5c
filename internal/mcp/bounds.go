package mcp

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"pregon/internal/document"
	"pregon/internal/query"
	"pregon/internal/text"
)

// What an answer may be long, in bytes: together about 6,000 tokens, some three
// and a third bytes each.
const (
	maxJSON = 14_000
	maxText = 5_000
	maxRow  = 3_000 // of one report in a list
)

// newResult is a result within these bounds.
func newResult(object []byte, summary string) result {
	return result{shrink(object, maxJSON), text.ClipBytes(summary, maxText)}
}

// bounded cuts a record that is longer than any of the regulator's is, as an
// imported one may be: its texts and lists, the longest first.
func shrink(object []byte, most int) []byte {
	if len(object) <= most {
		return object
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	var record any
	if dec.Decode(&record) != nil {
		return object // which was encoded a moment ago
	}
	for texts, items := 1000, 50; texts > 15; texts, items = texts/2, max(items*2/3, 3) {
		object, _ = query.Encode(cut(record, texts, items)) // of what was decoded
		if len(object) <= most {
			break
		}
	}
	return object
}

// cut returns a value with its texts and lists cut.
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

// trim keeps the pages of a piece that have text, up to so many bytes with what
// goes around each, and returns where to go on; 0 at the end.
func trim(piece *document.Piece, offset, most int) (pages []pageText, next int) {
	const around = 40
	for _, p := range piece.Pages {
		if p.Text == "" {
			continue // says nothing, and a document may have thousands
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
