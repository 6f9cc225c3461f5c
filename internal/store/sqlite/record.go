package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pregon/internal/store"
)

// recordTable is the SQL of a table of records.
type recordTable struct {
	newest, setNewest string
	rows              string // what to read from, with the columns kind, id, body and revision
	put               string // of kind, id, body and revision
}

var (
	records = recordTable{
		newest: "SELECT revision FROM record_head", setNewest: "UPDATE record_head SET revision = ?",
		rows: "record",
		put: `INSERT INTO record (kind, id, body, revision) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, revision = excluded.revision`,
	}
	notes = recordTable{
		newest: "SELECT revision FROM note_head", setNewest: "UPDATE note_head SET revision = ?",
		rows: "(SELECT '" + store.CoverageKind + "' AS kind, name AS id, text AS body, revision FROM note)",
		put: `INSERT INTO note (name, text, revision) VALUES (?2, ?3, ?4)
			ON CONFLICT (name) DO UPDATE SET text = excluded.text, revision = excluded.revision`,
	}
)

func tableOf(kind string) recordTable {
	if kind == store.CoverageKind {
		return notes
	}
	return records
}

// PutRecords implements store.Records.
func (s *Store) PutRecords(ctx context.Context, lease *store.Lease, given ...store.Record) (result []store.Record, err error) {
	err = s.update(ctx, func(tx *sql.Tx) (err error) {
		result, err = putRecords(ctx, tx, lease, given)
		return err
	})
	if err != nil && !errors.Is(err, errNothingNew) {
		return nil, fmt.Errorf("writing records: %w", explained(err))
	}
	return result, nil
}

func putRecords(ctx context.Context, tx *sql.Tx, lease *store.Lease, given []store.Record) ([]store.Record, error) {
	if err := checkLease(ctx, tx, lease); err != nil {
		return nil, err
	}
	if len(given) == 0 {
		return nil, errNothingNew
	}
	kind := given[0].Kind
	table := tableOf(kind)
	var newest int64
	if err := tx.QueryRowContext(ctx, table.newest).Scan(&newest); err != nil {
		return nil, err
	}
	ids, err := list(store.RecordIDs(given))
	if err != nil {
		return nil, err
	}
	known, err := readRecords(ctx, tx, table, "kind = ? AND id IN (SELECT value FROM json_each(?))", kind, ids)
	if err != nil {
		return nil, err
	}
	result, written, err := store.PlanRecords(given, store.RecordsByID(known), newest)
	if err != nil {
		return nil, err
	}
	if len(written) == 0 {
		return result, errNothingNew
	}
	return result, writeRecords(ctx, tx, table, written)
}

// writeRecords writes numbered records and sets the counter to the last.
func writeRecords(ctx context.Context, tx *sql.Tx, table recordTable, written []store.Record) error {
	put, err := tx.PrepareContext(ctx, table.put)
	if err != nil {
		return err
	}
	defer put.Close()
	for _, r := range written {
		if _, err := put.ExecContext(ctx, r.Kind, r.ID, r.Body, r.Revision); err != nil {
			return fmt.Errorf("writing %s: %w", r.ID, err)
		}
	}
	_, err = tx.ExecContext(ctx, table.setNewest, written[len(written)-1].Revision)
	return err
}

// RecordsSince implements store.Records.
func (s *Store) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	found, err := readRecords(ctx, s.read, tableOf(kind), "kind = ? AND revision > ?", kind, revision)
	if err != nil {
		return nil, fmt.Errorf("reading records after %d: %w", revision, explained(err))
	}
	return found, nil
}

// readRecords reads the records that meet a condition, in order of revision.
func readRecords(ctx context.Context, q querier, table recordTable, where string, args ...any) ([]store.Record, error) {
	rows, err := q.QueryContext(ctx, "SELECT kind, id, body, revision FROM "+table.rows+" WHERE "+where+" ORDER BY revision", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []store.Record
	for rows.Next() {
		var r store.Record
		if err := rows.Scan(&r.Kind, &r.ID, &r.Body, &r.Revision); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}
