// Package engine opens the store that an address names. It is the only package
// that imports both engines, sqlite and postgres.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"pregon/internal/fault/outage"
	"pregon/internal/retry"
	"pregon/internal/store"
	"pregon/internal/store/clone"
	"pregon/internal/store/postgres"
	"pregon/internal/store/readreplica"
	"pregon/internal/store/relational"
	"pregon/internal/store/sqlite"
)

// Store is an open engine.
type Store interface {
	store.Store
	SchemaVersion(ctx context.Context) (int, error)
	MigrateBack(ctx context.Context, to int) error // the store must be closed afterwards
	Created() bool                                 // reports whether this process created the store
	Size(ctx context.Context) (bytes int64, err error)
	Connections() (inUse, most int)
	Relational() *relational.Base // for packages verify, clone and compact
	Tables(ctx context.Context) ([]relational.Table, error)
}

// Open opens the store and migrates its schema. It creates a missing SQLite file
// only if create is true, and not where a store was before ([Address.MayCreate]): an
// export of a misspelt path must fail, not return an empty file. It fails, Conflict,
// for the target of a copy that is not complete.
func (a Address) Open(ctx context.Context, create bool) (Store, error) {
	db, err := a.OpenCopy(ctx, create)
	if err != nil {
		return nil, err
	}
	if err := clone.Admit(ctx, db.Relational()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OpenComplete is like Open without create, but the target of a complete copy stays
// one: the copy can be continued.
func (a Address) OpenComplete(ctx context.Context) (Store, error) {
	db, err := a.OpenCopy(ctx, false)
	if err != nil {
		return nil, err
	}
	if err := clone.Check(ctx, db.Relational()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OpenCopy is like Open, for commands that work on targets of copies too.
func (a Address) OpenCopy(ctx context.Context, create bool) (Store, error) {
	if a.url != "" {
		return postgres.Open(ctx, a.url)
	}
	return sqlite.Open(ctx, a.path, sqlite.Options{Create: create && !a.mustExist, MayCreate: a.MayCreate})
}

// Schema returns the schema version of the store, and those that the program knows.
// It changes nothing. It fails, NotFound, if there is no SQLite file.
func (a Address) Schema(ctx context.Context) (store.Schema, error) {
	if a.url != "" {
		return postgres.Schema(ctx, a.url)
	}
	return sqlite.Schema(ctx, a.path)
}

// DiskFree returns the bytes that are free on the disk of a directory, if they are
// known.
func DiskFree(dir string) (bytes int64, known bool) { return sqlite.DiskFree(dir) }

// WithStandby returns a store whose log and documents are read from a, a standby
// server of a PostgreSQL database. It waits up to limit for a server that does not
// answer. The standby is closed by the returned function.
func (a Address) WithStandby(
	ctx context.Context,
	main store.Store,
	limit time.Duration,
	log *slog.Logger,
) (store.Store, func() error, error) {
	standby, err := openWait(ctx, limit, log.With("store_read", a.String(), "at_most", limit),
		func(ctx context.Context) (Store, error) {
			return postgres.OpenStandby(ctx, a.url)
		})
	if err != nil {
		return nil, nil, err
	}
	both, err := readreplica.New(ctx, main, standby)
	if err != nil {
		return nil, nil, errors.Join(err, standby.Close())
	}
	return both, standby.Close, nil
}

const retryEvery = time.Second

// OpenWait is like Open with create, but waits up to limit for a PostgreSQL server
// that does not answer.
func (a Address) OpenWait(ctx context.Context, limit time.Duration, log *slog.Logger) (Store, error) {
	open := func(ctx context.Context) (Store, error) { return a.Open(ctx, true) }
	if a.url == "" {
		return open(ctx)
	}
	return openWait(ctx, limit, log.With("store", a.String(), "at_most", limit), open)
}

// openWait calls open until it succeeds, fails with an error that waiting does
// not cure, or the time limit is reached.
func openWait(
	ctx context.Context,
	limit time.Duration,
	log *slog.Logger,
	open func(context.Context) (Store, error),
) (Store, error) {
	if limit == 0 {
		return open(ctx)
	}
	end, trouble := time.Now().Add(limit), outage.Log{Logger: log}
	for {
		db, err := open(ctx) // connecting has its own deadline; migrating may take long
		switch {
		case err == nil:
			return db, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !postgres.Away(err):
			return nil, err
		case !time.Now().Add(retryEvery).Before(end):
			return nil, fmt.Errorf("the store did not answer for %v (--wait-store): %w", limit, err)
		}
		trouble.Failed("the store does not answer: waiting for it", "err", err)
		if err := retry.Sleep(ctx, retryEvery); err != nil {
			return nil, err
		}
	}
}
