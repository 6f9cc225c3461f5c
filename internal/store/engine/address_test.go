package engine

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/fault"
)

// TestLostFile: where a store was served, no empty one is created in its place unless
// this is requested, and what is beside it stays as it is.
func TestLostFile(t *testing.T) {
	write := func(t *testing.T, path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const record = `{"epochs":[{"epoch":"0123456789abcdef","last":{"seq":41}}]}`
	for name, test := range map[string]struct {
		file     func(t *testing.T, path string)
		evidence string // what is appended to the path
		text     string
		want     string
	}{
		"missing":              {nil, ".served", record, "up to change 41"},
		"missing, odd record":  {nil, ".served", "?", "one was there"},
		"missing, with a log":  {nil, "-wal", "the last commits", "-wal shows"},
		"empty":                {func(t *testing.T, path string) { write(t, path, "") }, ".served", record, "up to change 41"},
		"empty, with a log":    {func(t *testing.T, path string) { write(t, path, "") }, "-wal", "the last commits", "-wal shows"},
		"without tables":       {writeTableless, ".served", record, "up to change 41"},
		"missing, never there": {nil, "", "", ""},
		"empty, never there":   {func(t *testing.T, path string) { write(t, path, "") }, "", "", ""},
		"missing, no record":   {nil, ".served", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pregon.db")
			if test.file != nil {
				test.file(t, path)
			}
			if test.evidence != "" {
				write(t, path+test.evidence, test.text)
			}
			address, err := ParseAddress("sqlite:" + path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := address.Open(t.Context(), false); fault.KindOf(err) != fault.NotFound {
				t.Errorf("opening without create: got %v, want that there is no store", err)
			}
			if test.want != "" {
				_, err := address.Open(t.Context(), true)
				if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), test.want) {
					t.Fatalf("got %v, want a refusal with %q", err, test.want)
				}
				todo := "remove " + path + "-wal and " + path + "-shm, copy a backup"
				if !strings.Contains(err.Error(), todo) {
					t.Errorf("got %v, want %q in it", err, todo)
				}
				if _, err := os.Stat(path); test.file == nil && !errors.Is(err, os.ErrNotExist) {
					t.Error("the file was created")
				}
				if kept, err := os.ReadFile(path + test.evidence); err != nil || string(kept) != test.text {
					t.Errorf("%s has %q (%v), want it as it was", test.evidence, kept, err)
				}
				address = address.BeginAnew()
			}
			db, err := address.Open(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			if !db.Created() {
				t.Error("no store was created")
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKilledWhileCreated: a process was killed while it created a store. The file has
// no table, and its write-ahead log no commit. The next process creates the store.
func TestKilledWhileCreated(t *testing.T) {
	dir := t.TempDir()
	killed, path := filepath.Join(dir, "killed.db"), filepath.Join(dir, "pregon.db")
	file, err := sql.Open("sqlite", killed+"?_pragma=journal_mode(WAL)&_pragma=cache_size(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tx, err := file.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	// More than the cache holds, so that it is in the log before the commit.
	const fill = "CREATE TABLE x (x); INSERT INTO x VALUES (zeroblob(1000000)), (zeroblob(1000000))"
	if _, err := tx.ExecContext(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(killed + suffix)
		if err != nil || len(content) == 0 {
			t.Fatalf("%s has %d bytes, %v, want some", killed+suffix, len(content), err)
		}
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address, err := ParseAddress("sqlite:" + path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := address.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if !db.Created() {
		t.Error("no store was created")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// writeTableless writes a SQLite file that has no tables any more.
func writeTableless(t *testing.T, path string) {
	t.Helper()
	file, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.ExecContext(t.Context(), "CREATE TABLE x (x); DROP TABLE x")
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}
