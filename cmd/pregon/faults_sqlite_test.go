package main_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// smallDisk mounts a file system with a few megabytes on a directory.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m")
	if errors.Is(err, os.ErrPermission) {
		t.Skipf("only root may mount a small disk: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// TestFileFaults breaks the file of SQLite in various ways.
func TestFileFaults(t *testing.T) {
	longtest.Skip(t, "it breaks files of the store")
	t.Parallel()
	dir := t.TempDir()
	smallDisk(t, dir)
	path := filepath.Join(dir, "pregon.db")
	w := newTrial(t, "sqlite:"+path, 1)
	t.Run("locked", func(t *testing.T) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		exec := func(statement string) {
			if _, err := db.ExecContext(t.Context(), "PRAGMA busy_timeout = 30000; "+statement); err != nil {
				t.Fatal(err)
			}
		}
		w.endure(t, storeFault{
			begin: func() { exec("BEGIN IMMEDIATE") }, end: func() { exec("ROLLBACK") },
			reasons: []string{"keeps it locked", "in time"}, status: 503, readable: true,
		})
	})
	t.Run("disk full", func(t *testing.T) {
		filler := filepath.Join(dir, "filler")
		w.endure(t, storeFault{
			begin: func() {
				behind(t, "sqlite:"+path, "PRAGMA wal_checkpoint(TRUNCATE)") // otherwise the -wal has room for minutes
				fill(t, filler)
			},
			end: func() {
				if err := os.Remove(filler); err != nil {
					t.Fatal(err)
				}
			},
			reasons: []string{"the disk is full"}, readable: true,
		})
	})
	w.end(t)
}

// TestReadOnlyFile makes the file of SQLite immutable while serve uses it, as a file
// system that becomes read-only after an error.
func TestReadOnlyFile(t *testing.T) {
	longtest.Skip(t, "it breaks files of the store")
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pregon.db")
	immutable := func(to string, files ...string) error {
		out, err := exec.Command("chattr", append([]string{to + "i"}, files...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	probe, err := os.Create(path + ".probe")
	if err != nil {
		t.Fatal(err)
	}
	defer probe.Close()
	if err := immutable("+", probe.Name()); err != nil {
		t.Skipf("chattr does not work here: %v", err)
	}
	_, err = probe.WriteString("x")
	if undo := immutable("-", probe.Name()); undo != nil {
		t.Fatal(undo)
	}
	if err == nil {
		t.Skip("an open file stays writable on this file system")
	}
	w := newTrial(t, "sqlite:"+path, 1)
	t.Cleanup(func() { _ = immutable("-", path, path+"-wal") }) // so that it can be removed
	w.endure(t, storeFault{
		begin: func() {
			if err := immutable("+", path, path+"-wal"); err != nil {
				t.Fatal(err)
			}
		},
		end: func() {
			if err := immutable("-", path, path+"-wal"); err != nil {
				t.Fatal(err)
			}
		},
		reasons: []string{"it is read-only"}, status: 503, readable: true,
	})
	w.end(t)
}

// TestReplacedFile puts an older backup in the place of the file while serve uses it.
// serve stops writing and says so; after a restart it detects that the log went back,
// reads what is missing from the source again, and sends clients back.
func TestReplacedFile(t *testing.T) {
	longtest.Skip(t, "it breaks files of the store")
	t.Parallel()
	r := newReader(t, startSource(t), engines["sqlite"](t))
	path := strings.TrimPrefix(r.spec, "sqlite:")
	r.start(t)
	key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
	first := r.publish(t, `{"type":"oir"}`)
	r.waitListed(t, first)
	older := filepath.Join(filepath.Dir(path), "older.db")
	pregon(t, r.spec, "backup", "--to", older)
	ids := []string{first, r.publish(t, `{"type":"ip"}`), r.publish(t, `{"type":"oir"}`)}
	r.waitListed(t, ids...)
	cursor := lastCursor(t, r.serve.url, key)
	if err := errors.Join(r.store.Close(), os.Rename(older, path)); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, r.publish(t, `{"type":"oir"}`)) // which is not stored
	eventually(t, func() error {
		if got := r.serve.storeReasons(t); !slices.ContainsFunc(got, func(r string) bool { return strings.Contains(r, "replaced by another") }) {
			return fmt.Errorf("reasons of the store: got %q, want that its file was replaced", got)
		}
		return nil
	})
	if got := r.serve.status(t, "/api/v1/reports/"+ids[2], "", ""); got != http.StatusOK {
		t.Errorf("a report of the former file: got status %d, want 200 from memory", got)
	}
	if got := lastCursor(t, r.serve.url, key); got != cursor {
		t.Errorf("the newest cursor is %s, want %s as before", got, cursor)
	}
	if err := r.serve.end(syscall.SIGTERM); err != nil {
		t.Errorf("serve did not end cleanly: %v", err)
	}

	r.store = openStore(t, r.spec)
	r.start(t)
	if log := r.serve.log.String(); !strings.Contains(log, "a new epoch begins") {
		t.Errorf("serve has not detected the older file:\n%s", log)
	}
	r.waitListed(t, ids...)
	today := disclosure.DayOf(time.Now())
	r.exact(t, today-7, today, disclosure.IP, disclosure.OIR)
	r.expectReset(t, key, cursor)
	r.stop(t)
	storetest.CheckLog(t, r.store)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// TestPowerCut copies the file and a part of its -wal at random moments while serve
// writes: what a disk might have after a power cut. Each copy must be intact.
func TestPowerCut(t *testing.T) {
	longtest.Skip(t, "it breaks files of the store")
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pregon.db")
	w := newTrial(t, "sqlite:"+path, 1)
	for n := range 25 {
		w.burst(t, 2)
		waittest.Pace(t.Context(), rand.N(100*time.Millisecond))
		to := filepath.Join(t.TempDir(), "pregon.db")
		// A checkpoint between the two copies would not be like a power cut: copy the
		// -wal first and again, until none has happened.
		eventually(t, func() error { return copyCut(path, to) })
		db := openStore(t, "sqlite:"+to)
		if log := storetest.CheckLog(t, db); len(log) == 0 {
			t.Errorf("copy %d is empty", n)
		}
	}
	w.agree(t)
	w.end(t)
}

// copyCut copies a database and its -wal, without a random part of its end.
func copyCut(from, to string) error {
	head := func() (string, error) { // its salt changes with each checkpoint that restarts it
		f, err := os.Open(from + "-wal")
		if err != nil {
			return "", err
		}
		defer f.Close()
		b := make([]byte, 32)
		_, err = io.ReadFull(f, b)
		return string(b), err
	}
	before, err := head()
	if err != nil {
		return err
	}
	base, err := os.Stat(from)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal"} {
		body, err := os.ReadFile(from + suffix)
		if err != nil {
			return err
		}
		if suffix != "" {
			body = body[:len(body)-rand.IntN(min(len(body)-32, 3000)+1)]
		}
		if err := os.WriteFile(to+suffix, body, 0o600); err != nil {
			return err
		}
	}
	after, err := head()
	if now, statErr := os.Stat(from); err != nil || statErr != nil || after != before || !now.ModTime().Equal(base.ModTime()) {
		return fmt.Errorf("a checkpoint happened meanwhile (%v, %v)", err, statErr)
	}
	return nil
}
