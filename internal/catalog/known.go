package catalog

import (
	"context"
	"iter"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/retry"
)

// Known answers what ingest asks about the stored reports and issuers. It knows
// nothing until the catalogue is loaded.
type Known struct{ *Catalog }

// Known returns the view of the catalogue that ingest uses.
func (c *Catalog) Known() Known { return Known{c} }

// Issuer returns an issuer by any of its identifiers.
func (k Known) Issuer(key string) (disclosure.Issuer, bool) {
	if s := k.Snapshot(); s != nil {
		if e, ok := s.Issuer(key); ok {
			return *e.Issuer, true
		}
	}
	return disclosure.Issuer{}, false
}

// Named returns the only issuer of a name, in any spelling.
func (k Known) Named(name string) (disclosure.Issuer, bool) {
	if s := k.Snapshot(); s != nil {
		if e, ok := s.Named(name); ok {
			return *e.Issuer, true
		}
	}
	return disclosure.Issuer{}, false
}

// Issuers returns the issuers of some kinds, or all issuers.
func (k Known) Issuers(kinds ...disclosure.Kind) (out []disclosure.Issuer) {
	if s := k.Snapshot(); s != nil {
		for _, e := range s.Entities() {
			if len(kinds) == 0 || slices.Contains(kinds, e.Issuer.Kind) {
				out = append(out, *e.Issuer)
			}
		}
	}
	return out
}

// Published calls fn for the reports of a range of Madrid days, both included.
func (k Known) Published(_ context.Context, from, to disclosure.Day, fn func(*disclosure.Report)) error {
	if s := k.Snapshot(); s != nil {
		for r := range s.Between(from, to) {
			fn(r.Decode())
		}
	}
	return nil
}

// Since returns the reports published since an instant.
func (k Known) Since(t time.Time) (out []disclosure.Report) {
	if s := k.Snapshot(); s != nil {
		for r := range s.Since(t) {
			out = append(out, *r.Decode())
		}
	}
	return out
}

// Unresolved returns the reports published since an instant that refer to one
// that was not known.
func (k Known) Unresolved(_ context.Context, since time.Time) (out []disclosure.Report, err error) {
	if s := k.Snapshot(); s != nil {
		for r := range s.Unresolved(since) {
			out = append(out, *r.Decode())
		}
	}
	return out, nil
}

// Unread returns the ids of the reports published since an instant whose document
// or summary is missing, newest first.
func (k Known) Unread(since time.Time) (out []string) {
	if s := k.Snapshot(); s != nil {
		for r := range s.Unread(since) {
			out = append(out, r.ID())
		}
	}
	return out
}

// Numbers returns the registration numbers of a series with their times of
// publication.
func (k Known) Numbers(t disclosure.Type) iter.Seq2[int64, time.Time] {
	if s := k.Snapshot(); s != nil {
		return s.Numbers(t, 0, 0)
	}
	return func(func(int64, time.Time) bool) {}
}

// Len returns the number of reports.
func (k Known) Len() int {
	if s := k.Snapshot(); s != nil {
		return s.Len()
	}
	return 0
}

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
