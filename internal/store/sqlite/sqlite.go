// Package sqlite is the store in one file, for one machine.
//
// The file is in WAL mode with synchronous=FULL: a commit that returned
// survives a power cut. A process writes through one connection and reads
// through a few; other processes may use the file at the same time, and wait
// up to half a minute for each other's short write transactions. They learn of
// each other's commits by polling the newest number five times a second.
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

	lib "modernc.org/sqlite/lib"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// pollInterval is the interval at which a waiting reader polls for other
// processes' commits.
const pollInterval = 200 * time.Millisecond

//go:embed migrations/*.sql migrations/undo/*.sql
var files embed.FS

// Store is an open database file.
type Store struct {
	relational.Base
	write *sql.DB // one connection: SQLite has one writer at a time anyway
	read  *sql.DB

	path    string
	opened  fs.FileInfo // the file as it was opened
	wal     fs.FileInfo // its write-ahead log, nil if there is none
	created bool

	// commit is a field so that tests can make it fail, before it takes effect and
	// after.
	commit func(*sql.Tx) error
}

var _ store.Store = (*Store)(nil)

// Options of Open.
type Options struct {
	Create bool // create a store when there is none

	// MayCreate is called, if it is not nil, before a store is created. If it fails,
	// none is created, and Open returns its error. opened reports whether SQLite has
	// opened the file, applied its write-ahead log, and found no store; otherwise
	// the file is missing or without a byte, and nothing was written.
	MayCreate func(opened bool) error
}

// allow returns the error of Open where there is no store, nil if one is created.
func (o Options) allow(path string, opened bool) error {
	if !o.Create {
		return fault.New(fault.NotFound,
			"there is no store at %s, and none is created here: check the path, and that its volume is mounted", path)
	}
	if o.MayCreate != nil {
		return o.MayCreate(opened)
	}
	return nil
}

// Open opens the file and brings its schema up to date.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	s := &Store{path: path, commit: (*sql.Tx).Commit}
	err := prepare(path, o)
	if err == nil {
		s.opened, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	if s.write, err = open(path, 1, "_txlock=immediate&_pragma=secure_delete(FAST)"); err != nil {
		return nil, err
	}
	if s.read, err = open(path, 8, "_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	s.Base = relational.Base{
		DB:            &prepared{preparer: s.read},
		Exec:          s.exec,
		Update:        s.update,
		UpdateLease:   s.update,
		Snapshot:      s.snapshot,
		Failed:        failed,
		Appended:      fileDocuments,
		SQL:           dialect,
		Erasing:       []string{"PRAGMA secure_delete = 1"},
		Erased:        []string{"PRAGMA secure_delete = FAST"},
		Released:      "expires_at = 0",
		DueDeliveries: dueDeliveries,
		Documents:     "document JOIN document_text ON document = number",
		PutText:       putText,
		RemoveText:    removeText,
		Filed:         "SELECT 1 FROM filed_document f WHERE f.document = d.number",
		FiledDocuments: "SELECT report, coalesce(sha256, '') AS sha256 FROM filed_document LEFT JOIN document " +
			"ON document = number",
	}
	_, walErr := os.Stat(path + "-wal")
	if err := s.migrate(ctx, o); err != nil {
		_ = s.Close()
		if hasCode(err, lib.SQLITE_CORRUPT) && walErr == nil {
			err = fmt.Errorf("%w (if the file was replaced, %[2]s-wal belongs to the former one: put the file "+
				"in place again, and remove %[2]s-wal and %[2]s-shm)", explained(err), path)
		}
		return nil, failed("opening the store "+path, err)
	}
	s.wal, _ = os.Stat(path + "-wal")
	return s, nil
}

// prepare makes sure that the file exists. A new file can be read only by its
// owner; the other files that SQLite creates beside it inherit its mode. A file
// without a byte counts as missing, before SQLite opens it: SQLite removes the
// write-ahead log beside such a file.
func prepare(path string, o Options) error {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || info.Size() == 0 {
		if err := o.allow(path, false); err != nil {
			return err
		}
	}
	if !o.Create {
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
// comment describes. No connection creates the file: one that is opened after the
// file was deleted would create an empty database beside the log of the old one.
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
	s.Wake.All()
	return errors.Join(s.read.Close(), s.write.Close(), s.setAside())
}

// setAside renames the write-ahead log if the file was replaced by another: SQLite
// would apply the log to that file.
func (s *Store) setAside() error {
	file, err := os.Stat(s.path)
	if err != nil || os.SameFile(s.opened, file) || s.wal == nil {
		return nil
	}
	if wal, err := os.Stat(s.path + "-wal"); err != nil || !os.SameFile(s.wal, wal) {
		return nil // SQLite has removed it
	}
	return errors.Join(os.Rename(s.path+"-wal", s.path+"-wal.replaced"), os.Remove(s.path+"-shm"))
}

// migrate applies the missing migrations in one transaction, whose write lock
// makes concurrent processes wait.
func (s *Store) migrate(ctx context.Context, o Options) error {
	all, err := store.Migrations(files)
	if err != nil {
		return err
	}
	if v, err := s.SchemaVersion(ctx); err != nil || v == len(all) {
		return err // nothing to write: a store that may only be read can be opened
	}
	return s.update(ctx, func(tx relational.Tx) error {
		if err := ours(ctx, tx); err != nil {
			return err
		}
		var version int
		if _, err := relational.One(ctx, tx, []any{&version}, "PRAGMA user_version"); err != nil {
			return err
		}
		if version == 0 {
			if err := o.allow(s.path, true); err != nil {
				return err
			}
		}
		pending, err := store.Pending(all, version)
		if err != nil {
			return err
		}
		for _, m := range pending {
			if err := runScript(ctx, tx, m.SQL); err != nil {
				return fmt.Errorf("migration %d (%s): %w", m.Version, m.Name, err)
			}
		}
		if s.created = version == 0; s.created {
			relational.SetCreated(ctx, tx, time.Now())
		}
		// A pragma takes no parameter; the number is ours.
		tx.Exec(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(all)))
		return nil
	})
}

