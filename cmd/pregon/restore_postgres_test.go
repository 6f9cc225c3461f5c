package main_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/longtest"
)

// TestRestorePostgres restores a database with PostgreSQL's own tools, as
// docs/data.md says: a dump that was made while the service ran, and a base backup
// with the archived log up to a point in time.
func TestRestorePostgres(t *testing.T) {
	longtest.Skip(t, "it restores whole databases")
	for name, way := range map[string]func(b *backedUp) (kept, lost []string, cursor string){
		"dump": restoreDump, "point in time": restorePoint,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &backedUp{T: t, cache: t.TempDir(), ids: map[string]string{}, got: map[string]bool{}}
			kept, lost, cursor := way(b)
			if said := pregon(t, b.spec, "restore"); !strings.Contains(said, "the epoch of") {
				t.Errorf("restore says %q", said)
			}
			b.start()
			defer b.stop()
			list := b.changes("0", kept)
			for _, e := range list.Data {
				if slices.Contains(lost, e.ID) {
					t.Errorf("%s was published after the backup, and is there", e.ID)
				}
			}
			others := b.file(6)
			list = b.changes(cursor, others)
			if list.Reset == nil || !strings.Contains(list.Reset.Reason, "a backup was restored") {
				t.Errorf("changes after the old cursor %s: got reset %+v, want the restore as its reason", cursor, list.Reset)
			}
			if got := pregon(t, b.spec, "verify"); !strings.Contains(got, "no findings") {
				t.Errorf("verify says %q", got)
			}
		})
	}
}

// begin starts the service and has it serve some reports.
func (b *backedUp) begin(spec string) (ids []string) {
	b.Helper()
	b.spec = spec
	b.start()
	b.key = pregon(b.T, spec, "keys", "create", "--plan", "pro")
	return b.file(5)
}

func restoreDump(b *backedUp) (kept, lost []string, cursor string) {
	c := pgtest.NewCluster(b)
	kept = b.begin(c.URL())
	file := filepath.Join(c.Dir(), "pregon.dump")
	c.Run(b, "pg_dump", "--format=custom", "--file", file, "test")
	lost = b.file(4)
	cursor = b.changes("0", slices.Concat(kept, lost)).Next
	b.stop()
	if err := c.Exec("CREATE DATABASE restored"); err != nil {
		b.Fatal(err)
	}
	c.Run(b, "pg_restore", "--single-transaction", "--exit-on-error", "--dbname", "restored", file)
	b.spec = strings.Replace(b.spec, "/test?", "/restored?", 1)
	return kept, lost, cursor
}

func restorePoint(b *backedUp) (kept, lost []string, cursor string) {
	c := pgtest.NewCluster(b, "archive_mode=on")
	archive := filepath.Join(c.Dir(), "archive")
	if err := errors.Join(os.Mkdir(archive, 0o700), os.Chmod(archive, 0o777)); err != nil { // the server may be another user
		b.Fatal(err)
	}
	for _, statement := range []string{"ALTER SYSTEM SET archive_command = 'cp %p " + archive + "/%f'", "SELECT pg_reload_conf()"} {
		if err := c.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
	kept = b.begin(c.URL())
	backup := c.BackUp(b)
	kept = append(kept, b.file(3)...)
	if err := c.Exec("SELECT pg_create_restore_point('before')"); err != nil {
		b.Fatal(err)
	}
	lost = b.file(4)
	cursor = b.changes("0", slices.Concat(kept, lost)).Next
	b.stop()
	if err := c.Exec("SELECT pg_switch_wal()"); err != nil {
		b.Fatal(err)
	}
	if err := c.Stop("fast"); err != nil { // it archives the rest first
		b.Fatal(fmt.Errorf("stopping the primary: %w", err))
	}
	backup.RecoverTo(b, archive, "before")
	b.spec = backup.URL()
	return kept, lost, cursor
}
