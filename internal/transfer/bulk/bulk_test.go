package bulk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/bucket"
	"pregon/internal/document/bucket/buckettest"
	"pregon/internal/fault"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/transfer"
)

var published = time.Date(2026, 4, 22, 10, 0, 0, 0, time.UTC)

func newSQLite(t *testing.T) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "p.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func newStore(t *testing.T, reports int) *sqlite.Store {
	t.Helper()
	db := newSQLite(t)
	m := market.New(1)
	batch := store.Batch{
		Issuers: m.Issuers(),
		Reports: slices.Collect(m.Bulk(reports, published)),
	}
	for n := range positions {
		batch.Positions = append(batch.Positions, newPosition(n))
	}
	if _, err := db.Append(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	return db
}

const positions = 3

func newPosition(n int) disclosure.Position {
	number := strconv.Itoa(2026000001 + n)
	return disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, number, 1),
		Kind:         disclosure.Dealing,
		IssuerName:   "EJEMPLAR FICTICIA, S.A.",
		Name:         "Elena Ruiz Salvatierra",
		Natural:      true,
		State:        disclosure.StateCurrent,
		Number:       number,
		RegisteredOn: "2026-09-25",
	}
}

func newMaker(db Log, p Place) *Maker {
	return &Maker{
		Archive: New(p, slog.New(slog.DiscardHandler)), Log: db, Holder: "test", Leads: func() bool { return true }, Source: func() string { return "demo" },
		Logger: slog.New(slog.DiscardHandler),
	}
}

