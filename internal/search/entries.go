package search

import (
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/search/segment"
)

// entriesMatcher are the entries of a watchlist, compiled.
type entriesMatcher struct {
	issuers map[string]bool // identifiers
	filters []*Matcher
}

// compileEntries returns the matcher of entries. Those of a list that is not known match
// nothing.
func compileEntries(e *disclosure.Entries) *entriesMatcher {
	m := &entriesMatcher{}
	if e == nil {
		return m
	}
	m.issuers = setOf(e.Issuers)
	for _, f := range e.Filters {
		if !f.InDocument { // package events compares the texts of documents
			m.filters = append(m.filters, Compile(f))
		}
	}
	return m
}

// match reports whether the entries have one of the identifiers of an issuer, or a filter
// that selects.
func (m *entriesMatcher) match(idents []string, selects func(*Matcher) bool) bool {
	return containsAny(m.issuers, idents) || slices.ContainsFunc(m.filters, selects)
}

func setOf(all []string) map[string]bool {
	set := make(map[string]bool, len(all))
	for _, one := range all {
		set[one] = true
	}
	return set
}

func containsAny(set map[string]bool, some []string) bool {
	return len(set) > 0 && slices.ContainsFunc(some, func(s string) bool { return set[s] })
}

// choice returns the entries of a filter in the numbers of the index.
func (x *Index) choice(e *disclosure.Entries) *segment.Choice {
	c := &segment.Choice{}
	if e == nil {
		return c
	}
	c.Refs = x.join.namedAny(e.Issuers)
	for i, f := range e.Filters {
		if q, ok := x.entry(f, e.InDocuments(i)); ok {
			c.Queries = append(c.Queries, q)
		}
	}
	return c
}

// entry returns the query of a saved search. ok is false if it selects no report. One that
// searches in documents selects the reports with the documents that were found.
func (x *Index) entry(f disclosure.Filter, found disclosure.DocumentSet) (q segment.Query, ok bool) {
	if !f.InDocument {
		q = x.compile(f)
		return q, !q.Empty
	}
	if found == nil {
		return q, false
	}
	q = x.compile(f.WithoutWords())
	others := q.Check
	q.Check = func(d *segment.Doc) bool { return found.Has(d.Document) && (others == nil || others(d)) }
	return q, !q.Empty
}
