package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/durable"
	"pregon/internal/store/relational"
)

// PartialSuffix ends the names of backups that are being written.
const PartialSuffix = durable.PartialSuffix

// Backup writes the present state of a database to temp, an empty file in the
// directory of to, and renames it when it is complete, checked and on disk. If it
// fails, it removes temp. It returns the head of the log of the backup.
//
// VACUUM INTO reads one snapshot, so that writers never wait for it; they only
// cannot shorten the write-ahead log meanwhile. The backup API would have to copy
// all pages in one step too, since a commit of another process begins its copy
// anew, and such a step cannot be canceled. VACUUM also leaves out unused pages.
func Backup(ctx context.Context, path string, temp *os.File, to string) (head disclosure.Head, err error) {
	defer func() {
		_ = temp.Close()
		if err != nil {
			_ = os.Remove(temp.Name())
			_ = os.Remove(temp.Name() + "-journal")
			err = failed("backing up "+path, err)
		}
	}()
	if err := prepare(path, Options{}); err != nil {
		return head, err
	}
	if err := vacuum(ctx, path, temp.Name()); err != nil {
		return head, err
	}
	if err := temp.Sync(); err != nil {
		return head, err
	}
	if head, err = checkBackup(ctx, temp.Name()); err != nil {
		return head, err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return head, Exists(to)
	}
	return head, durable.Rename(temp.Name(), to)
}

// Exists returns the error of a backup whose name is taken.
func Exists(to string) error {
	return fault.New(fault.Conflict, "%s exists already: choose a new name, or a directory", to)
}

func vacuum(ctx context.Context, path, to string) error {
	db, err := open(path, 1, "")
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO $1", to); err != nil { // the file may exist if it is empty
		return fmt.Errorf("writing %s: %w", to, explained(err))
	}
	return db.Close()
}

// checkBackup reads the whole file and returns the head of its log.
func checkBackup(ctx context.Context, path string) (head disclosure.Head, err error) {
	// An immutable file gets no -wal and -shm beside it.
	file, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro&immutable=1")
	if err != nil {
		return head, err
	}
	defer file.Close()
	db := &prepared{preparer: file}
	lines, err := relational.Column[string](ctx, db, "PRAGMA quick_check")
	if err != nil {
		return head, err
	}
	if len(lines) != 1 || lines[0] != "ok" {
		return head, fmt.Errorf("%w: %s", store.ErrDamaged, strings.Join(lines, "; "))
	}
	var newest int64
	if _, err := relational.One(ctx, db, []any{&head.Seq, &head.Epoch, &newest},
		"SELECT seq, epoch, (SELECT coalesce(max(seq), 0) FROM change) FROM log_head"); err != nil {
		return head, fmt.Errorf("it has no log that this version can read: %w", err)
	}
	if newest != head.Seq {
		return head, fmt.Errorf("%w: the log ends with change %d, not %d", store.ErrDamaged, newest, head.Seq)
	}
	return head, file.Close()
}