// places calls a test with each kind of place, and what lists all names in it.
func places(t *testing.T, test func(t *testing.T, p Place, names func() []string)) {
	t.Run("dir", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "new", "bulk")
		test(t, Dir(dir), func() (names []string) {
			_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					name, _ := filepath.Rel(dir, path)
					names = append(names, name)
				}
				return err
			})
			return names
		})
	})
	t.Run("bucket", func(t *testing.T) {
		s := buckettest.Start(t)
		b, err := bucket.New(bucket.Options{
			Address: buckettest.Address, Endpoint: s.URL(), Region: buckettest.Region, AccessKey: buckettest.AccessKey, SecretKey: buckettest.SecretKey, Timeout: 5 * time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		work := filepath.Join(t.TempDir(), "work")
		test(t, Bucket{b, work}, func() (names []string) {
			for _, key := range s.Keys() {
				names = append(names, strings.TrimPrefix(key, "cnmv/"))
			}
			left, _ := os.ReadDir(work)
			for _, e := range left {
				names = append(names, e.Name())
			}
			return names
		})
	})
}

// A snapshot has all records in all formats, as its manifest says.
func TestMake(t *testing.T) {
	places(t, func(t *testing.T, p Place, names func() []string) {
		db := newStore(t, 1500)
		m := newMaker(db, p)
		head, err := db.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if list, err := m.Archive.List(t.Context(), head); err != nil || len(list) != 0 {
			t.Errorf("before the first: got %v, %v; want none", list, err)
		}
		if made, err := m.makeDue(t.Context(), time.Now()); err != nil || !made {
			t.Fatalf("got %t, %v; want a snapshot", made, err)
		}
		list, err := New(p, m.Logger).List(t.Context(), head) // as another process does
		if err != nil || len(list) != 1 || list[0].Cursor() != head.Cursor || list[0].Source != "demo" || list[0].AsOf.IsZero() || list[0].CreatedAt.Before(list[0].AsOf) || len(list[0].Files) != 9 {
			t.Fatalf("got %+v, %v; want one of %v with nine files", list, err, head)
		}
		for _, f := range list[0].Files {
			_, content, err := m.Archive.Open(t.Context(), list[0].ID, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(content)
			sum := sha256.Sum256(body)
			if err != nil || int64(len(body)) != f.Bytes || hex.EncodeToString(sum[:]) != f.SHA256 {
				t.Errorf("%s: got %d bytes, %v; want %d", f.Name, len(body), err, f.Bytes)
			}
			if start := startOf(f.Format); !bytes.HasPrefix(body, start) {
				t.Errorf("%s: begins with %x, want %x", f.Name, body[:len(start)], start)
			}
			want := map[transfer.Kind]int{
				transfer.Reports:   1500,
				transfer.Issuers:   len(market.New(1).Issuers()),
				transfer.Positions: positions,
			}[f.Kind]
			if f.Rows != want {
				t.Errorf("%s: got %d rows, want %d", f.Name, f.Rows, want)
			}
			if _, err := content.Seek(-5, io.SeekEnd); err != nil {
				t.Fatal(err)
			}
			if end, err := io.ReadAll(content); err != nil || !bytes.Equal(end, body[len(body)-5:]) {
				t.Errorf("%s: got end %q, %v", f.Name, end, err)
			}
			_ = content.Close()
		}
		if made, err := m.makeDue(t.Context(), time.Now()); err != nil || made {
			t.Errorf("again: got %t, %v; want none on the same day", made, err)
		}
		if got := names(); len(got) != 10 {
			t.Errorf("got files %q, want nine and the manifest", got)
		}
	})
}

// A name is in the snapshots that are made while it is kept, and in none that is made after
// it was erased.
func TestErasedName(t *testing.T) {
	db := newStore(t, 5)
	m := newMaker(db, Dir(t.TempDir()))
	lines := func() string {
		t.Helper()
		s, err := m.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, content, err := m.Archive.Open(t.Context(), s.ID, "positions.jsonl.zst")
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		plain, err := transfer.NewDecompressor(content)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		body, err := io.ReadAll(plain)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	const name, mark = "Elena Ruiz Salvatierra", `"holder_erased":true`
	if got := lines(); strings.Count(got, name) != positions || strings.Contains(got, mark) {
		t.Errorf("before: %s", got)
	}
	if _, err := db.EraseNames(t.Context(), nil, newPosition(1).ID); err != nil {
		t.Fatal(err)
	}
	if got := lines(); strings.Count(got, name) != positions-1 || strings.Count(got, mark) != 1 {
		t.Errorf("after: %s", got)
	}
}

// A compressed file without a record is not an empty file, which other programs refuse.
func TestNoRecords(t *testing.T) {
	db := newSQLite(t)
	if _, err := db.Append(t.Context(), store.Batch{Issuers: market.New(1).Issuers()}); err != nil {
		t.Fatal(err)
	}
	m := newMaker(db, Dir(t.TempDir()))
	s, err := m.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Files {
		_, content, err := m.Archive.Open(t.Context(), s.ID, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(content)
		if start := startOf(f.Format); err != nil || !bytes.HasPrefix(body, start) {
			t.Errorf("%s: %d rows in %x, %v", f.Name, f.Rows, body, err)
		}
		_ = content.Close()
	}
}

// startOf returns the bytes with which a file of a format begins. Parquet compresses its
// pages itself; the other formats are compressed as a whole.
func startOf(f transfer.Format) []byte {
	if f == transfer.Parquet {
		return []byte("PAR1")
	}
	return []byte{0x28, 0xb5, 0x2f, 0xfd} // Zstandard
}

// Seven snapshots are kept, and what a killed process left is not listed and removed.
func TestKept(t *testing.T) {
	places(t, func(t *testing.T, p Place, names func() []string) {
		db := newStore(t, 20)
		m := newMaker(db, p)
		head, err := db.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first, err := m.Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for day := range kept + 2 { // older ones
			old := *first
			old.CreatedAt = published.AddDate(0, 0, day)
			old.ID = newID(old.CreatedAt, old.Seq)
			publish(t, p, &old)
		}
		if err := p.remove(t.Context(), first.ID); err != nil { // the next may be made in the same second
			t.Fatal(err)
		}
		leave(t, p)
		m.Archive.forget()
		if list, err := m.Archive.List(t.Context(), head); err != nil || len(list) != kept+2 || !list[0].CreatedAt.After(list[1].CreatedAt) {
			t.Errorf("got %d, %v; want %d, the newest first", len(list), err, kept+2)
		}
		if made, err := m.makeDue(t.Context(), time.Now()); err != nil || !made {
			t.Fatalf("got %t, %v; want a snapshot", made, err)
		}
		list, err := m.Archive.List(t.Context(), head)
		if err != nil || len(list) != kept {
			t.Errorf("got %d, %v; want %d", len(list), err, kept)
		}
		if got := names(); len(got) != kept*10 {
			t.Errorf("got files %q, want those of %d snapshots", got, kept)
		}
	})
}

// publish adds a snapshot with the files of another.
func publish(t *testing.T, p Place, s *Snapshot) {
	t.Helper()
	if err := os.MkdirAll(p.workspace(), 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(p.workspace(), makingPrefix)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Files {
		if err := os.WriteFile(filepath.Join(dir, s.Files[i].Name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeManifest(dir, s); err != nil {
		t.Fatal(err)
	}
	if err := p.publish(t.Context(), dir, s); err != nil {
		t.Fatal(err)
	}
}

// leave leaves what a process does that is killed while it makes a snapshot.
func leave(t *testing.T, p Place) {
	t.Helper()
	dir := filepath.Join(p.workspace(), makingPrefix+"killed")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "reports.parquet"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, ok := p.(Bucket); ok {
		if err := b.put(t.Context(), dir, newID(published.AddDate(1, 0, 0), 1), "reports.parquet"); err != nil {
			t.Fatal(err)
		}
	}
}

// Only the holder of the lease makes a snapshot, and a failure is returned and counted
// by the next attempt.
func TestLeaseAndFailure(t *testing.T) {
	db := newStore(t, 20)
	place := filepath.Join(t.TempDir(), "bulk")
	m := newMaker(db, Dir(place))
	lease, err := db.AcquireLease(t.Context(), leaseName, "other", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.makeDue(t.Context(), time.Now()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("while another makes one: got %v, want Conflict", err)
	}
	if err := db.ReleaseLease(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, nil, 0o600); err != nil { // no directory can be made here
		t.Fatal(err)
	}
	if _, err := m.makeDue(t.Context(), time.Now()); err == nil {
		t.Error("a file in place of the directory: got no error")
	}
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	if made, err := m.makeDue(t.Context(), time.Now()); err != nil || !made || m.Stats().Made != 1 || m.Stats().Newest == nil {
		t.Errorf("got %t, %v, %+v; want one", made, err, m.Stats())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Run(ctx); err == nil {
		t.Error("Run does not end with its context")
	}
}

// A snapshot with changes that a restored log does not have is not listed, and
// another is due.
func TestRestored(t *testing.T) {
	db := newStore(t, 20)
	m := newMaker(db, Dir(t.TempDir()))
	s, err := m.Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		head disclosure.Head
		want bool
	}{
		"the same epoch":      {disclosure.Head{Cursor: disclosure.Cursor{Epoch: s.Epoch, Seq: s.Seq + 5}}, true},
		"all changes are in":  {disclosure.Head{Cursor: disclosure.Cursor{Epoch: "new", Seq: s.Seq}, Past: []disclosure.Cursor{{Epoch: s.Epoch, Seq: s.Seq}}}, true},
		"some are not":        {disclosure.Head{Cursor: disclosure.Cursor{Epoch: "new", Seq: s.Seq + 9}, Past: []disclosure.Cursor{{Epoch: s.Epoch, Seq: s.Seq - 1}}}, false},
		"of another store":    {disclosure.Head{Cursor: disclosure.Cursor{Epoch: "other", Seq: s.Seq + 9}}, false},
		"of a forgotten past": {disclosure.Head{Cursor: disclosure.Cursor{Epoch: "new", Seq: s.Seq + 9}, Past: []disclosure.Cursor{{Epoch: "x", Seq: s.Seq}}}, false},
	} {
		list, err := m.Archive.List(t.Context(), test.head)
		if err != nil || (len(list) == 1) != test.want {
			t.Errorf("%s: got %d snapshots, %v; want %t", name, len(list), err, test.want)
		}
		if due, err := m.due(t.Context(), test.head, time.Now(), Load{}); err != nil || due == test.want {
			t.Errorf("%s: due: got %t, %v; want %t", name, due, err, !test.want)
		}
	}
}

func TestLastNight(t *testing.T) {
	for now, want := range map[string]string{
		"2026-11-17T02:59:59+01:00": "2026-11-16T03:00:00+01:00",
		"2026-11-17T03:00:00+01:00": "2026-11-17T03:00:00+01:00",
		"2026-11-17T23:00:00Z":      "2026-11-17T03:00:00+01:00",
		"2026-03-29T01:30:00Z":      "2026-03-29T03:00:00+02:00", // the clocks change at two
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := lastNight(at).Format(time.RFC3339); got != want {
			t.Errorf("lastNight(%s) = %s, want %s", now, got, want)
		}
	}
}

// A manifest that anyone may have written does not lead out of its snapshot.
func FuzzManifest(f *testing.F) {
	const id = "20260422T100000Z-7"
	f.Add(`{"id":"` + id + `","seq":7,"epoch":"k3v9","files":[{"name":"reports.parquet","bytes":5}]}`)
	f.Add(`{"id":"` + id + `","seq":7,"files":[{"name":"../../secret"}]}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := readManifest(strings.NewReader(text), id)
		if err != nil {
			return
		}
		for _, file := range s.Files {
			if s.ID != id || strings.Contains(file.Name, "/") || file.Bytes < 0 {
				t.Errorf("accepts %+v", s)
			}
		}
	})
}
