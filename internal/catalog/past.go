package catalog

import (
	"context"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/search/segment"
)

// maxRetickered is the number of reports up to which a past state indexes again
// those whose issuer had another ticker.
const maxRetickered = 20_000

// Past returns a past state: this snapshot at an earlier seq. drop selects, by their
// keys, the reports that have changed since then or did not exist. changed are the
// former states of those that changed, and dir is the directory of that time.
//
// The result answers Reports, Report and the methods of issuers. It shares the
// memory of this snapshot.
func (s *Snapshot) Past(seq int64, dir *search.Directory, drop func(key uint64) bool, changed []*disclosure.Report) *Snapshot {
	head := s.head
	head.Seq = seq
	index, retickered, ok := s.index.Past(dir, drop, maxRetickered)
	past := &Snapshot{head: head, index: index, links: s.links, noWords: !ok}
	for _, d := range retickered {
		changed = append(changed, Report{d, s}.Decode())
	}
	w, e := search.NewWriter(new(search.Numbers)), encoder{}
	docs := make([]segment.Doc, len(changed))
	for i, r := range changed {
		docs[i] = w.Doc(r, e.encode(r))
	}
	w.Apply(docs, dir)
	past.changed = &Snapshot{head: head, index: w.Index(), links: e.links}
	return past
}

// errNoWords is returned by a past state that cannot search for words, because the
// tickers of too many reports were others.
var errNoWords = fault.New(fault.Invalid,
	"Words cannot be searched as of that point, because too many reports have another ticker since. Leave search out, or ask for a later point.")

func (s *Snapshot) pastReports(ctx context.Context, f disclosure.Filter, page, limit int) (Page, error) {
	if s.noWords && f.Search != "" {
		return Page{}, errNoWords
	}
	total, docs, err := search.Both(ctx, s.index, s.changed.index, f, (int64(page)-1)*int64(limit), limit)
	out := s.page(total, docs)
	for i, d := range docs {
		if s.changed.index.Find(d.Key) != nil {
			out.Reports[i].of = s.changed
		}
	}
	return out, err
}
