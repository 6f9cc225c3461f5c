package ingest

import (
	"iter"
	"slices"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// known is the catalogue as ingest asks it. It may lag behind the store by
// moments, and knows nothing until it is loaded.
type known struct{ *catalog.Catalog }

// Issuer returns an issuer by any of its identifiers.
func (k known) Issuer(key string) (disclosure.Issuer, bool) {
	if s := k.Snapshot(); s != nil {
		if e, ok := s.Issuer(key); ok {
			return *e.Issuer, true
		}
	}
	return disclosure.Issuer{}, false
}

// Named returns the only issuer of a name, however that is spelt.
func (k known) Named(name string) (disclosure.Issuer, bool) {
	if s := k.Snapshot(); s != nil {
		if e, ok := s.Named(name); ok {
			return *e.Issuer, true
		}
	}
	return disclosure.Issuer{}, false
}

// Issuers returns those of some kinds, or all of them.
func (k known) Issuers(kinds ...disclosure.Kind) (out []disclosure.Issuer) {
	if s := k.Snapshot(); s != nil {
		for _, e := range s.Entities() {
			if len(kinds) == 0 || slices.Contains(kinds, e.Issuer.Kind) {
				out = append(out, *e.Issuer)
			}
		}
	}
	return out
}

// Numbers returns a series' reports, in any order.
func (k known) Numbers(t disclosure.Type) iter.Seq2[int64, time.Time] {
	if s := k.Snapshot(); s != nil {
		return s.Numbers(t, 0, 0)
	}
	return func(func(int64, time.Time) bool) {}
}

// Loose returns the reports published since an instant that have to do with
// one that is not known.
func (k known) Loose(since time.Time) (out []disclosure.Report) {
	if s := k.Snapshot(); s != nil {
		for f := range s.Unresolved(since) {
			out = append(out, *f.Decode())
		}
	}
	return out
}

// Unread returns the ids of the reports published since an instant whose
// document is still to be read.
func (k known) Unread(since time.Time) (out []string) {
	if s := k.Snapshot(); s != nil {
		for f := range s.Unread(since) {
			out = append(out, f.ID())
		}
	}
	return out
}

// Len returns how many reports there are.
func (k known) Len() int {
	if s := k.Snapshot(); s != nil {
		return s.Len()
	}
	return 0
}

// Since returns the reports published since an instant.
func (k known) Since(t time.Time) (out []disclosure.Report) {
	if s := k.Snapshot(); s != nil {
		for f := range s.Since(t) {
			out = append(out, *f.Decode())
		}
	}
	return out
}
