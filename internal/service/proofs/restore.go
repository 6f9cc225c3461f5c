package proofs

import (
	"context"
	"log/slog"

	"pregon/internal/disclosure"
	"pregon/internal/source/ingest"
	"pregon/internal/store/clone"
	"pregon/internal/store/engine"
	"pregon/internal/store/highwater"
)

// RenewEpoch renews the epoch of the log after a backup was restored, and returns the
// head of the log before and after. It holds the lease of ingest meanwhile, and releases
// it also if it fails: a serve that starts next would wait for its end without reading
// the source.
func RenewEpoch(
	ctx context.Context,
	address engine.Address,
	db engine.Store,
) (before, head disclosure.Head, err error) {
	lease := ingest.NewCommandLease(db)
	defer lease.Release(ctx)
	if err := lease.Wait(ctx); err != nil {
		return before, head, err
	}
	if before, err = db.Head(ctx); err != nil {
		return before, head, err
	}
	// The high-water mark may name epochs that the backup does not contain.
	keeper := highwater.New(db, slog.New(slog.DiscardHandler), address.HighWater("")...)
	head, renewed, err := keeper.Check(ctx)
	if err == nil && !renewed {
		head, err = db.RenewEpoch(ctx, head.Epoch, disclosure.Mark{})
	}
	if err != nil {
		return before, head, err
	}
	return before, head, clone.Release(ctx, db.Relational()) // last, so that nothing uses the copy with the old epoch
}
