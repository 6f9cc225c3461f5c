package postgres_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/waittest"
)

func checkVersion(t *testing.T, s *postgres.Store) {
	t.Helper()
	if version, err := s.SchemaVersion(t.Context()); err != nil || version != 12 {
		t.Errorf("SchemaVersion = %d, %v", version, err)
	}
}

func TestSchemaVersion(t *testing.T) {
	t.Parallel()
	checkVersion(t, open(t, pgtest.Database(t)))
}

// TestFirstSchema: a database of an older program is migrated and keeps its data.
func TestFirstSchema(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, err := os.ReadFile("migrations/0001_log.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, err = connect(t, url).Exec(t.Context(), string(first)+`UPDATE schema_version SET version = 1; INSERT INTO setting VALUES ('source', 'demo'); UPDATE log_head SET seq = 7`,
		pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, url)
	if _, err := store.PutRecord(t.Context(), s, store.Record{Kind: store.CoverageKind, ID: "a", Body: "1"}); err != nil {
		t.Error(err)
	}
	if _, err := store.PutRecord(t.Context(), s, key); err != nil {
		t.Error(err)
	}
	if fanned, err := s.Fanned(t.Context(), store.ForWebhooks); err != nil || fanned != 7 { // existing changes are not sent to webhooks
		t.Errorf("Fanned = %d, %v", fanned, err)
	}
	if source, err := s.Source(t.Context()); err != nil || source != "demo" {
		t.Errorf("the source is %q, %v", source, err)
	}
	checkVersion(t, s)
}

// TestMigrationLetsOthersPass: while a reader such as pg_dump blocks a migration of
// a table, other processes can write to it.
func TestMigrationLetsOthersPass(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	if err := open(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dump, writer := connect(t, url), connect(t, url)
	_, err := writer.Exec(ctx, `ALTER TABLE log_head DROP COLUMN epoch, DROP COLUMN past; ALTER TABLE delivery DROP COLUMN epoch, DROP COLUMN story, DROP COLUMN lane, DROP COLUMN cause;
		DROP TABLE word_segment, word_block, use_count, leaf, position, sealed_name, fanned_alerts; ALTER TABLE log_head DROP COLUMN leaves; ALTER TABLE document DROP COLUMN indexed, DROP COLUMN unused_since; CREATE TABLE document_part (); DROP INDEX change_subject;
		UPDATE schema_version SET version = 5`, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dump.Exec(ctx, `BEGIN; SELECT seq FROM log_head`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		s, err := postgres.Open(ctx, url)
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	waittest.For(t, "the migration waits", func() (waits bool) {
		err := writer.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'log_head'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted)`).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		return waits
	})
	if _, err := writer.Exec(ctx, `UPDATE log_head SET seq = seq + 1`); err != nil {
		t.Errorf("writing while the migration waits: %v", err)
	}
	if _, err := dump.Exec(context.WithoutCancel(ctx), `COMMIT`); err != nil {
		t.Error(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
	checkVersion(t, open(t, url))
}

// schemaOf returns the columns and indexes of a database.
func schemaOf(t *testing.T, url string) (lines []string) {
	t.Helper()
	rows, err := connect(t, url).Query(t.Context(), `
		SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default) AS line FROM information_schema.columns
		WHERE table_schema = 'public'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
		ORDER BY line`)
	if err != nil {
		t.Fatal(err)
	}
	if lines, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestMigrateBack: a store goes back to each version since the previous release, has
// exactly the schema of that version then, and can be migrated again.
func TestMigrateBack(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for to := store.PreviousSchema; to < len(names); to++ {
		url := pgtest.Database(t)
		conn := connect(t, url)
		for _, name := range names[:to] {
			script, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Exec(t.Context(), string(script), pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := conn.Exec(t.Context(), `UPDATE schema_version SET version = $1`, to); err != nil {
			t.Fatal(err)
		}
		want := schemaOf(t, url)
		for range 2 {
			s := open(t, url)
			if err := s.MigrateBack(t.Context(), store.PreviousSchema-1); fault.KindOf(err) != fault.Invalid {
				t.Errorf("a version before the previous release: got %v, want a refusal", err)
			}
			if err := s.MigrateBack(t.Context(), to); err != nil {
				t.Fatal(err)
			}
			if version, err := s.SchemaVersion(t.Context()); err != nil || version != to {
				t.Errorf("got version %d, %v, want %d", version, err, to)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, schemaOf(t, url)); diff != "" {
				t.Errorf("back at version %d: -want +got\n%s", to, diff)
			}
		}
		checkVersion(t, open(t, url))
	}
}
