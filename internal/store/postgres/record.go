package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store"
)

// recordTable is the SQL of a table of records.
type recordTable struct {
	head string // the table of the counter
	rows string // what to read from, with the columns kind, id, body and revision
	put  string // of arrays of kinds, ids, bodies and revisions
}

var (
	records = recordTable{
		head: `record_head`, rows: `record`,
		put: `INSERT INTO record (kind, id, body, revision) SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
			ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, revision = excluded.revision`,
	}
	notes = recordTable{
		head: `note_head`,
		rows: `(SELECT '` + store.CoverageKind + `'::text AS kind, name AS id, text AS body, revision FROM note) AS note`,
		put: `INSERT INTO note (name, text, revision)
			SELECT id, body, revision FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS given (kind, id, body, revision)
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
func (s *Store) PutRecords(ctx context.Context, lease *store.Lease, given ...store.Record) ([]store.Record, error) {
	result, err := s.putRecords(ctx, lease, given)
	if err != nil {
		return nil, failed("writing records", err)
	}
	return result, nil
}

// putRecords locks the counter of the table before it reads anything, as append
// does the head of the log. The log and the two tables do not wait for each
// other.
func (s *Store) putRecords(ctx context.Context, lease *store.Lease, given []store.Record) ([]store.Record, error) {
	kind := store.CoverageKind
	if len(given) > 0 {
		kind = given[0].Kind
	}
	table := tableOf(kind)
	tx, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	newest, err := lockHead(ctx, tx, table.head, `revision`)
	if err != nil {
		return nil, err
	}
	if err := checkLease(ctx, tx, lease); err != nil {
		return nil, err
	}
	known, err := readRecords(ctx, tx, table, `kind = $1 AND id = ANY($2)`, kind, store.RecordIDs(given))
	if err != nil {
		return nil, err
	}
	result, written, err := store.PlanRecords(given, store.RecordsByID(known), newest)
	if err != nil || len(written) == 0 {
		return result, err
	}
	if err := writeRecords(ctx, tx, table, written); err != nil {
		return nil, err
	}
	return result, s.commit(ctx, tx)
}

// writeRecords writes numbered records and sets the counter to the last.
func writeRecords(ctx context.Context, tx pgx.Tx, table recordTable, written []store.Record) error {
	kinds, bodies, revisions := make([]string, len(written)), make([]string, len(written)), make([]int64, len(written))
	for i, r := range written {
		kinds[i], bodies[i], revisions[i] = r.Kind, r.Body, r.Revision
	}
	batch := new(pgx.Batch)
	batch.Queue(table.put, kinds, store.RecordIDs(written), bodies, revisions)
	batch.Queue(`UPDATE `+table.head+` SET revision = $1`, revisions[len(revisions)-1])
	return tx.SendBatch(ctx, batch).Close()
}

// RecordsSince implements store.Records.
func (s *Store) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	found, err := readRecords(ctx, s.pool, tableOf(kind), `kind = $1 AND revision > $2`, kind, revision)
	if err != nil {
		return nil, failed("reading records", err)
	}
	return found, nil
}

// readRecords reads the records that meet a condition, in order of revision.
func readRecords(ctx context.Context, db rowsQuerier, table recordTable, where string, args ...any) ([]store.Record, error) {
	rows, err := db.Query(ctx, `SELECT kind, id, body, revision FROM `+table.rows+` WHERE `+where+` ORDER BY revision`, args...)
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]store.Record(nil), rows, pgx.RowToStructByPos[store.Record])
}
