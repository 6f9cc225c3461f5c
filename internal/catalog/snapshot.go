package catalog

import (
	"sync"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// Snapshot is the catalogue as it was at one seq. It never changes.
type Snapshot struct {
	seq      int64
	filings  []*search.Filing // as lists show them: newest first
	byID     map[string]*search.Filing
	entities []*search.Entity // by name
	byKey    map[string]*search.Entity
	byName   map[string]*search.Entity // by folded name; nil where two share it

	analytics struct {
		mu     sync.Mutex
		minute int64      // guarded by mu: when latest was worked out
		latest *Analytics // guarded by mu
	}
}

// Seq returns the newest change that the snapshot knows of.
func (s *Snapshot) Seq() int64 { return s.seq }

// Len returns the number of filings.
func (s *Snapshot) Len() int { return len(s.filings) }

// Page is one page of a list, and how many there are in all.
type Page struct {
	Total   int
	Filings []*search.Filing
}

// Reports returns a page of the filings that a filter lets through. Pages
// count from 1; one past the end is empty.
func (s *Snapshot) Reports(f disclosure.Filter, page, limit int) Page {
	m := search.Compile(f)
	first := (int64(page) - 1) * int64(limit)
	var out Page
	for _, filing := range s.filings {
		if !m.Match(filing) {
			continue
		}
		if at := int64(out.Total); at >= first && at < first+int64(limit) {
			out.Filings = append(out.Filings, filing)
		}
		out.Total++
	}
	return out
}

// Report returns one filing by its id.
func (s *Snapshot) Report(id string) (*search.Filing, bool) {
	f, ok := s.byID[id]
	return f, ok
}

// Issuers returns the best answers to a query, then by name.
func (s *Snapshot) Issuers(query string, kind disclosure.Kind, limit int) []*search.Entity {
	q := search.Parse(query)
	var ranked [search.Identity + 1][]*search.Entity
	for _, e := range s.entities {
		if kind == "" || e.Issuer.Kind == kind {
			rank := q.Rank(e)
			ranked[rank] = append(ranked[rank], e)
		}
	}
	var out []*search.Entity
	for rank := search.Identity; rank > search.NoMatch; rank-- {
		out = append(out, ranked[rank]...)
	}
	return out[:min(limit, len(out))]
}

// Issuer returns one issuer by any of its identifiers.
func (s *Snapshot) Issuer(key string) (*search.Entity, bool) {
	e, ok := s.byKey[disclosure.IssuerKey(key)]
	return e, ok
}

// ReportsOf returns the newest filings of an issuer and how many it has.
func (s *Snapshot) ReportsOf(e *search.Entity, limit int) Page {
	return s.Reports(disclosure.Filter{Issuer: e.Issuer.ID}, 1, limit)
}

// issuerOf joins a report with the directory: by its NIF or code, and only
// when it has none by exact name.
func (s *Snapshot) issuerOf(r *disclosure.Report) *disclosure.Issuer {
	e := s.byKey[r.IssuerKey()]
	if r.NIF == "" {
		e = s.byName[search.Fold(r.CompanyName)]
	}
	if e == nil {
		return nil
	}
	return e.Issuer
}
