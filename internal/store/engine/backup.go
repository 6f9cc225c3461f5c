package engine

import (
	"context"
	"fmt"
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
		return b, fault.New(fault.Invalid, "pregon backup is for SQLite: back up PostgreSQL with pg_dump --format=custom, or with base backups and archived WAL")
	}
	isDir, err := o.check()
	if err != nil {
		return b, err
	}
	stem := strings.TrimSuffix(filepath.Base(a.path), filepath.Ext(a.path))
	b.Path = o.To
	if isDir {
		b.Path = filepath.Join(o.To, stem+"-"+o.Now.UTC().Format("20060102T150405Z")+".db")
	}
	if b.Head, err = sqlite.Backup(ctx, a.path, b.Path); err != nil {
		return b, err
	}
	info, err := os.Stat(b.Path)
	if err != nil {
		return b, err
	}
	b.Bytes = info.Size()
	if isDir {
		b.Deleted, err = prune(o, stem)
	}
	if err != nil {
		return b, fmt.Errorf("%s is complete, but older backups could not be deleted: %w", b.Path, err)
	}
	return b, nil
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
		return false, fault.New(fault.NotFound, "there is no directory %s: create it, or mount its volume, and repeat the command", dir)
	}
	return false, nil
}

// prune deletes all but the newest backups of a directory, and incomplete ones of
// processes that were killed. Other files stay.
func prune(o BackupOptions, stem string) (deleted []string, err error) {
	name := regexp.MustCompile(`^` + regexp.QuoteMeta(stem) + `-\d{8}T\d{6}Z\.db(\.\d+` + regexp.QuoteMeta(sqlite.PartialSuffix) + `)?$`)
	entries, err := os.ReadDir(o.To)
	if err != nil {
		return nil, err
	}
	var complete, old []string
	for _, e := range entries {
		match := name.FindStringSubmatch(e.Name())
		if match == nil || !e.Type().IsRegular() {
			continue
		}
		if match[1] == "" {
			complete = append(complete, e.Name())
		} else if info, err := e.Info(); err == nil && o.Now.Sub(info.ModTime()) > partialTime {
			old = append(old, e.Name())
		}
	}
	slices.Sort(complete) // by time
	if o.Keep > 0 {
		old = append(old, complete[:max(0, len(complete)-o.Keep)]...)
	}
	for _, file := range old {
		path := filepath.Join(o.To, file)
		if err := os.Remove(path); err != nil {
			return deleted, err
		}
		deleted = append(deleted, path)
	}
	return deleted, nil
}
