// Package postgres implements the store on PostgreSQL, for deployments on more
// than one machine: any number of processes may open the same database.
//
// All writers of the log lock one row, log_head, which gives the guarantees of
// package store about seq: see Append. The records of coverage have note_head,
// other records have record_head, and the fan-out to webhooks has fanned. Readers
// never wait for writers. NOTIFY informs other processes of a commit, which only
// saves time: a lost notification delays a waiting reader by a second.
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// migrating is the key of the advisory lock under which the schema is changed;
// any number that no other program uses on this database will do.
const migrating = 7_346_615_001

// Store is a store.Store in a PostgreSQL database.
type Store struct {
	pool *pgxpool.Pool
	// leases has connections of its own: a lease must be renewed in time,
	// however many writers wait with the connections of pool.
	leases  *pgxpool.Pool
	writing pgx.TxOptions
	wake    store.Wake
	poll    time.Duration // the interval at which Wait polls

	created bool

	// commit commits every transaction of more than one statement: those of
	// Append, PutRecords, ClaimNonce, PutDocument, and most of Deliveries. It is a
	// field so that tests can make it fail, before it takes effect and after.
	commit func(context.Context, pgx.Tx) error

	stopListening context.CancelFunc
	listening     chan struct{} // closed when the listener has ended
}

var _ store.Store = (*Store)(nil)

// Open connects to a database by its postgres:// address and brings its schema
// up to date. Many processes may do so at once.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The cause may quote the address, and a malformed one may show its
		// password, so it is neither shown nor kept for the log.
		return nil, fault.New(fault.Invalid, "the address of the store is not one of PostgreSQL: use postgres://user@host/database")
	}
	name(config.ConnConfig, "pregon")
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 10 * time.Second // so that a server that hangs is reported as a failure
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, failed("opening the store", err)
	}
	few := config.Copy()
	few.MaxConns, few.MinConns, few.MinIdleConns = 2, 0, 0
	leases, err := pgxpool.NewWithConfig(ctx, few)
	if err != nil {
		pool.Close()
		return nil, failed("opening the store", err)
	}
	s := &Store{
		pool:      pool,
		leases:    leases,
		writing:   writing(writeTimeout),
		poll:      time.Second,
		commit:    func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
		listening: make(chan struct{}),
	}
	if err := s.migrate(ctx); err != nil {
		leases.Close()
		pool.Close()
		return nil, failed("opening the store", err)
	}
	ctx, s.stopListening = context.WithCancel(context.WithoutCancel(ctx))
	go s.listen(ctx)
	return s, nil
}

// closeTime is how long Close waits for a server that does not answer.
const closeTime = 10 * time.Second

// Close waits for running calls and closes all connections. Connections to a
// server that hangs are left open until the process ends.
func (s *Store) Close() error {
	s.stopListening()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		<-s.listening
		s.leases.Close()
		s.pool.Close()
	}()
	select {
	case <-closed:
	case <-time.After(closeTime):
	}
	return nil
}

// Created reports whether Open created the store.
func (s *Store) Created() bool { return s.created }

// SchemaVersion returns the number of the newest migration that the database
// has seen.
func (s *Store) SchemaVersion(ctx context.Context) (int, error) {
	version, err := schemaVersion(ctx, s.pool)
	if err != nil {
		return 0, failed("reading the schema's version", err)
	}
	return version, nil
}

// migrate brings the schema up to date, wholly or not at all. The lock makes
// processes that start at once do it one after the other; all but the first
// find nothing left to do.
func (s *Store) migrate(ctx context.Context) error {
	all, err := store.Migrations(files)
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := s.migrateOnce(ctx, all)
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != lockTimeout || try == lockTries {
			return err
		}
		if err := retry.Sleep(ctx, lockPause); err != nil {
			return err
		}
	}
}

// A migration that waits for a table, as during pg_dump, blocks all other users
// of the table. So it gives up after a while, and lets them continue before it
// tries again.
const (
	lockTimeout = "55P03" // the SQLSTATE of an expired lock_timeout
	lockTries   = 20
	lockPause   = time.Second
)

func (s *Store) migrateOnce(ctx context.Context, all []store.Migration) error {
	return pgx.BeginTxFunc(ctx, s.pool, readCommitted, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrating)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '3s'`); err != nil {
			return err
		}
		version, err := schemaVersion(ctx, tx)
		if err != nil {
			return err
		}
		pending, err := store.Pending(all, version)
		if err != nil {
			return err
		}
		for _, m := range pending {
			if err := apply(ctx, tx, m); err != nil {
				return err
			}
		}
		if s.created = version == 0; s.created {
			_, err = tx.Exec(ctx, `INSERT INTO setting (name, value) VALUES ($1, $2)`, createdSetting, store.FormatCreated(time.Now()))
		}
		return err
	})
}

func apply(ctx context.Context, tx pgx.Tx, m store.Migration) error {
	// Only the simple protocol takes several statements at once.
	if _, err := tx.Exec(ctx, m.SQL, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("migration %s: %w", m.Name, err)
	}
	_, err := tx.Exec(ctx, `UPDATE schema_version SET version = $1`, m.Version)
	return err
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// schemaVersion returns 0 for a database without the table. It does not
// create the table, since that requires the right to create tables even of a role
// that does not need it when the schema is up to date.
func schemaVersion(ctx context.Context, db querier) (version int, err error) {
	var there bool
	if err := db.QueryRow(ctx, `SELECT to_regclass('schema_version') IS NOT NULL`).Scan(&there); err != nil || !there {
		return 0, err
	}
	err = db.QueryRow(ctx, `SELECT version FROM schema_version`).Scan(&version)
	return version, err
}

// name sets application_name, so that the database's administrator recognizes the
// connections, unless the address sets it.
func name(config *pgx.ConnConfig, who string) {
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = who
	}
}
