// Package sqlite is the store in one file, for one machine.
//
// The file is in WAL mode with synchronous=FULL: a commit that returned
// survives a power cut. A process writes through one connection and reads
// through a few; other processes may use the file at the same time, and wait
// up to half a minute for each other's short write transactions. They learn of
// each other's commits by looking at the newest number five times a second.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
)

// lookEvery is how often a waiting reader looks for other processes' commits.
const lookEvery = 200 * time.Millisecond

//go:embed migrations/*.sql
var files embed.FS

// Store is an open database file.
type Store struct {
	write *sql.DB // one connection: SQLite has one writer at a time anyway
	read  *sql.DB
	wake  store.Wake
	seq   *sql.Stmt // asked for five times a second as long as the process lives

	path    string
	opened  fs.FileInfo // the file as it was opened
	created bool

	// commit is a variable so that tests can fail it, before and after.
	commit func(*sql.Tx) error
}

var _ store.Store = (*Store)(nil)

// Options of Open.
type Options struct {
	Create bool // make the file when there is none
}

// Open opens the file and brings its schema up to date.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s := &Store{path: path, commit: (*sql.Tx).Commit}
	err := prepare(path, o.Create)
	if err == nil {
		s.opened, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	if s.write, err = open(path, 1, "_txlock=immediate"); err != nil {
		return nil, err
	}
	if s.read, err = open(path, 8, "_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	err = s.migrate(ctx)
	if err == nil {
		s.seq, err = s.read.PrepareContext(ctx, "SELECT seq FROM log_head")
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("opening the store %s: %w", path, explained(err))
	}
	return s, nil
}

// prepare makes sure that the file is there. A new one is nobody else's to
// read; the companions that SQLite puts beside it inherit its mode.
func prepare(path string, create bool) error {
	if !create {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fault.New(fault.NotFound, "there is no store at %s, and none is made here: is the path right, and its volume mounted?", path)
		} else if err != nil {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// open makes a pool whose every connection has the settings the package
// comment speaks of. None makes the file: one that is opened later, when the file
// was taken away, would begin an empty database beside the log of the old one.
func open(path string, most int, extra string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?mode=rw&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&" + extra
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// Close closes the file.
func (s *Store) Close() error {
	s.wake.All()
	return errors.Join(s.read.Close(), s.write.Close())
}

// migrate applies what is missing in one transaction, whose write lock lets
// one process at a time in.
func (s *Store) migrate(ctx context.Context) error {
	all, err := store.Migrations(files)
	if err != nil {
		return err
	}
	if v, err := s.SchemaVersion(ctx); err != nil || v == len(all) {
		return err // nothing to write: a store that may only be read can be opened
	}
	return s.update(ctx, func(tx *sql.Tx) error {
		if err := ours(ctx, tx); err != nil {
			return err
		}
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		pending, err := store.Pending(all, version)
		if err != nil {
			return err
		}
		s.created = version == 0
		for _, m := range pending {
			if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
				return fmt.Errorf("migration %d (%s): %w", m.Version, m.Name, err)
			}
		}
		if s.created {
			if _, err := tx.ExecContext(ctx, "INSERT INTO setting (name, value) VALUES (?, ?)", createdSetting, store.FormatCreated(time.Now())); err != nil {
				return err
			}
		}
		// A pragma takes no parameter; the number is ours.
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(all)))
		return err
	})
}

// ours refuses a database that another program made: it has tables, and no
// version of ours.
func ours(ctx context.Context, tx *sql.Tx) error {
	var foreign bool
	err := tx.QueryRowContext(ctx, "SELECT v.user_version = 0 AND EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_user_version v").Scan(&foreign)
	if err == nil && foreign {
		return fault.New(fault.Conflict, "it is a database of another program")
	}
	return err
}

// Created reports whether Open made the store.
func (s *Store) Created() bool { return s.created }

// intact fails when the file under the path is no longer the one that was
// opened. SQLite would go on writing to a file that nobody can find again.
func (s *Store) intact() error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Unavailable, "its file was deleted while it was open: nothing is written any more; put the file back, or restart")
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "its file cannot be found any more")
	case !os.SameFile(s.opened, now):
		return fault.New(fault.Unavailable, "its file was replaced by another while it was open: nothing is written any more; restart to use the new one")
	}
	return nil
}

// SchemaVersion returns the number of migrations the file has seen.
func (s *Store) SchemaVersion(ctx context.Context) (version int, err error) {
	err = s.read.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// begin waits for its turn to write. SQLite gives up after the busy timeout,
// and does not serve in the order of asking: when others write without a pause,
// it is asked again a few times before they are said to keep the file.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	if err := s.intact(); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		tx, err := s.write.BeginTx(ctx, nil)
		if err == nil || tries == 6 || ctx.Err() != nil || !isBusy(err) {
			return tx, err
		}
	}
}

// update runs fn in a write transaction. An error of fn takes everything back.
func (s *Store) update(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("waiting to write: %w", explained(err))
	}
	defer tx.Rollback() // does nothing after a commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := s.commit(tx); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}
