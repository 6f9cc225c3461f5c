package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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
	{"deliveries", []string{"fanned", "fanned_alerts", "endpoint", "delivery", "attempt"}},
	{"log", []string{"log_head", "report", "issuer", "position", "sealed_name", "leaf", "change"}},
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
			err := checkTable(ctx, db, "quick_check", table)
			if ctx.Err() != nil {
				return fmt.Errorf("checking %s: %w", table, ctx.Err())
			}
			damaged = damaged || errors.Is(err, store.ErrDamaged)
			if err != nil && !damaged {
				return fmt.Errorf("checking %s: %w", table, err)
			}
		}
		if c.part == "log" && !damaged {
			whole, err := relational.Column[bool](ctx, &prepared{preparer: db},
				`SELECT seq = (SELECT count(*) FROM change) AND seq = (SELECT coalesce(max(seq), 0) FROM change) FROM log_head`)
			if err != nil {
				return failed("counting the changes", err)
			}
			damaged = slices.Contains(whole, false)
		}
		found(c.part, damaged)
	}
	return nil
}

// CheckFile is like Check, but also compares each index with its table, and
// checks all references between tables. It calls found for each problem.
func (s *Store) CheckFile(ctx context.Context, found func(table, problem string)) error {
	if err := s.intact(); err != nil {
		return err
	}
	db, err := open(s.path, 1, "_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, c := range checked {
		for _, table := range c.tables {
			err := checkTable(ctx, db, "integrity_check", table)
			if errors.Is(err, store.ErrDamaged) {
				found(table, err.Error())
			} else if err != nil {
				return fmt.Errorf("checking %s: %w", table, err)
			}
		}
	}
	var child, parent string
	var rows int
	err = relational.Each(ctx, &prepared{preparer: db}, []any{&child, &parent, &rows}, func() error {
		found(child, fmt.Sprintf("%d rows refer to rows of %s that do not exist", rows, parent))
		return nil
	}, `SELECT "table", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2`)
	if err != nil {
		return failed("checking references", err)
	}
	return nil
}

// checkTable fails with store.ErrDamaged when a page of a table, or of one of its
// indexes, is broken. The pragma is quick_check or integrity_check.
func checkTable(ctx context.Context, db *sql.DB, pragma, table string) error {
	// A pragma takes no parameter; the names are ours.
	lines, err := relational.Column[string](ctx, &prepared{preparer: db}, "PRAGMA "+pragma+"("+table+")")
	if err != nil {
		return explained(err)
	}
	if len(lines) != 1 || lines[0] != "ok" {
		return fmt.Errorf("%w: %s", store.ErrDamaged, strings.Join(lines, "; "))
	}
	return nil
}
