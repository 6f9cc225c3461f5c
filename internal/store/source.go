package store

import (
	"context"
	"sync/atomic"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// BindSource sets the source of a new store, or fails, Conflict, when the store
// belongs to another source. The simulated market never shares a store with
// another source.
func BindSource(ctx context.Context, db Store, simulated bool) error {
	want := "cnmv"
	if simulated {
		want = "demo"
	}
	source, err := db.Source(ctx)
	if err != nil {
		return err
	}
	if simulated && source == "" {
		newest, err := db.Newest(ctx)
		if err != nil {
			return err
		}
		if newest > 0 {
			return fault.New(fault.Conflict,
				"the simulated market needs a store of its own: this one holds reports that are not simulated")
		}
	}
	if source, err = db.ClaimSource(ctx, want); err != nil {
		return err
	}
	if source != want {
		return fault.New(fault.Conflict, "this store belongs to the source %s: give %s a store of its own",
			source, want)
	}
	return nil
}

// Sourced is a store that knows the source of its reports, real or simulated,
// before it returns them. The source is recorded once, before the first report,
// perhaps by another process while this one runs. So it is read after every read of
// reports.
type Sourced struct {
	Store
	source atomic.Pointer[string] // nil until it is recorded
}

// KnownSource returns the recorded source, or "".
func (s *Sourced) KnownSource() string {
	if source := s.source.Load(); source != nil {
		return *source
	}
	return ""
}

func (s *Sourced) readSource(ctx context.Context, err error) error {
	if err != nil || s.source.Load() != nil {
		return err
	}
	source, err := s.Source(ctx)
	if err == nil && source != "" {
		s.source.Store(&source)
	}
	return err
}

func (s *Sourced) Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	head, err := s.Store.Current(ctx, fn)
	return head, s.readSource(ctx, err)
}

func (s *Sourced) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	changes, err := s.Store.Changes(ctx, after, limit)
	return changes, s.readSource(ctx, err)
}

func (s *Sourced) ChangesOf(
	ctx context.Context,
	of disclosure.Subject,
	id string,
	upTo int64,
	limit int,
) ([]disclosure.Change, error) {
	changes, err := s.Store.ChangesOf(ctx, of, id, upTo, limit)
	return changes, s.readSource(ctx, err)
}

func (s *Sourced) AsOf(
	ctx context.Context,
	of disclosure.Subject,
	upTo int64,
	ids ...string,
) ([]disclosure.Change, error) {
	changes, err := s.Store.AsOf(ctx, of, upTo, ids...)
	return changes, s.readSource(ctx, err)
}

func (s *Sourced) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	changes, err := s.Store.ChangesAt(ctx, seqs...)
	return changes, s.readSource(ctx, err)
}
