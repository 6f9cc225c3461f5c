package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/monitor"
	"pregon/internal/store/sqlite"
)

// filled creates a store with some data, closes it and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	var deliveries []store.Delivery
	for i := range 50 {
		b.Issuers = append(b.Issuers, disclosure.Issuer{ID: fmt.Sprintf("A%08d", i), Name: strings.Repeat("Nombre ", 20), Kind: disclosure.Company})
		deliveries = append(deliveries, store.Delivery{Webhook: fmt.Sprint("wh_", i), Seq: int64(i + 1), Event: "issuer.updated"})
	}
	_, err = s.Append(t.Context(), b)
	_, putErr := store.PutRecord(t.Context(), s, store.Record{Kind: store.CoverageKind, ID: "a", Body: "b"})
	err = errors.Join(err, s.Enqueue(t.Context(), deliveries...), putErr, s.Close())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// pages returns the first page of every table and index, by name, and the size
// of a page.
func pages(t *testing.T, path string) (first map[string]int64, size int64) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&size); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	first = map[string]int64{}
	for rows.Next() {
		var name string
		var page int64
		if err := rows.Scan(&name, &page); err != nil {
			t.Fatal(err)
		}
		first[name] = page
	}
	return first, size
}

// overwrite corrupts a page of a file.
func overwrite(t *testing.T, path string, page, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("broken! ", int(size/8))), (page-1)*size); err != nil {
		t.Fatal(err)
	}
}

// check checks the store at a path, and returns which parts were read and which
// of them are damaged.
func check(ctx context.Context, t *testing.T, path string) (read, damaged []string, err error) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Check(ctx, func(part string, broken bool) {
		read = append(read, part)
		if broken {
			damaged = append(damaged, part)
		}
	})
	return read, damaged, err
}

func TestCheck(t *testing.T) {
	all := slices.Sorted(slices.Values(monitor.Parts))
	for broken, want := range map[string]string{
		"": "", "delivery": "deliveries", "delivery_pending": "deliveries", "endpoint": "deliveries", "note": "notes", "note_revision": "notes",
		"record": "records", "use_mark": "marks", "use_count": "marks", "change": "log", "issuer": "log", "lease": "leases", "document": "documents", "word_block": "documents",
	} {
		t.Run(broken, func(t *testing.T) {
			path := filled(t)
			if broken != "" {
				first, size := pages(t, path)
				if first[broken] == 0 {
					t.Fatalf("there is no %s", broken)
				}
				overwrite(t, path, first[broken], size)
			}
			read, damaged, err := check(t.Context(), t, path)
			if err != nil || strings.Join(damaged, " ") != want {
				t.Errorf("%v are damaged, %v, want %s", damaged, err, want)
			}
			if slices.Sort(read); !slices.Equal(read, all) {
				t.Errorf("read %v, want %v", read, all)
			}
		})
	}
}

// A log that lacks a change is damaged, as when a file was replaced and its -wal was
// not.
func TestCheckFindsGap(t *testing.T) {
	for _, seq := range []int{7, 50} {
		path := filled(t)
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.ExecContext(t.Context(), "DELETE FROM change WHERE seq = $1", seq)
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, damaged, err := check(t.Context(), t, path); err != nil || strings.Join(damaged, " ") != "log" {
			t.Errorf("without change %d: %v are damaged, %v, want log", seq, damaged, err)
		}
	}
}

// A damaged file with a -wal may be one that was replaced.
func TestOpenDamaged(t *testing.T) {
	path := filled(t)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(strings.Repeat("broken! ", 10)), 100) // the tree of the schema
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, store.ErrDamaged) || strings.Contains(err.Error(), "was replaced") {
		t.Errorf("without a -wal: got %v, want that it is damaged", err)
	}
	if err := os.WriteFile(path+"-wal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "remove "+path+"-wal") {
		t.Errorf("with a -wal: got %v, want what to do", err)
	}
}

// Every table except the virtual one and SQLite's own belongs to a part.
func TestCheckReadsEveryTable(t *testing.T) {
	path := filled(t)
	first, size := pages(t, path)
	for name, page := range first {
		if strings.HasPrefix(name, "sqlite_") {
			continue // an index of a table that has its own case
		}
		t.Run(name, func(t *testing.T) {
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(t.TempDir(), "pregon.db")
			if err := os.WriteFile(other, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			overwrite(t, other, page, size)
			if _, damaged, err := check(t.Context(), t, other); err != nil || len(damaged) == 0 {
				t.Errorf("the damage was not found: %v", err)
			}
		})
	}
}

func TestCheckEnds(t *testing.T) {
	path := filled(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if read, _, err := check(ctx, t, path); len(read) != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read %v, %v", read, err)
	}
}
