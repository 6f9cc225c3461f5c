package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store"
)

// PutRecord is described by store.Records.
func (s *Store) PutRecord(ctx context.Context, r store.Record) (store.Record, error) {
	r, err := s.putRecord(ctx, r)
	if err != nil {
		return store.Record{}, failed("writing a record", err)
	}
	return r, nil
}

// putRecord locks the counter of records before it looks at anything, as append
// does the head of the log. It does not wait for those who append or write
// notes.
func (s *Store) putRecord(ctx context.Context, r store.Record) (store.Record, error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return store.Record{}, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	revision, err := lockHead(ctx, tx, `record_head`, `revision`)
	if err != nil {
		return store.Record{}, err
	}
	var known store.Record
	err = tx.QueryRow(ctx, `SELECT body, revision FROM record WHERE kind = $1 AND id = $2`, r.Kind, r.ID).Scan(&known.Body, &known.Revision)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return store.Record{}, err
	}
	r, written, err := store.PlanRecord(r, known, revision)
	if err != nil || !written {
		return r, err
	}
	if err := writeRecord(ctx, tx, r); err != nil {
		return store.Record{}, err
	}
	return r, s.commit(ctx, tx)
}

// writeRecord writes a numbered record and moves the counter to it.
func writeRecord(ctx context.Context, tx pgx.Tx, r store.Record) error {
	batch := new(pgx.Batch)
	batch.Queue(`INSERT INTO record (kind, id, body, revision) VALUES ($1, $2, $3, $4)
		ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, revision = excluded.revision`,
		r.Kind, r.ID, r.Body, r.Revision)
	batch.Queue(`UPDATE record_head SET revision = $1`, r.Revision)
	return tx.SendBatch(ctx, batch).Close()
}

// RecordsSince is described by store.Records.
func (s *Store) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	records, err := recordsSince(ctx, s.pool, kind, revision)
	if err != nil {
		return nil, failed("reading records", err)
	}
	return records, nil
}

func recordsSince(ctx context.Context, db rowsQuerier, kind string, revision int64) ([]store.Record, error) {
	rows, err := db.Query(ctx, `SELECT kind, id, body, revision FROM record WHERE kind = $1 AND revision > $2 ORDER BY revision`, kind, revision)
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]store.Record(nil), rows, pgx.RowToStructByPos[store.Record])
}
