package main

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// marked is a store that knows where its filings come from before it shows
// them. The mark is made once, ahead of the first filing of its kind, perhaps
// by another process while this one runs; so whoever reads filings looks at it
// after reading and before showing.
type marked struct {
	store.Store
	source atomic.Pointer[string] // nil while there is no mark
}

// mark returns where the filings come from, or nothing.
func (m *marked) mark() string {
	if s := m.source.Load(); s != nil {
		return *s
	}
	return ""
}

func (m *marked) look(ctx context.Context) error {
	if m.source.Load() != nil {
		return nil
	}
	s, err := m.Store.Source(ctx)
	if err == nil && s != "" {
		m.source.Store(&s)
	}
	return err
}

// Current implements store.Log.
func (m *marked) Current(ctx context.Context, fn func(disclosure.Change) error) (int64, error) {
	seq, err := m.Store.Current(ctx, fn)
	if err != nil {
		return 0, err
	}
	return seq, m.look(ctx)
}

// Changes implements store.Log.
func (m *marked) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	changes, err := m.Store.Changes(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	return changes, m.look(ctx)
}

// known is the catalogue as ingest asks it.
type known struct{ *catalog.Catalog }

// Issuer implements ingest.Known.
func (k known) Issuer(key string) (disclosure.Issuer, bool) {
	if s := k.Snapshot(); s != nil {
		if e, ok := s.Issuer(key); ok {
			return *e.Issuer, true
		}
	}
	return disclosure.Issuer{}, false
}

// Named implements ingest.Known.
func (k known) Named(name string) (disclosure.Issuer, bool) {
	if s := k.Snapshot(); s != nil {
		if e, ok := s.Named(name); ok {
			return *e.Issuer, true
		}
	}
	return disclosure.Issuer{}, false
}

// Issuers implements ingest.Known.
func (k known) Issuers(kind disclosure.Kind) (out []disclosure.Issuer) {
	if s := k.Snapshot(); s != nil {
		for _, e := range s.Entities() {
			if e.Issuer.Kind == kind {
				out = append(out, *e.Issuer)
			}
		}
	}
	return out
}

// Numbers implements ingest.Known.
func (k known) Numbers(t disclosure.Type) iter.Seq2[int64, time.Time] {
	if s := k.Snapshot(); s != nil {
		return s.Numbers(t, 0, 0)
	}
	return func(func(int64, time.Time) bool) {}
}

// Loose implements ingest.Known.
func (k known) Loose() (out []disclosure.Report) {
	if s := k.Snapshot(); s != nil {
		for f := range s.Loose() {
			out = append(out, *f.Report())
		}
	}
	return out
}

// Len implements ingest.Known.
func (k known) Len() int {
	if s := k.Snapshot(); s != nil {
		return s.Len()
	}
	return 0
}

// Since implements ingest.Known.
func (k known) Since(t time.Time) (out []disclosure.Report) {
	if s := k.Snapshot(); s != nil {
		for f := range s.Since(t) {
			out = append(out, *f.Report())
		}
	}
	return out
}
