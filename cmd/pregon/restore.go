package main

import (
	"context"
	"fmt"
	"log/slog"

	"pregon/internal/disclosure"
	"pregon/internal/source/ingest"
	"pregon/internal/store/clone"
	"pregon/internal/store/engine"
	"pregon/internal/store/highwater"
)

type restoreCmd struct{ storeFlag }

// Run renews the epoch of the log.
func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	address, err := c.address()
	if err != nil {
		return err
	}
	db, err := address.OpenComplete(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	before, head, err := renewEpoch(ctx, address, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s has the epoch %s now, which was %s; its newest change is %d\n", c.show(), head.Epoch, before.Epoch, head.Seq)
	fmt.Fprintln(p.stdout, "the next serve ends all sessions of people and the access of their applications; keys are as they were: revoke again those that were revoked since the backup")
	return db.Close()
}

// renewEpoch renews the epoch of the log, and returns the head of the log before and
// after. It holds the lease of ingest meanwhile, and releases it also if it fails: a
// serve that starts next would wait for its end without reading the source.
func renewEpoch(ctx context.Context, address engine.Address, db engine.Store) (before, head disclosure.Head, err error) {
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

// checkRestored detects whether a backup was restored, and then ends what the backup
// must not make valid again.
func (s *service) checkRestored(ctx context.Context) error {
	head, _, err := s.highwater.Check(ctx)
	if err != nil {
		return err
	}
	ended, err := s.auth.Accounts.EndRestored(ctx, head)
	if ended > 0 {
		s.log.Warn("a backup was restored: all sessions of people and the access of their applications were ended")
	}
	return err
}

// newHighWater returns what records how far the log was served.
func (c *serveConfig) newHighWater(s *service) (*highwater.Keeper, error) {
	address, err := c.address()
	if err != nil {
		return nil, err
	}
	places := address.HighWater(c.cacheDir(s.log.Logger))
	if s.auth.Redis != nil {
		places = append(places, highwater.Redis{Conn: s.auth.Redis, Key: "pregon:served:" + address.Digest()})
	}
	return highwater.New(s.engine, s.log.Logger, places...), nil // not from a standby, which may be behind
}
