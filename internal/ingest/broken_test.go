package ingest

import (
	"context"
	"sync/atomic"

	"pregon/internal/store"
)

// brokenStore is a store that fails to append while it is told to.
type brokenStore struct {
	store.Store
	err atomic.Pointer[error]
}

func (b *brokenStore) fail(err error) {
	if err == nil {
		b.err.Store(nil)
		return
	}
	b.err.Store(&err)
}

func (b *brokenStore) Append(ctx context.Context, batch store.Batch) (store.Outcome, error) {
	if err := b.err.Load(); err != nil {
		return store.Outcome{}, *err
	}
	return b.Store.Append(ctx, batch)
}
