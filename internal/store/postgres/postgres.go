// Package postgres implements the store on PostgreSQL, for deployments on more
// than one machine: any number of processes may open the same database.
//
// All writers of the log lock one row, log_head, which gives the guarantees of
// package store about seq: see Append. The records of coverage have note_head,
// other records have record_head, and the fan-out to webhooks has fanned. Readers
// never wait for writers. NOTIFY informs other processes of a commit, which only
// saves time: a lost notification delays a waiting reader by a second. Where
// notifications do not arrive at all, as on standby servers and behind connection
// poolers in transaction mode, readers poll ten times a second.
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

//go:embed migrations/*.sql migrations/undo/*.sql
var files embed.FS

// The keys of advisory locks; any numbers that no other program uses on this
// database will do.
const (
	migrating = 7_346_615_001 // the schema is changed
	storing   = 7_346_615_002 // a document is stored
)

// Store is a store.Store in a PostgreSQL database.
type Store struct {
	relational.Base
	hosts *hosts
	pool  *pgxpool.Pool
	// leases has connections of its own: a lease must be renewed in time,
	// however many writers wait with the connections of pool.
	leases  *pgxpool.Pool
	writing pgx.TxOptions
	poll    time.Duration // the interval at which Wait polls while it is notified
	hears   atomic.Bool   // notifications arrive

	created bool

	// appending is full during an append. Appends wait for each other in any case,
	// and here they do not keep connections that others need.
	appending chan struct{}

	// commit is a field so that tests can make it fail, before it takes effect and
	// after.
	commit func(context.Context, pgx.Tx) error

	stopListening context.CancelFunc
	listening     chan struct{} // closed when the listener has ended
}

var _ store.Store = (*Store)(nil)

// Open connects to a database by its postgres:// address and brings its schema
// up to date. Many processes may do so at once.
func Open(ctx context.Context, url string) (*Store, error) {
	s, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		s.disconnect()
		return nil, failed("opening the store", err)
	}
	ctx, s.stopListening = context.WithCancel(context.WithoutCancel(ctx))
	go s.listen(ctx)
	return s, nil
}

// OpenStandby connects to a standby server, which can only be read. It fails,
// Unavailable, while the standby has not received the newest schema.
func OpenStandby(ctx context.Context, url string) (*Store, error) {
	s, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := s.checkSchema(ctx); err != nil {
		s.disconnect()
		return nil, failed("opening the read replica", err)
	}
	s.stopListening = func() {}
	close(s.listening) // a standby does not support LISTEN
	return s, nil
}

// Schema returns the schema version of a database, and those that the program knows,
// without changing anything. The version is 0 for a database without a store.
func Schema(ctx context.Context, url string) (store.Schema, error) {
	all, err := store.Migrations(files)
	if err != nil {
		return store.Schema{}, err
	}
	s, err := connect(ctx, url)
	if err != nil {
		return store.Schema{}, err
	}
	defer s.disconnect()
	version, err := schemaVersion(ctx, s)
	if err != nil {
		return store.Schema{}, failed("reading the schema's version", err)
	}
	return store.SchemaOf(all, version), nil
}

// checkSchema returns an error unless the schema is the program's.
func (s *Store) checkSchema(ctx context.Context) error {
	all, err := store.Migrations(files)
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, s)
	if err != nil {
		return err
	}
	pending, err := store.Pending(all, version)
	if err == nil && len(pending) > 0 {
		return errOldSchema
	}
	return err
}

var errOldSchema = fault.New(fault.Unavailable, "the read replica has not received the present schema yet")

// maxConns is how many connections a pool has unless the address says otherwise.
// On a slow network each read keeps one for a while.
const maxConns = 10

// connect returns a store on a database whose schema is not known yet.
func connect(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The cause may quote the address, and a malformed one may show its
		// password, so it is neither shown nor kept for the log.
		return nil, fault.New(fault.Invalid,
			"the address of the store is not one of PostgreSQL: use postgres://user@host/database")
	}
	name(config.ConnConfig, "pregon")
	if !strings.Contains(url, "pool_max_conns=") {
		config.MaxConns = maxConns
	}
	hosts := newHosts(config)
	pool, err := hosts.newPool(ctx, config)
	if err != nil {
		return nil, failed("opening the store", err)
	}
	few := config.Copy()
	few.MaxConns = 2
	few.MinConns = 0
	few.MinIdleConns = 0
	leases, err := hosts.newPool(ctx, few)
	if err != nil {
		pool.Close()
		return nil, failed("opening the store", err)
	}
	s := &Store{
		Base: relational.Base{
			DB:             database{pool},
			Failed:         failed,
			Appended:       appended,
			SQL:            dialect,
			Released:       `holder = NULL, expires_at = clock_timestamp()`,
			DueDeliveries:  dueDeliveries,
			Documents:      `document`,
			PutText:        putText,
			RemoveText:     []string{`DELETE FROM document WHERE sha256 = $1`},
			Filed:          `SELECT 1 FROM filed_document f WHERE f.sha256 = d.sha256`,
			FiledDocuments: `SELECT report, sha256 FROM filed_document`,
		},
		hosts:     hosts,
		pool:      pool,
		leases:    leases,
		writing:   writing(writeTimeout, frozenTimeout),
		appending: make(chan struct{}, 1),
		poll:      time.Second,
		commit:    func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
		listening: make(chan struct{}),
	}
	s.Update, s.Snapshot = s.update, s.snapshot
	s.UpdateLease = func(ctx context.Context, fn func(relational.Tx) error) error {
		return s.transact(ctx, leases, writing(frozenTimeout, frozenTimeout), fn)
	}
	s.Exec = func(ctx context.Context, statement string, args ...any) error {
		_, err := pool.Exec(ctx, statement, args...)
		return err
	}
	return s, nil
}

