// Package mark wraps a store and remembers which source, real or simulated, its
// reports come from.
package mark

import (
	"context"
	"sync/atomic"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Store is a store that knows the source of its reports before it returns
// them. The source is recorded once, before the first report, perhaps by another
// process while this one runs. So it is read after every read of reports.
type Store struct {
	store.Store
	source atomic.Pointer[string] // nil until it is recorded
}

// Mark returns the recorded source, or "".
func (s *Store) Mark() string {
	if source := s.source.Load(); source != nil {
		return *source
	}
	return ""
}

func (s *Store) readSource(ctx context.Context) error {
	if s.source.Load() != nil {
		return nil
	}
	source, err := s.Store.Source(ctx)
	if err == nil && source != "" {
		s.source.Store(&source)
	}
	return err
}

// Current implements store.Log.
func (s *Store) Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	head, err := s.Store.Current(ctx, fn)
	if err != nil {
		return disclosure.Head{}, err
	}
	return head, s.readSource(ctx)
}

// Changes implements store.Log.
func (s *Store) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	changes, err := s.Store.Changes(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	return changes, s.readSource(ctx)
}

// ChangesAt implements store.Log.
func (s *Store) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	changes, err := s.Store.ChangesAt(ctx, seqs...)
	if err != nil {
		return nil, err
	}
	return changes, s.readSource(ctx)
}
