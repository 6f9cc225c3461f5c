package demo

import (
	"context"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/pages"
	"pregon/internal/store"
)

// links is a store in whose log the links of the simulated regulator, whose host does
// not exist, lead to its pages in the service. The stored links stay those of the
// regulator: they survive a change of the base URL, and Reports returns them, by
// which documents are fetched.
type links struct {
	store.Store
	here string // replaces archive.Origin
}

// WithLinks returns a store whose readers get links under the base URL that work.
func WithLinks(db store.Store, base string) store.Store { return links{db, base + pages.Prefix} }

func (l links) Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	return l.Store.Current(ctx, func(c disclosure.Change) error { return fn(l.shown(c)) })
}

func (l links) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	changes, err := l.Store.Changes(ctx, after, limit)
	return l.allShown(changes), err
}

func (l links) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	changes, err := l.Store.ChangesAt(ctx, seqs...)
	return l.allShown(changes), err
}

func (l links) ChangesOf(
	ctx context.Context,
	of disclosure.Subject,
	id string,
	upTo int64,
	limit int,
) ([]disclosure.Change, error) {
	changes, err := l.Store.ChangesOf(ctx, of, id, upTo, limit)
	return l.allShown(changes), err
}

func (l links) AsOf(
	ctx context.Context,
	of disclosure.Subject,
	upTo int64,
	ids ...string,
) ([]disclosure.Change, error) {
	changes, err := l.Store.AsOf(ctx, of, upTo, ids...)
	return l.allShown(changes), err
}

// Append stores the links of the regulator, also of a report that was read from the
// log and is appended again.
func (l links) Append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	b.Reports = replaceAll(b.Reports, l.here, archive.Origin)
	b.Aside = replaceAll(b.Aside, l.here, archive.Origin)
	b.Positions = slices.Clone(b.Positions)
	for n := range b.Positions {
		b.Positions[n] = replacePosition(b.Positions[n], l.here, archive.Origin)
	}
	return l.Store.Append(ctx, b)
}

func (l links) allShown(changes []disclosure.Change) []disclosure.Change {
	for n := range changes {
		changes[n] = l.shown(changes[n])
	}
	return changes
}

func (l links) shown(c disclosure.Change) disclosure.Change {
	if c.Report != nil {
		r := replace(*c.Report, archive.Origin, l.here)
		c.Report = &r
	}
	if c.Position != nil {
		p := replacePosition(*c.Position, archive.Origin, l.here)
		c.Position = &p
	}
	return c
}

func replaceAll(reports []disclosure.Report, from, to string) []disclosure.Report {
	out := make([]disclosure.Report, len(reports))
	for n := range reports {
		out[n] = replace(reports[n], from, to)
	}
	return out
}

// replace replaces the beginning of all links of a report.
func replace(r disclosure.Report, from, to string) disclosure.Report {
	replaceLinks(from, to, &r.PDFURL, &r.SourceURL, &r.Document.Link)
	return r
}

func replacePosition(p disclosure.Position, from, to string) disclosure.Position {
	replaceLinks(from, to, &p.SourceURL, &p.DocumentURL)
	return p
}

func replaceLinks(from, to string, links ...*string) {
	for _, link := range links {
		if rest, ok := strings.CutPrefix(*link, from+"/"); ok {
			*link = to + "/" + rest
		}
	}
}
