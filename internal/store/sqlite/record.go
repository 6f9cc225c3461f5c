package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pregon/internal/store"
)

// PutRecord implements store.Records.
func (s *Store) PutRecord(ctx context.Context, r store.Record) (store.Record, error) {
	err := s.update(ctx, func(tx *sql.Tx) (err error) {
		r, err = putRecord(ctx, tx, r)
		return err
	})
	if err != nil && !errors.Is(err, errNothingNew) {
		return store.Record{}, fmt.Errorf("writing a record: %w", explained(err))
	}
	return r, nil
}

func putRecord(ctx context.Context, tx *sql.Tx, r store.Record) (store.Record, error) {
	var revision int64
	if err := tx.QueryRowContext(ctx, "SELECT revision FROM record_head").Scan(&revision); err != nil {
		return store.Record{}, err
	}
	var known store.Record
	err := tx.QueryRowContext(ctx, "SELECT body, revision FROM record WHERE kind = ? AND id = ?", r.Kind, r.ID).Scan(&known.Body, &known.Revision)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return store.Record{}, err
	}
	r, written, err := store.PlanRecord(r, known, revision)
	if err != nil {
		return store.Record{}, err
	}
	if !written {
		return r, errNothingNew
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO record (kind, id, body, revision) VALUES (?, ?, ?, ?)
		ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, revision = excluded.revision`,
		r.Kind, r.ID, r.Body, r.Revision)
	if err != nil {
		return store.Record{}, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE record_head SET revision = ?", r.Revision)
	return r, err
}

// RecordsSince implements store.Records.
func (s *Store) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	records, err := recordsSince(ctx, s.read, kind, revision)
	if err != nil {
		return nil, fmt.Errorf("reading records after %d: %w", revision, explained(err))
	}
	return records, nil
}

func recordsSince(ctx context.Context, q querier, kind string, revision int64) ([]store.Record, error) {
	rows, err := q.QueryContext(ctx, "SELECT id, body, revision FROM record WHERE kind = ? AND revision > ? ORDER BY revision", kind, revision)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var records []store.Record
	for rows.Next() {
		r := store.Record{Kind: kind}
		if err := rows.Scan(&r.ID, &r.Body, &r.Revision); err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, rows.Err()
}
