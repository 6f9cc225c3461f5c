package site

import (
	"context"
	"strings"

	"pregon/internal/query"
)

// explanation says why a search finds nothing: what each of its words finds alone.
type explanation struct {
	Words   []explainedWord
	Rest    *choice // the other conditions without the words; nil if there are none
	Skipped int     // further words, which were not counted
}

// explainedWord is a word of a search text with the reports that match it alone.
type explainedWord struct {
	Text     string
	Also     string // Spanish words that were searched for too, or ""
	Here     choice // with the other conditions; without an address if it finds nothing
	Anywhere *choice
}

// explain returns why a list is empty, or nil if its words do not say why: it has none, or
// only one and no other condition.
func (s *Site) explain(ctx context.Context, q *request, list query.List) (*explanation, error) {
	why, err := s.Query.Explain(ctx, q.snapshot, list)
	if err != nil {
		return nil, err
	}
	if len(why.Words) == 0 || len(why.Words) == 1 && why.Rest == nil {
		return nil, nil
	}
	path := q.URL.EscapedPath()
	out := &explanation{Skipped: why.More}
	for _, w := range why.Words {
		word := explainedWord{
			Text: w.Text,
			Also: strings.Join(w.Alternatives[:min(len(w.Alternatives), maxShownWords)], ", "),
			Here: choice{Count: w.Here},
		}
		if w.Here > 0 {
			word.Here.URL = q.with(path, "search", w.Text)
		}
		if w.Anywhere > w.Here {
			word.Anywhere = &choice{
				Count: w.Anywhere,
				URL:   q.edition.Link(q.searchPath() + queryOf("search", w.Text, "in", q.values.Get("in"))),
			}
		}
		out.Words = append(out.Words, word)
	}
	if why.Rest != nil {
		out.Rest = &choice{Count: *why.Rest}
		if *why.Rest > 0 {
			out.Rest.URL = q.with(path, "search", "", "in", "")
		}
	}
	return out, nil
}
