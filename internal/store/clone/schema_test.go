package clone

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/relational"
	"pregon/internal/store/sqlite"
)

// notCopied are the columns of both engines that the tables of this package leave
// out, and why.
var notCopied = map[string]string{
	"lease.name": "leases are not copied", "lease.holder": "", "lease.term": "", "lease.expires_at": "",
	"endpoint.holder": "a lease", "endpoint.held_until": "",
	"log_head.one": "the key of the only row", "note_head.one": "", "record_head.one": "", "fanned.one": "", "fanned_alerts.one": "",
	"word_segment.changed_at": "only of segments that are not in use",
	"schema_version.one":      "set by the migrations", "schema_version.version": "",
	"document.number": "SQLite's own key", "document_text.document": "", "filed_document.document": "", "original.number": "",
	"document_text.bytes": "a part of document", "document_text.head": "", "document_text.pages": "",
	"sqlite_sequence.name": "SQLite's own table", "sqlite_sequence.seq": "",
}

// TestEveryColumn fails when a migration adds a table or a column that is not
// copied.
func TestEveryColumn(t *testing.T) {
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	server, err := postgres.Open(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var copied []string
	for _, table := range tables {
		for _, c := range table.columns() {
			copied = append(copied, table.name+"."+c.name)
		}
	}
	for _, engine := range []struct {
		name      string
		db        relational.DB
		statement string
		elsewhere []string // columns that are in another table there
	}{
		{
			"SQLite", file, `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`,
			[]string{"document.bytes", "document.head", "document.pages", "filed_document.sha256"},
		},
		{
			"PostgreSQL", server, `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public'`, nil,
		},
	} {
		has, err := relational.Column[string](t.Context(), engine.db, engine.statement)
		if err != nil {
			t.Fatal(err)
		}
		has = slices.DeleteFunc(has, func(name string) bool { _, ok := notCopied[name]; return ok })
		want := slices.DeleteFunc(slices.Clone(copied), func(name string) bool { return slices.Contains(engine.elsewhere, name) })
		slices.Sort(has)
		slices.Sort(want)
		if diff := cmp.Diff(want, has); diff != "" {
			t.Errorf("%s has other columns than package clone copies: add them to its tables, or to notCopied with the reason (-copied +schema):\n%s", engine.name, diff)
		}
	}
}

// TestCollated: the order of every text key that PostgreSQL does not keep in the
// order of bytes is given in the statement.
func TestCollated(t *testing.T) {
	server, err := postgres.Open(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, table := range tables {
		for _, key := range table.key {
			byBytes, err := relational.Column[bool](t.Context(), server, `SELECT c.collname = 'C' FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
				WHERE a.attrelid = $1::regclass AND a.attname = $2`, table.name, key.name)
			if err != nil {
				t.Fatal(err)
			}
			if key.kind == text && slices.Contains(byBytes, false) != table.collated {
				t.Errorf("the key of %s is collated: %v, want %v", table.name, !table.collated, table.collated)
			}
		}
		if table.collated != strings.Contains(table.selection(false, true), "COLLATE") {
			t.Errorf("%s is read in the wrong order", table.name)
		}
	}
}
