package catalog

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/search/segment"
)

// Snapshot is the catalogue as it was at one seq. It never changes.
type Snapshot struct {
	head  disclosure.Head
	last  disclosure.Mark // of the newest change
	index *search.Index
	tally *tally
	links links
	// positions is nil in a past state: see history.Archive.Positions
	positions *position.Book
	// past is true for a past state, and changed then has the reports that index lacks,
	// because they have changed since: a few snapshots without a common report. See Past.
	past    bool
	changed []*Snapshot
	noWords bool // a past state that cannot search for words

	analytics struct {
		mu     sync.Mutex
		minute int64      // guarded by mu: when latest was computed
		latest *Analytics // guarded by mu
	}
}

// Seq returns the seq of the newest change in the snapshot.
func (s *Snapshot) Seq() int64 { return s.head.Seq }

// Head returns the end of the log as of the snapshot.
func (s *Snapshot) Head() disclosure.Head { return s.head }

// Last returns the mark of the newest change in the snapshot, or the zero Mark if
// there is none.
func (s *Snapshot) Last() disclosure.Mark { return s.last }

// Len returns the number of reports.
func (s *Snapshot) Len() int { return s.index.Len() }

// Page is one page of a list, with the total number of reports.
type Page struct {
	Total   int
	Reports []Report
}

// Hash returns a hash of the content of a page. It is the same in every process.
func (p Page) Hash() uint64 {
	h := uint64(p.Total)
	for _, f := range p.Reports {
		h = h*fnvPrime ^ f.Hash()
	}
	return h
}

// AppendJSON appends the reports of a page as a list of the contract's Report.
func (p Page) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for i, f := range p.Reports {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.AppendJSON(b)
	}
	return append(b, ']')
}

// Reports returns a page of the reports that match a filter, newest
// first. Pages count from 1; one past the end is empty.
func (s *Snapshot) Reports(ctx context.Context, f disclosure.Filter, page, limit int) (Page, error) {
	if s.past {
		return s.pastReports(ctx, f, page, limit)
	}
	total, docs, err := s.index.Search(ctx, f, (int64(page)-1)*int64(limit), limit)
	return s.page(total, docs), err
}

// Newest returns the newest reports that match a filter. It ignores the search
// text, so it is cheap and cannot fail.
func (s *Snapshot) Newest(f disclosure.Filter, limit int) Page {
	f.Search = ""
	found, _ := s.Reports(context.Background(), f, 1, limit)
	return found
}

// Documents returns the documents of the reports that match a filter: see
// Catalog.Documents.
func (s *Snapshot) Documents(ctx context.Context, f disclosure.Filter) (search.NumberSet, error) {
	return s.index.Documents(ctx, f)
}

// Among is like Reports, but considers only the reports with some documents: see
// Catalog.Documents.
func (s *Snapshot) Among(
	ctx context.Context,
	documents search.NumberSet,
	f disclosure.Filter,
	page, limit int,
) (Page, error) {
	total, docs, err := s.index.Among(ctx, documents, f, (int64(page)-1)*int64(limit), limit)
	return s.page(total, docs), err
}

// walk passes the reports of a type and some days, newest first.
func (s *Snapshot) walk(t disclosure.Type, from, to disclosure.Day) iter.Seq[*segment.Doc] {
	// fails only with a search text
	all, _ := s.index.Walk(context.Background(), disclosure.Filter{Type: t, From: from, To: to})
	return all
}

func (s *Snapshot) page(total int, docs []*segment.Doc) Page {
	out := Page{Total: total, Reports: make([]Report, len(docs))}
	for i, d := range docs {
		out.Reports[i] = Report{d, s}
	}
	return out
}

// Report returns one report by its id.
func (s *Snapshot) Report(id string) (Report, bool) {
	t, number, ok := disclosure.ParseReportID(id)
	if !ok {
		return Report{}, false
	}
	for _, changed := range s.changed {
		if d := changed.index.Find(search.KeyOf(t, number)); d != nil {
			return Report{d, changed}, true
		}
	}
	d := s.index.Find(search.KeyOf(t, number))
	return Report{d, s}, d != nil
}

