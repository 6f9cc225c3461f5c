package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// schemaOf returns the statements that make the schema of a file.
func schemaOf(t *testing.T, path string) (statements []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		statements = append(statements, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(statements)
	return statements
}

// TestMigrateBack: a store goes back to each version since the previous release, has
// exactly the schema of that version then, and can be migrated again.
func TestMigrateBack(t *testing.T) {
	latest := migrated(t, 1, "")
	now, err := latest.SchemaVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for to := store.PreviousSchema; to < now; to++ {
		path := filepath.Join(t.TempDir(), "pregon.db")
		writeVersion(t, path, to, "UPDATE log_head SET seq = 7")
		want := schemaOf(t, path)
		for range 2 {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.MigrateBack(t.Context(), store.PreviousSchema-1); fault.KindOf(err) != fault.Invalid {
				t.Errorf("a version before the previous release: got %v, want a refusal", err)
			}
			if err := s.MigrateBack(t.Context(), to); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, schemaOf(t, path)); diff != "" {
				t.Errorf("back at version %d: -want +got\n%s", to, diff)
			}
			if schema, err := sqlite.Schema(t.Context(), path); err != nil || schema.Version != to {
				t.Errorf("got %+v, %v, want version %d", schema, err, to)
			}
		}
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if head, err := s.Head(t.Context()); err != nil || head.Seq != 7 {
			t.Errorf("Head = %v, %v", head, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