func (s *Store) disconnect() {
	s.leases.Close()
	s.pool.Close()
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
		s.disconnect()
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
	version, err := schemaVersion(ctx, s)
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
	return retryLocked(ctx, func() error { return s.migrateOnce(ctx, all) })
}

// retryLocked calls a change of the schema again while it cannot lock a table.
func retryLocked(ctx context.Context, change func() error) error {
	for try := 1; ; try++ {
		err := change()
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
	return s.transact(ctx, s.pool, readCommitted, func(tx relational.Tx) error {
		version, err := lockSchema(ctx, tx)
		if err != nil {
			return err
		}
		pending, err := store.Pending(all, version)
		if err != nil {
			return err
		}
		for _, m := range pending {
			if err := runScript(ctx, tx, m.SQL); err != nil {
				return fmt.Errorf("migration %s: %w", m.Name, err)
			}
		}
		if len(pending) == 0 {
			return nil
		}
		if s.created = version == 0; s.created {
			relational.SetCreated(ctx, tx, time.Now())
		}
		tx.Exec(ctx, `UPDATE schema_version SET version = $1`, len(all))
		return nil
	})
}

// lockSchema makes other processes that change the schema wait, and returns its
// version.
func lockSchema(ctx context.Context, tx relational.Tx) (version int, err error) {
	tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrating))
	tx.Exec(ctx, `SET LOCAL lock_timeout = '3s'`)
	return schemaVersion(ctx, tx)
}

// runScript runs statements one after the other. Only the simple protocol takes
// several at once.
func runScript(ctx context.Context, tx relational.Tx, script string) error {
	_, err := tx.(*transaction).Tx.Exec(ctx, script, pgx.QueryExecModeSimpleProtocol)
	return err
}

// MigrateBack undoes the migrations after a version, in one transaction. The store
// must be closed afterwards: only a program of that version can use it.
func (s *Store) MigrateBack(ctx context.Context, to int) error {
	all, err := store.Migrations(files)
	if err != nil {
		return err
	}
	err = retryLocked(ctx, func() error {
		return s.transact(ctx, s.pool, readCommitted, func(tx relational.Tx) error {
			version, err := lockSchema(ctx, tx)
			if err != nil {
				return err
			}
			steps, err := store.Undoing(all, version, to)
			if err != nil {
				return err
			}
			for _, m := range steps {
				if err := store.MayUndo(m, func() (int64, error) { return relational.CountPositions(ctx, tx) }); err != nil {
					return err
				}
				if err := runScript(ctx, tx, m.Undo); err != nil {
					return fmt.Errorf("undoing migration %s: %w", m.Name, err)
				}
			}
			tx.Exec(ctx, `UPDATE schema_version SET version = $1`, to)
			return nil
		})
	})
	if err != nil {
		return failed("going back to an earlier schema", err)
	}
	return nil
}

// schemaVersion returns 0 for a database without the table. It does not
// create the table, since that requires the right to create tables even of a role
// that does not need it when the schema is up to date.
func schemaVersion(ctx context.Context, db relational.DB) (version int, err error) {
	var there bool
	if _, err := relational.One(ctx, db, []any{&there},
		`SELECT to_regclass('schema_version') IS NOT NULL`); err != nil || !there {
		return 0, err
	}
	_, err = relational.One(ctx, db, []any{&version}, `SELECT version FROM schema_version`)
	return version, err
}

// appended writes which reports have another document now, and notifies the
// listeners, which the server does at the commit.
func appended(ctx context.Context, tx relational.Tx, seq int64, documents map[string]string) {
	for report, hash := range documents {
		statement, args := `DELETE FROM filed_document WHERE report = $1`, []any{report}
		if hash != "" {
			statement, args = `INSERT INTO filed_document (report, sha256) VALUES ($1, $2)
				ON CONFLICT (report) DO UPDATE SET sha256 = excluded.sha256`, []any{report, hash}
		}
		tx.Exec(ctx, statement, args...)
	}
	tx.Exec(ctx, `SELECT pg_notify('pregon_log', $1)`, strconv.FormatInt(seq, 10))
	// A commit may have to wait for a standby server, without a timeout.
	tx.Exec(ctx, `SET LOCAL statement_timeout = 0`)
}

// dueDeliveries is described by relational.Base.
const dueDeliveries = `SELECT ` + relational.DeliveryColumns + ` FROM unnest($1::text[]) WITH ORDINALITY AS w (webhook, place)
	CROSS JOIN LATERAL (SELECT * FROM delivery
		WHERE webhook = w.webhook AND state = 'pending' AND due_at <= now() ORDER BY seq LIMIT $2) d
	ORDER BY w.place, d.seq`

func (s *Store) Wait(ctx context.Context, after int64) error {
	every := min(s.poll, deafPoll)
	if s.hears.Load() {
		every = s.poll
	}
	err := s.Base.Wake.Wait(ctx, after, every, s.Newest)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// name sets application_name, so that the database's administrator recognizes the
// connections, unless the address sets it.
func name(config *pgx.ConnConfig, who string) {
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = who
	}
}