// runScript runs statements one after the other. Prepared, only the first of them
// would run.
func runScript(ctx context.Context, tx relational.Tx, script string) error {
	_, err := tx.(*transaction).preparer.(*sql.Tx).ExecContext(ctx, script)
	return err
}

// MigrateBack undoes the migrations after a version, in one transaction. The store
// must be closed afterwards: only a program of that version can use it.
func (s *Store) MigrateBack(ctx context.Context, to int) error {
	all, err := store.Migrations(files)
	if err != nil {
		return err
	}
	err = s.update(ctx, func(tx relational.Tx) error {
		var version int
		if _, err := relational.One(ctx, tx, []any{&version}, "PRAGMA user_version"); err != nil {
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
				return fmt.Errorf("undoing migration %d (%s): %w", m.Version, m.Name, err)
			}
		}
		tx.Exec(ctx, fmt.Sprintf("PRAGMA user_version = %d", to))
		return nil
	})
	if err != nil {
		return failed("going back to an earlier schema", err)
	}
	return nil
}

// ours fails for a database that another program created: one that has tables and
// no schema version.
func ours(ctx context.Context, tx relational.Tx) error {
	var foreign bool
	_, err := relational.One(ctx, tx, []any{&foreign},
		"SELECT v.user_version = 0 AND EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_user_version v")
	if err == nil && foreign {
		return fault.New(fault.Conflict, "it is a database of another program")
	}
	return err
}

// Created reports whether Open created the store.
func (s *Store) Created() bool { return s.created }

// intact fails when the file under the path is no longer the one that was
// opened. SQLite would continue to write to a file that has no name any more.
func (s *Store) intact() error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Unavailable, "its file was deleted while it was open: nothing is written any "+
			"more; put the file back, or restart")
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "its file cannot be found any more")
	case !os.SameFile(s.opened, now):
		return fault.New(fault.Unavailable,
			"its file was replaced by another while it was open: nothing is written any more; restart to use "+
				"the new one")
	}
	return nil
}

// SchemaVersion returns the number of migrations that were applied to the file.
func (s *Store) SchemaVersion(ctx context.Context) (version int, err error) {
	err = s.read.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// Schema returns the schema version of a file, and those that the program knows,
// without changing anything. The version is 0 for a file without tables of the program.
func Schema(ctx context.Context, path string) (store.Schema, error) {
	all, err := store.Migrations(files)
	if err != nil {
		return store.Schema{}, err
	}
	if err := prepare(path, Options{}); err != nil {
		return store.Schema{}, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return store.Schema{}, err
	}
	defer db.Close()
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return store.Schema{}, failed("reading the store "+path, err)
	}
	return store.SchemaOf(all, version), nil
}

// begin begins a write transaction, and waits for other writers. SQLite gives up
// after the busy timeout and does not serve writers in order. So begin tries a few
// times before it reports that other processes keep the file locked.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	if err := s.intact(); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		tx, err := s.write.BeginTx(ctx, nil)
		if err == nil || tries == 6 || ctx.Err() != nil || !hasCode(err, lib.SQLITE_BUSY) {
			return tx, err
		}
	}
}

// update runs fn in a write transaction. An error of fn rolls it back.
func (s *Store) update(ctx context.Context, fn func(tx relational.Tx) error) error {
	err := s.updateFile(ctx, fn)
	if hasCode(err, lib.SQLITE_IOERR) && readOnly(s.path) {
		return fault.Wrap(fault.Unavailable, err, "%s", reasons[lib.SQLITE_READONLY])
	}
	return err
}

func (s *Store) updateFile(ctx context.Context, fn func(tx relational.Tx) error) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("waiting to write: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	t := &transaction{prepared: prepared{preparer: tx}}
	if err := fn(t); err != nil {
		return err
	}
	if t.failed != nil {
		return t.failed
	}
	if err := s.commit(tx); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

func (s *Store) exec(ctx context.Context, statement string, args ...any) error {
	return s.update(ctx, func(tx relational.Tx) error {
		tx.Exec(ctx, statement, args...)
		return nil
	})
}

// snapshot runs fn in a transaction that reads.
func (s *Store) snapshot(ctx context.Context, fn func(relational.Tx) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return fn(&transaction{prepared: prepared{preparer: tx}})
}

func (s *Store) Newest(ctx context.Context) (int64, error) {
	if err := s.intact(); err != nil {
		return 0, err
	}
	return s.Base.Newest(ctx)
}

func (s *Store) Head(ctx context.Context) (disclosure.Head, error) {
	if err := s.intact(); err != nil {
		return disclosure.Head{}, err
	}
	return s.Base.Head(ctx)
}

func (s *Store) Wait(ctx context.Context, after int64) error {
	return s.Base.Wake.Wait(ctx, after, pollInterval, s.Newest)
}

// dueDeliveries is described by relational.Base.
const dueDeliveries = "SELECT " + relational.DeliveryColumns + ` FROM json_each($1) w
	JOIN delivery d ON d.webhook = w.value AND d.seq IN
		(SELECT p.seq FROM delivery p INDEXED BY delivery_pending
		WHERE p.webhook = w.value AND p.state = 'pending' AND p.due_at <= ` + clock + ` ORDER BY p.seq LIMIT $2)
	ORDER BY w.key, d.seq`
