package ingest

import (
	"context"
	"sync"

	"pregon/internal/store"
)

// brokenStore is a store whose appends can be made to fail.
type brokenStore struct {
	store.Store

	mu   sync.Mutex
	left int   // guarded by mu: appends that still succeed
	err  error // guarded by mu
}

func (b *brokenStore) fail(err error) { b.failAfter(0, err) }

func (b *brokenStore) failAfter(appends int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.err = appends, err
}

func (b *brokenStore) Append(ctx context.Context, batch store.Batch) (store.Outcome, error) {
	b.mu.Lock()
	err := b.err
	if b.left--; b.left >= 0 {
		err = nil
	}
	b.mu.Unlock()
	if err != nil {
		return store.Outcome{}, err
	}
	return b.Store.Append(ctx, batch)
}
