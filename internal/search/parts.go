package search

import "strings"

// Part is a word, a phrase or an English market term of a search text. Its text can be
// searched by itself.
type Part struct {
	Text         string   `json:"text"`
	Alternatives []string `json:"alternatives"` // Spanish words that were added to a market term
}

// Parts returns the parts of a query that reports must have, in their order. Excluded
// terms are not among them.
func (q Query) Parts() []Part {
	var out []Part
	widened := q.widened
	for i := 0; i < len(q.must); {
		t := &q.must[i]
		if t.others != nil && len(widened) > 0 {
			out = append(out, Part{widened[0].Term, widened[0].Alternatives})
			i += len(strings.Fields(widened[0].Term))
			widened = widened[1:]
			continue
		}
		out = append(out, Part{Text: t.text(), Alternatives: []string{}})
		i++
	}
	return out
}

// text returns a term as it is typed in a search.
func (t *term) text() string {
	switch {
	case t.exact:
		return `"` + strings.Join(t.words, " ") + `"`
	case len(t.words) > 1 && t.ident != "":
		return t.ident
	}
	return strings.Join(t.words, " ")
}
