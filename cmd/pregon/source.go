package main

import (
	"context"
	"sync/atomic"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// marked is a store that knows where its reports come from before it shows
// them. The mark is made once, ahead of the first report of its kind, perhaps
// by another process while this one runs; so whoever reads reports looks at it
// after reading and before showing.
type sourceStore struct {
	store.Store
	source atomic.Pointer[string] // nil while there is no mark
}

// mark returns where the reports come from, or nothing.
func (m *sourceStore) mark() string {
	if s := m.source.Load(); s != nil {
		return *s
	}
	return ""
}

func (m *sourceStore) look(ctx context.Context) error {
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
func (m *sourceStore) Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	head, err := m.Store.Current(ctx, fn)
	if err != nil {
		return disclosure.Head{}, err
	}
	return head, m.look(ctx)
}

// Changes implements store.Log.
func (m *sourceStore) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	changes, err := m.Store.Changes(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	return changes, m.look(ctx)
}

// ChangesAt implements store.Log.
func (m *sourceStore) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	changes, err := m.Store.ChangesAt(ctx, seqs...)
	if err != nil {
		return nil, err
	}
	return changes, m.look(ctx)
}
