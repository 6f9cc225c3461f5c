package catalog

import (
	"context"
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/search/segment"
)

// maxRetickered is the number of reports up to which a past state indexes again
// those whose issuer had another ticker.
const maxRetickered = 20_000

// maxChanged is the number of snapshots that a past state has of reports that have
// changed since. Each is searched.
const maxChanged = 4

// PastState is what Snapshot.Past needs to know of a past state.
type PastState struct {
	Seq       int64
	Directory *search.Directory // of that time
	// Drop selects, by their keys, the reports that have changed since then or did not
	// exist.
	Drop func(key uint64) bool
	// Changed are the former states of reports that have changed since, but for those
	// that Near has.
	Changed []*disclosure.Report
	// Near is another past state of the same log, or nil. Same selects, by their keys,
	// its former states of reports that are those of this state too.
	Near *Snapshot
	Same func(key uint64) bool
}

// Past returns a past state: this snapshot at an earlier seq.
//
// The result answers Reports, Report and the methods of issuers. It shares the
// memory of this snapshot, and of the near state.
func (s *Snapshot) Past(p PastState) *Snapshot {
	head := s.head
	head.Seq = p.Seq
	index, retickered, ok := s.index.Past(p.Directory, p.Drop, maxRetickered)
	past := &Snapshot{
		head:    head,
		index:   index,
		links:   s.links,
		past:    true,
		noWords: !ok,
	}
	changed := p.Changed
	for _, d := range retickered {
		changed = append(changed, Report{d, s}.Decode())
	}
	if p.Near != nil {
		past.changed, changed = p.Near.formerly(p, head, changed)
	}
	if len(changed) > 0 {
		past.changed = append(past.changed, newFormer(head, p.Directory, changed))
	}
	return past
}

// formerly returns the former states of a past state that another one shares. Those that
// must be indexed again are appended to changed.
func (s *Snapshot) formerly(
	p PastState,
	head disclosure.Head,
	changed []*disclosure.Report,
) ([]*Snapshot, []*disclosure.Report) {
	var shared []*Snapshot
	for _, c := range s.changed {
		index, retickered, ok := c.index.Past(p.Directory, func(key uint64) bool { return !p.Same(key) }, maxRetickered)
		for _, d := range retickered {
			changed = append(changed, Report{d, c}.Decode())
		}
		next := &Snapshot{
			head:  head,
			index: index,
			links: c.links,
		}
		if wasted := index.Len() < index.Size()/4; wasted || !ok {
			changed = next.decodeAll(changed)
			continue
		}
		shared = append(shared, next)
	}
	slices.SortFunc(shared, func(a, b *Snapshot) int { return b.index.Len() - a.index.Len() })
	for len(shared) >= maxChanged { // the smallest ones are indexed again, with the new ones
		changed = shared[len(shared)-1].decodeAll(changed)
		shared = shared[:len(shared)-1]
	}
	return shared, changed
}

// decodeAll appends all reports.
func (s *Snapshot) decodeAll(to []*disclosure.Report) []*disclosure.Report {
	for _, d := range s.index.Live() {
		to = append(to, Report{d, s}.Decode())
	}
	return to
}

// newFormer returns a snapshot of some reports.
func newFormer(head disclosure.Head, dir *search.Directory, reports []*disclosure.Report) *Snapshot {
	w := search.NewLeanWriter(factsOf)
	e := encoder{}
	docs := make([]segment.Doc, len(reports))
	for i, r := range reports {
		docs[i] = w.Doc(r, e.encode(r))
	}
	w.Apply(docs, dir)
	return &Snapshot{
		head:  head,
		index: w.Index(),
		links: e.links,
	}
}

// HasFormer reports whether a past state has the former state of a report, by its key:
// see PastState.Same.
func (s *Snapshot) HasFormer(key uint64) bool {
	return slices.ContainsFunc(s.changed, func(c *Snapshot) bool { return c.index.Find(key) != nil })
}

// issuerBytes is about what a directory takes for each issuer that it shares with
// another one.
const issuerBytes = 300

// PastBytes returns about how many bytes of memory past states take together, besides
// what they share with the snapshots that they were made from.
func PastBytes(states []*Snapshot) int64 {
	total := int64(0)
	shared := map[any]bool{}
	for _, s := range states {
		if dir := s.Directory(); !shared[dir] {
			shared[dir] = true
			total += int64(len(dir.Issuers())) * issuerBytes
		}
		total += s.index.PastBytes()
		for _, c := range s.changed {
			total += c.index.PastBytes()
			if key, n := c.index.SharedBytes(); !shared[key] {
				shared[key] = true
				total += n
			}
		}
	}
	return total
}

// Shares reports whether a past state was made from a snapshot of the same catalogue, which was
// not built again since.
func (s *Snapshot) Shares(past *Snapshot) bool { return s.index.Shares(past.index) }

// IsPast reports whether the snapshot is a past state.
func (s *Snapshot) IsPast() bool { return s.past }

// errNoWords is returned by a past state that cannot search for words, because the
// tickers of too many reports were others.
var errNoWords = fault.New(fault.Invalid,
	"Words cannot be searched as of that point, because the tickers of too many reports have changed since. Leave "+
		"search out, or ask for a later point.")

func (s *Snapshot) pastReports(ctx context.Context, f disclosure.Filter, page, limit int) (Page, error) {
	if s.noWords && f.HasSearch() {
		return Page{}, errNoWords
	}
	all := []*search.Index{s.index}
	for _, c := range s.changed {
		all = append(all, c.index)
	}
	total, docs, err := search.SearchAll(ctx, all, f, (int64(page)-1)*int64(limit), limit)
	out := s.page(total, docs)
	for i, d := range docs {
		for _, c := range s.changed {
			if c.index.Find(d.Key) == d {
				out.Reports[i].of = c
			}
		}
	}
	return out, err
}