// maxNeighbours is the maximum number of reports that Before and After return.
const maxNeighbours = 100

// Before returns the n reports of the same issuer just before a report, in order of
// publication. It returns 100 at most.
func (s *Snapshot) Before(r Report, n int) []Report {
	return s.page(0, s.index.Before(r.doc, min(max(n, 0), maxNeighbours))).Reports
}

// After returns the n reports of the same issuer just after a report, in order of
// publication. It returns 100 at most.
func (s *Snapshot) After(r Report, n int) []Report {
	return s.page(0, s.index.After(r.doc, min(max(n, 0), maxNeighbours))).Reports
}

// Numbers returns the registration numbers and times of publication of a
// series' reports, newest first, from one Madrid day to another, both included;
// a day of zero is no bound. It reads only the index.
func (s *Snapshot) Numbers(t disclosure.Type, from, to disclosure.Day) iter.Seq2[int64, time.Time] {
	return func(yield func(int64, time.Time) bool) {
		for d := range s.walk(t, from, to) {
			if !yield(d.Number(), d.Listed()) {
				return
			}
		}
	}
}

// Since returns the reports published at an instant or later, newest first.
func (s *Snapshot) Since(t time.Time) iter.Seq[Report] {
	return func(yield func(Report) bool) {
		day := max(disclosure.DayOf(t), 1) // no report is older
		for d := range s.walk("", day, 0) {
			if d.Listed().Before(t) || !yield(Report{d, s}) {
				return
			}
		}
	}
}

// Between returns the reports of some Madrid days, both included, newest first.
func (s *Snapshot) Between(from, to disclosure.Day) iter.Seq[Report] {
	return func(yield func(Report) bool) {
		for d := range s.walk("", from, to) {
			if !yield(Report{d, s}) {
				return
			}
		}
	}
}

// Unresolved returns the reports published since an instant that refer to one that
// is not known.
func (s *Snapshot) Unresolved(since time.Time) iter.Seq[Report] {
	return s.flagged(since, unresolvedFlag)
}

// Unread returns the reports published since an instant whose document,
// summary or facts are missing.
func (s *Snapshot) Unread(since time.Time) iter.Seq[Report] { return s.flagged(since, unreadFlag) }

func (s *Snapshot) flagged(since time.Time, flag byte) iter.Seq[Report] {
	return func(yield func(Report) bool) {
		for f := range s.Since(since) {
			if f.record()[40]&flag != 0 && !yield(f) {
				return
			}
		}
	}
}

// Issuers returns the issuers that match a query, best first, then by name.
func (s *Snapshot) Issuers(
	ctx context.Context,
	query string,
	kind disclosure.Kind,
	limit int,
) ([]*search.Issuer, error) {
	return s.index.Directory().Search(ctx, query, kind, limit)
}

// Issuer returns one issuer by any of its identifiers.
func (s *Snapshot) Issuer(key string) (*search.Issuer, bool) { return s.index.Directory().Find(key) }

// Lookup returns the issuers with an identifier or a ticker: see
// search.Directory.
func (s *Snapshot) Lookup(name string) []*search.Issuer { return s.index.Directory().Lookup(name) }

// KnowsIssuer reports whether an identifier is that of an issuer, or occurs in a
// report.
func (s *Snapshot) KnowsIssuer(ident string) bool {
	return s.index.Knows(ident) || slices.ContainsFunc(s.changed,
		func(c *Snapshot) bool { return c.index.Knows(ident) })
}

// Directory returns the issuers. Reports that are not in the snapshot can be
// joined with it.
func (s *Snapshot) Directory() *search.Directory { return s.index.Directory() }

// Named returns the only issuer with a name, in any spelling.
func (s *Snapshot) Named(name string) (*search.Issuer, bool) { return s.index.Directory().Named(name) }

// ReportsOf returns the newest reports of an issuer and their total number.
func (s *Snapshot) ReportsOf(e *search.Issuer, limit int) Page {
	return s.Newest(disclosure.Filter{Issuer: e.Issuer.ID}, limit)
}
