package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store/sqlite"
)

// BackupOptions are the parameters of Address.Backup.
type BackupOptions struct {
	To   string // a directory, or a new file, whose name has an extension
	Keep int    // in a directory: how many backups remain; 0: all
	Now  time.Time
}

// Backup is a complete backup of a SQLite file.
type Backup struct {
	Path    string
	Bytes   int64
	Head    disclosure.Head // of its log
	Deleted []string        // older backups
}

// partialTime is after how long an incomplete backup is deleted: its process was
// killed.
const partialTime = 24 * time.Hour

// Backup writes a backup of a SQLite file, which other processes may use meanwhile,
// and then deletes older ones as requested.
func (a Address) Backup(ctx context.Context, o BackupOptions) (b Backup, err error) {
	if a.url != "" {
		return b, fault.New(fault.Invalid, "pregon backup is for SQLite: back up PostgreSQL with pg_dump "+
			"--format=custom, or with base backups and archived WAL")
	}
	isDir, err := o.check()
	if err != nil {
		return b, err
	}
	names := backupNames{dir: o.To, stem: strings.TrimSuffix(filepath.Base(a.path), filepath.Ext(a.path))}
	var temp *os.File
	if isDir {
		b.Path, temp, err = names.reserve(o.Now)
	} else {
		b.Path = o.To
		temp, err = create(o.To)
	}
	if err != nil {
		return b, err
	}
	if b.Head, err = sqlite.Backup(ctx, a.path, temp, b.Path); err != nil {
		return b, err
	}
	info, err := os.Stat(b.Path)
	if err != nil {
		return b, err
	}
	b.Bytes = info.Size()
	if isDir {
		b.Deleted, err = names.prune(o)
	}
	if err != nil {
		return b, fmt.Errorf("%s is complete, but older backups could not be deleted: %w", b.Path, err)
	}
	return b, nil
}

// create creates the file in which a backup to a new file is written.
func create(to string) (*os.File, error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return nil, sqlite.Exists(to)
	}
	return os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*"+sqlite.PartialSuffix) // with mode 0600
}

// check reports whether the backup goes to a directory. A directory that does not
// exist is not created: its volume may not be mounted.
func (o BackupOptions) check() (isDir bool, err error) {
	if o.Keep < 0 {
		return false, fault.New(fault.Invalid, "--keep %d must be 1 or more", o.Keep)
	}
	info, err := os.Stat(o.To)
	if err == nil && info.IsDir() {
		return true, nil
	}
	dir := o.To
	if err == nil || filepath.Ext(o.To) != "" {
		if o.Keep > 0 {
			return false, fault.New(fault.Invalid, "--keep needs a directory as --to, and %s is a file", o.To)
		}
		dir = filepath.Dir(o.To)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false, fault.New(fault.NotFound,
			"there is no directory %s: create it, or mount its volume, and repeat the command", dir)
	}
	return false, nil
}

// backupNames are the names of the backups of one store in a directory:
// pregon-20261117T084600Z.db, and with .partial at the end while it is written.
type backupNames struct{ dir, stem string }

const backupTime = "20060102T150405Z"

// mostTries is how often reserve looks for a name that no other process has taken.
const mostTries = 100

// reserve returns the name of a backup that begins at a time, and the file in which
// it is written. The name has the next second after the newest backup if that is
// later, so that the names have the order of the backups: with two in one second, and
// after the clock was set back.
func (n backupNames) reserve(now time.Time) (to string, temp *os.File, err error) {
	at := now.UTC().Truncate(time.Second)
	for range mostTries {
		complete, partial, err := n.list()
		if err != nil {
			return "", nil, err
		}
		for _, name := range append(complete, partial...) {
			stamp := strings.TrimPrefix(name, n.stem+"-")[:len(backupTime)]
			if last, err := time.Parse(backupTime, stamp); err == nil && !last.Before(at) {
				at = last.Add(time.Second)
			}
		}
		to = filepath.Join(n.dir, n.stem+"-"+at.Format(backupTime)+".db")
		// Of the processes that chose the same name, one creates the file.
		temp, err = os.OpenFile(to+sqlite.PartialSuffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
				return to, temp, nil
			}
			// Another process has completed its backup since the directory was listed.
			_ = temp.Close()
			_ = os.Remove(temp.Name())
			continue
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", nil, err
		}
	}
	return "", nil, fault.New(fault.Conflict,
		"other processes took every name for a backup in %s: repeat the command when they are done", n.dir)
}

// list returns the names of the complete backups, in their order, and of those that
// are being written or whose process was killed.
func (n backupNames) list() (complete, partial []string, err error) {
	name := regexp.MustCompile(`^` + regexp.QuoteMeta(n.stem) + `-\d{8}T\d{6}Z\.db((\.\d+)?` +
		regexp.QuoteMeta(sqlite.PartialSuffix) + `)?$`)
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		match := name.FindStringSubmatch(e.Name())
		switch {
		case match == nil || !e.Type().IsRegular():
		case match[1] == "":
			complete = append(complete, e.Name())
		default:
			partial = append(partial, e.Name())
		}
	}
	slices.Sort(complete) // by time
	return complete, partial, nil
}

// prune deletes all but the newest backups, and incomplete ones of processes that
// were killed. Other files stay.
func (n backupNames) prune(o BackupOptions) (deleted []string, err error) {
	complete, partial, err := n.list()
	if err != nil {
		return nil, err
	}
	var old []string
	for _, name := range partial {
		if info, err := os.Stat(filepath.Join(n.dir, name)); err == nil && o.Now.Sub(info.ModTime()) > partialTime {
			old = append(old, name)
		}
	}
	if o.Keep > 0 {
		old = append(old, complete[:max(0, len(complete)-o.Keep)]...)
	}
	for _, file := range old {
		path := filepath.Join(n.dir, file)
		if err := os.Remove(path); err != nil {
			return deleted, err
		}
		deleted = append(deleted, path)
	}
	return deleted, nil
}
