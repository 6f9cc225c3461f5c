package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pregon/internal/store"
)

// SetNotes implements store.Notes.
func (s *Store) SetNotes(ctx context.Context, lease *store.Lease, notes ...store.Note) error {
	err := s.update(ctx, func(tx *sql.Tx) error { return setNotes(ctx, tx, lease, notes) })
	if err != nil && !errors.Is(err, errNothingNew) {
		return fmt.Errorf("writing notes: %w", explained(err))
	}
	return nil
}

func setNotes(ctx context.Context, tx *sql.Tx, lease *store.Lease, notes []store.Note) error {
	if err := checkLease(ctx, tx, lease); err != nil {
		return err
	}
	var revision int64
	if err := tx.QueryRowContext(ctx, "SELECT revision FROM note_head").Scan(&revision); err != nil {
		return err
	}
	known, err := knownNotes(ctx, tx, notes)
	if err != nil {
		return err
	}
	notes = store.PlanNotes(notes, known, revision)
	if len(notes) == 0 {
		return errNothingNew
	}
	put, err := tx.PrepareContext(ctx, `INSERT INTO note (name, text, revision) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET text = excluded.text, revision = excluded.revision`)
	if err != nil {
		return err
	}
	defer put.Close()
	for _, n := range notes {
		if _, err := put.ExecContext(ctx, n.Name, n.Text, n.Revision); err != nil {
			return fmt.Errorf("writing %s: %w", n.Name, err)
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE note_head SET revision = ?", notes[len(notes)-1].Revision)
	return err
}

// knownNotes reads the present texts of the notes with these names.
func knownNotes(ctx context.Context, tx *sql.Tx, notes []store.Note) (map[string]string, error) {
	names, err := list(store.NoteNames(notes))
	if err != nil {
		return nil, err
	}
	present, err := readNotes(ctx, tx, "name IN (SELECT value FROM json_each(?))", names)
	known := make(map[string]string, len(present))
	for _, n := range present {
		known[n.Name] = n.Text
	}
	return known, err
}

// NotesSince implements store.Notes.
func (s *Store) NotesSince(ctx context.Context, revision int64) ([]store.Note, error) {
	notes, err := readNotes(ctx, s.read, "revision > ?", revision)
	if err != nil {
		return nil, fmt.Errorf("reading notes after %d: %w", revision, explained(err))
	}
	return notes, nil
}

// readNotes reads the notes that a condition lets through, in order of their
// revisions.
func readNotes(ctx context.Context, q querier, where string, args ...any) ([]store.Note, error) {
	rows, err := q.QueryContext(ctx, "SELECT name, text, revision FROM note WHERE "+where+" ORDER BY revision", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var notes []store.Note
	for rows.Next() {
		var n store.Note
		if err := rows.Scan(&n.Name, &n.Text, &n.Revision); err != nil {
			return nil, err
		}
		notes = append(notes, n)
	}
	return notes, rows.Err()
}
