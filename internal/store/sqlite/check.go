package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// checked are the tables of each part of the store, the small parts first, so that
// a check that is canceled has read most parts.
var checked = []struct {
	part   string
	tables []string
}{
	{"leases", []string{"lease", "setting"}},
	{"notes", []string{"note_head", "note"}},
	{"records", []string{"record_head", "record"}},
	{"marks", []string{"once", "use_mark", "use_count"}},
	{"deliveries", []string{"fanned", "endpoint", "delivery", "attempt"}},
	{"log", []string{"log_head", "report", "issuer", "change"}},
	{"documents", []string{"document", "filed_document", "document_text", "word_segment", "word_block", "original"}},
}

// Check reads every page of the file, part by part, and calls found for each part
// when it was read. It ends early with the context. Writers are not blocked.
func (s *Store) Check(ctx context.Context, found func(part string, damaged bool)) error {
	if err := s.intact(); err != nil {
		return err
	}
	// A new connection has no page of the file in its cache.
	db, err := open(s.path, 1, "_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, c := range checked {
		damaged := false
		for _, table := range c.tables {
			err := checkTable(ctx, db, table)
			if ctx.Err() != nil {
				return fmt.Errorf("checking %s: %w", table, ctx.Err())
			}
			damaged = damaged || errors.Is(err, store.ErrDamaged)
			if err != nil && !damaged {
				return fmt.Errorf("checking %s: %w", table, err)
			}
		}
		found(c.part, damaged)
	}
	return nil
}

// checkTable fails with store.ErrDamaged when a page of a table, or of one of its
// indexes, is broken.
func checkTable(ctx context.Context, db *sql.DB, table string) error {
	// A pragma takes no parameter; the name is ours.
	lines, err := relational.Column[string](ctx, &prepared{preparer: db}, "PRAGMA quick_check("+table+")")
	if err != nil {
		return explained(err)
	}
	if len(lines) != 1 || lines[0] != "ok" {
		return fmt.Errorf("%w: %s", store.ErrDamaged, strings.Join(lines, "; "))
	}
	return nil
}
