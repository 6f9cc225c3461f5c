package site

import (
	"strings"
	"unicode/utf8"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/query"
	"pregon/internal/site/render"
)

// searchPage are the results of a search.
type searchPage struct {
	*listing
	Search  string
	Locked  bool   // documents are searched with a credential only
	SignIn  string // address of the same search for people who sign in, or ""
	Issuers []suggested
	Facets  []facet
	Where   []choice // search in reports or in documents
	Blank   bool     // nothing was searched for
}

// facet is a condition with the number of reports for each of its values.
type facet struct {
	Name   string
	Values []choice
	More   []choice // less frequent ones
}

// add adds the value at a place of the facet. Only the first ones, and the selected
// one, are always visible.
func (f *facet) add(place int, v choice) {
	switch {
	case place < facetValues || v.Selected:
		f.Values = append(f.Values, v)
	case place < moreValues:
		f.More = append(f.More, v)
	}
}

// Sizes of the page.
const (
	searchRows   = 30
	foundIssuers = 4
	facetValues  = 8
	moreValues   = 40
)

// search shows the results of a search with their facets.
func (s *Site) search(q *request) (*render.Page, error) {
	read := q.params.List
	if q.bySession() {
		read = q.params.ListInDocuments
	}
	list := read(q.snapshot)
	list.Limit = searchRows
	out := &searchPage{Search: list.Filter.Search}
	title := q.edition.Text("search.title")
	if out.Search != "" {
		out.Where = []choice{
			{Text: q.edition.Text("search.inreports"), URL: q.with("/search", "in", ""), Selected: !list.InDocuments},
			{
				Text:     q.edition.Text("search.indocuments"),
				URL:      s.inDocuments(q),
				Selected: list.InDocuments,
			},
		}
		title = q.edition.Text("search.titleof", out.Search)
	}
	done := &render.Page{
		Template:    "search",
		Title:       title,
		Description: q.edition.Text("search.description"),
		Data:        out,
		NoIndex:     true,
	}
	if list.InDocuments && q.principal.Mode == access.Anonymous {
		if err := q.params.Err(); err != nil {
			return nil, err
		}
		out.Locked, out.listing = true, &listing{Form: q.form()}
		if len(s.Parts) > 0 { // there are accounts
			out.SignIn = s.inDocuments(q)
		}
		return done, nil
	}
	found, page, err := s.find(q, list)
	if err != nil {
		return nil, err
	}
	out.listing = found
	out.Blank = list.Filter == (disclosure.Filter{})
	if list.InDocuments {
		if out.Form.Save != "" {
			out.Form.Save = q.edition.Link("/account/watchlists/save" + q.parameters("in", query.InDocument))
		}
		if err := s.addSnippets(q, list, page, found); err != nil {
			return nil, err
		}
	}
	if out.Issuers, err = q.foundIssuers(list.Filter.Search); err != nil {
		return nil, err
	}
	facets, err := s.Query.Facets(q.Context(), q.snapshot, list)
	if err != nil {
		return nil, err
	}
	out.Facets = q.facets(facets)
	return done, nil
}

// inDocuments returns the address that searches documents for the same words. A person
// signs in there; without accounts a program needs a credential.
func (s *Site) inDocuments(q *request) string {
	if len(s.Parts) > 0 {
		return q.with(sessionSearch, "in", "")
	}
	return q.with("/search", "in", query.InDocument)
}

// foundIssuers returns the issuers that a search text names.
func (q *request) foundIssuers(text string) ([]suggested, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	found, err := q.snapshot.Issuers(q.Context(), text, "", foundIssuers)
	return q.suggestIssuers(found), err
}

// facets returns the counts of a search with the addresses that narrow it.
func (q *request) facets(f catalog.Facets) (out []facet) {
	add := func(name, parameter string, counts []catalog.Facet, text func(string) string) {
		one := facet{Name: q.edition.Text("filter." + name)}
		for i, c := range counts {
			selected := q.values.Get(parameter) == c.Value
			v := choice{
				Value:    c.Value,
				Text:     text(c.Value),
				Count:    c.Total,
				Selected: selected,
				URL:      q.with(q.searchPath(), parameter, c.Value),
			}
			if selected {
				v.URL = q.with(q.searchPath(), parameter, "")
			}
			one.add(i, v)
		}
		if len(one.Values) > 1 || len(one.Values) == 1 && one.Values[0].Selected {
			out = append(out, one)
		}
	}
	same := func(s string) string { return s }
	add("types", "type", f.Types, func(t string) string { return q.edition.Text("type." + t) })
	if len(f.Years) > 0 {
		out = append(out, q.yearFacet(f.Years))
	}
	add("category", "category", f.Categories, q.edition.Category)
	add("market", "market", f.Markets, same)
	add("sector", "sector", f.Sectors, q.edition.Sector)
	return out
}

// yearFacet returns the years of a search. A year is a condition on both days.
func (q *request) yearFacet(years []catalog.Facet) facet {
	out := facet{Name: q.edition.Text("search.year")}
	for i, y := range years {
		from, to := y.Value+"-01-01", y.Value+"-12-31"
		v := choice{
			Value:    y.Value,
			Text:     y.Value,
			Count:    y.Total,
			Selected: q.values.Get("from") == from && q.values.Get("to") == to,
		}
		v.URL = q.with(q.searchPath(), "from", from, "to", to)
		if v.Selected {
			v.URL = q.with(q.searchPath(), "from", "", "to", "")
		}
		out.add(i, v)
	}
	return out
}

// addSnippets adds the places in the documents that match a search to its rows.
func (s *Site) addSnippets(q *request, list query.List, found catalog.Page, into *listing) error {
	snippets, err := s.Query.Snippets(q.Context(), list.Filter, found.Reports)
	if err != nil {
		return err
	}
	byReport := map[string][]document.Snippet{}
	for i, f := range found.Reports {
		byReport[f.ID()] = snippets[i]
	}
	for _, d := range into.Days {
		for _, g := range d.Groups {
			for i := range g.Rows {
				for _, snippet := range byReport[g.Rows[i].ID] {
					g.Rows[i].Snippets = append(g.Rows[i].Snippets, snippetSpans{snippet.Page, spansOf(snippet)})
				}
			}
		}
	}
	return nil
}

// snippetSpans is a place in a document that matches a search.
type snippetSpans struct {
	Page int
	Text []span
}

// spansOf returns the text of a snippet with its matches marked. Their places count
// characters.
func spansOf(s document.Snippet) (out []span) {
	cut := func(chars int) string {
		at := 0
		for ; chars > 0 && at < len(s.Text); chars-- {
			_, size := utf8.DecodeRuneInString(s.Text[at:])
			at += size
		}
		head := s.Text[:at]
		s.Text = s.Text[at:]
		return head
	}
	end := 0
	for _, m := range s.Marks {
		out = append(out, span{Text: cut(m[0] - end)}, span{Text: cut(m[1] - m[0]), Marked: true})
		end = m[1]
	}
	return append(out, span{Text: s.Text})
}
