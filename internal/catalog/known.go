package catalog

import (
	"context"
	"iter"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
	"pregon/internal/search"
)

// Known answers what ingest asks about the stored reports and issuers. It knows
// nothing until the catalogue is loaded.
type Known struct {
	*Catalog
	search.Lookups
}

// Known returns the view of the catalogue that ingest uses.
func (c *Catalog) Known() Known {
	return Known{c, func() *search.Directory { return c.known().Directory() }}
}

// known returns the present state, or an empty one.
func (c *Catalog) known() *Snapshot {
	if s := c.Snapshot(); s != nil {
		return s
	}
	return &Snapshot{index: search.NewWriter(&c.documents, factsOf).Index()}
}

// Published calls fn for the reports of a range of Madrid days, both included.
func (k Known) Published(_ context.Context, from, to disclosure.Day, fn func(*disclosure.Report)) error {
	for _, r := range k.decoded(func(s *Snapshot) iter.Seq[Report] { return s.Between(from, to) }) {
		fn(&r)
	}
	return nil
}

// decoded returns some reports of the present state.
func (k Known) decoded(of func(*Snapshot) iter.Seq[Report]) (out []disclosure.Report) {
	k.patiently(func() {
		out = nil
		for r := range of(k.known()) {
			out = append(out, *r.Decode())
		}
	})
	return out
}

// Since returns the reports published since an instant.
func (k Known) Since(t time.Time) []disclosure.Report {
	return k.decoded(func(s *Snapshot) iter.Seq[Report] { return s.Since(t) })
}

// Unresolved returns the reports published since an instant that refer to one
// that was not known.
func (k Known) Unresolved(_ context.Context, since time.Time) ([]disclosure.Report, error) {
	return k.decoded(func(s *Snapshot) iter.Seq[Report] { return s.Unresolved(since) }), nil
}

// Unread returns the ids of the reports published since an instant whose document,
// summary or facts are missing, newest first.
func (k Known) Unread(since time.Time) (out []string) {
	k.patiently(func() {
		out = nil
		for r := range k.known().Unread(since) {
			out = append(out, r.ID())
		}
	})
	return out
}

// WantFacts returns the ids of the reports whose document a version of the rules has not
// examined, newest first.
func (k Known) WantFacts(rules int) (out []string) {
	k.patiently(func() {
		out = nil
		for r := range k.known().Since(time.Time{}) {
			if !r.record().mayWantFacts(rules) {
				continue
			}
			if decoded := r.Decode(); decoded.WantsFacts(rules) {
				out = append(out, decoded.ID)
			}
		}
	})
	return out
}

// Numbers returns the registration numbers of a series with their times of
// publication.
func (k Known) Numbers(t disclosure.Type) iter.Seq2[int64, time.Time] {
	type numbered struct {
		number int64
		at     time.Time
	}
	var all []numbered
	k.patiently(func() {
		all = nil
		for number, at := range k.known().Numbers(t, 0, 0) {
			all = append(all, numbered{number, at})
		}
	})
	return func(yield func(int64, time.Time) bool) {
		for _, n := range all {
			if !yield(n.number, n.at) {
				return
			}
		}
	}
}

// Len returns the number of reports.
func (k Known) Len() int { return k.known().Len() }

// CatchUp waits until the catalogue holds every change committed before the call.
func (k Known) CatchUp(ctx context.Context) error {
	for {
		head, err := k.log.Head(ctx)
		if s := k.Snapshot(); err == nil && s != nil && s.Seq() >= head.Seq {
			return nil
		}
		if err := retry.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
