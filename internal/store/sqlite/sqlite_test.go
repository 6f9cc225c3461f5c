package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// faulty is a store whose next commit can be made to fail.
type faulty struct {
	*sqlite.Store
	storetest.Commits
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Engine{
		Fresh: func(t *testing.T) func() (store.Store, error) {
			path := filepath.Join(t.TempDir(), "pregon.db")
			return func() (store.Store, error) {
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
				if err != nil {
					return nil, err
				}
				f := &faulty{Store: s}
				s.WrapCommit(f.Commit)
				return f, nil
			}
		},
		FailCommit: func(s store.Store, after bool, err error) { s.(*faulty).Fail(after, err) },
		Newer: func(t *testing.T, s store.Store) {
			if err := s.(*faulty).SetSchemaVersion(t.Context(), 9999); err != nil {
				t.Fatal(err)
			}
		},
	})
}

func BenchmarkStore(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	storetest.Bench(b, s)
}

func TestFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "pregon.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.ClaimSource(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v (%v)", filepath.Base(f), info.Mode().Perm(), err)
		}
	}
}

func TestOpenDoesNotCreateUnasked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "typo.db")
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("opening a missing file: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("the file was created")
	}
}

// migrated opens a file that an older program has left: its schema has the first
// migrations only, and data is SQL that the program ran.
func migrated(t *testing.T, migrations int, data string) *sqlite.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	writeVersion(t, path, migrations, data)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// writeVersion writes the file that migrated opens.
func writeVersion(t *testing.T, path string, migrations int, data string) {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, file := range files[:migrations] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script.Write(text)
	}
	fmt.Fprintf(&script, "%s; PRAGMA user_version = %d", data, migrations)
	old, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = old.ExecContext(t.Context(), script.String())
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFirstSchema: a file of an older program is migrated and keeps its data.
func TestFirstSchema(t *testing.T) {
	s := migrated(t, 1, "INSERT INTO setting VALUES ('source', 'demo'); UPDATE log_head SET seq = 7")
	if _, err := store.PutRecord(t.Context(), s, store.Record{Kind: store.CoverageKind, ID: "a", Body: "1"}); err != nil {
		t.Error(err)
	}
	if _, err := store.PutRecord(t.Context(), s, store.Record{Kind: "key", ID: "a", Body: "1"}); err != nil {
		t.Error(err)
	}
	if fanned, err := s.Fanned(t.Context(), store.ForWebhooks); err != nil || fanned != 7 { // existing changes are not sent to webhooks
		t.Errorf("Fanned = %d, %v", fanned, err)
	}
	if source, err := s.Source(t.Context()); err != nil || source != "demo" {
		t.Errorf("the source is %q, %v", source, err)
	}
	if head, err := s.Head(t.Context()); err != nil || head.Epoch == "" || head.Seq != 7 {
		t.Errorf("Head = %v, %v", head, err)
	}
	if version, err := s.SchemaVersion(t.Context()); err != nil || version != 12 {
		t.Errorf("SchemaVersion = %d, %v", version, err)
	}
}

// TestOnceForgets: each claim of a name deletes up to a hundred expired names, and
// no others.
func TestOnceForgets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := s.ClaimNonce(t.Context(), "kept", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
		INSERT INTO once (name, until) SELECT 'old ' || i, i FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name string
		left int
	}{{"kept", 251}, {"a", 152}, {"a", 152}, {"old 250", 52}, {"b", 4}, {"c", 5}} {
		if _, err := s.ClaimNonce(t.Context(), step.name, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM once").Scan(&left); err != nil || left != step.left {
			t.Errorf("after %s there are %d names, %v; want %d", step.name, left, err, step.left)
		}
	}
	if first, err := s.ClaimNonce(t.Context(), "kept", time.Now().Add(time.Hour)); err != nil || first {
		t.Errorf("ClaimNonce = %t, %v", first, err)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"with space.db", "a%41?mode=ro#x.db", "ñandú.db"} {
		path := filepath.Join(t.TempDir(), name)
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := s.Append(t.Context(), store.Batch{Issuers: []disclosure.Issuer{{ID: "fi-1", Name: "X"}}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: the data went elsewhere (%v)", name, err)
		}
	}
}

func TestNotADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "letter.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("Dear sirs, ", 500)), fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
	if s, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true}); err == nil {
		s.Close()
		t.Error("a text file was opened as a store")
	}
	if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), "Dear sirs") {
		t.Error("the text file was modified")
	}
}

// TestIndexIsReplaced: documents that an older program indexed are indexed anew.
func TestIndexIsReplaced(t *testing.T) {
	hash := strings.Repeat("a", 64)
	s := migrated(t, 6, `INSERT INTO document VALUES (1, '`+hash+`', 1); INSERT INTO document_text VALUES (1, 2, '{}', '["uno dos"]');
		INSERT INTO word (rowid, words) VALUES (1 << 20, 'uno dos'); INSERT INTO filed_document VALUES ('oir-1', 1)`)
	if list, err := s.Unindexed(t.Context(), 10); err != nil || !slices.Equal(list, []string{hash}) {
		t.Errorf("Unindexed = %v, %v, want the document", list, err)
	}
	id, err := s.NewSegment(t.Context())
	if err == nil {
		err = s.UseSegment(t.Context(), store.Segment{ID: id, Documents: 1}, store.Replaced{Unindexed: []string{hash}})
	}
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.Unindexed(t.Context(), 10); err != nil || len(list) != 0 {
		t.Errorf("Unindexed = %v, %v, want none", list, err)
	}
	if d, err := s.Document(t.Context(), hash); err != nil || len(d.Pages) != 1 || d.Pages[0] != "uno dos" {
		t.Errorf("Document = %+v, %v, want its text", d, err)
	}
}
