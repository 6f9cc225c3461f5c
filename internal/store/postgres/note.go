package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store"
)

// SetNotes is described by store.Notes.
func (s *Store) SetNotes(ctx context.Context, lease *store.Lease, notes ...store.Note) error {
	if err := s.setNotes(ctx, lease, notes); err != nil {
		return failed("writing notes", err)
	}
	return nil
}

// setNotes locks the counter of notes before it looks at anything, as append
// does the head of the log. The two do not wait for each other.
func (s *Store) setNotes(ctx context.Context, lease *store.Lease, notes []store.Note) error {
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	revision, err := lockHead(ctx, tx, `note_head`, `revision`)
	if err != nil {
		return err
	}
	if err := checkLease(ctx, tx, lease); err != nil {
		return err
	}
	known, err := knownNotes(ctx, tx, notes)
	if err != nil {
		return err
	}
	notes = store.PlanNotes(notes, known, revision)
	if len(notes) == 0 {
		return nil
	}
	if err := writeNotes(ctx, tx, notes); err != nil {
		return err
	}
	return s.commit(ctx, tx)
}

// knownNotes reads the present texts of the notes with these names.
func knownNotes(ctx context.Context, tx pgx.Tx, notes []store.Note) (map[string]string, error) {
	present, err := readNotes(ctx, tx, `name = ANY($1)`, store.NoteNames(notes))
	known := make(map[string]string, len(present))
	for _, n := range present {
		known[n.Name] = n.Text
	}
	return known, err
}

// writeNotes writes numbered notes and moves the counter to the last.
func writeNotes(ctx context.Context, tx pgx.Tx, notes []store.Note) error {
	texts, revisions := make([]string, len(notes)), make([]int64, len(notes))
	for i, n := range notes {
		texts[i], revisions[i] = n.Text, n.Revision
	}
	batch := new(pgx.Batch)
	batch.Queue(`INSERT INTO note (name, text, revision) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
		ON CONFLICT (name) DO UPDATE SET text = excluded.text, revision = excluded.revision`,
		store.NoteNames(notes), texts, revisions)
	batch.Queue(`UPDATE note_head SET revision = $1`, revisions[len(revisions)-1])
	return tx.SendBatch(ctx, batch).Close()
}

// NotesSince is described by store.Notes.
func (s *Store) NotesSince(ctx context.Context, revision int64) ([]store.Note, error) {
	notes, err := readNotes(ctx, s.pool, `revision > $1`, revision)
	if err != nil {
		return nil, failed("reading notes", err)
	}
	return notes, nil
}

// readNotes reads the notes that a condition lets through, in order of their
// revisions.
func readNotes(ctx context.Context, db rowsQuerier, where string, args ...any) ([]store.Note, error) {
	rows, err := db.Query(ctx, `SELECT name, text, revision FROM note WHERE `+where+` ORDER BY revision`, args...)
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]store.Note(nil), rows, pgx.RowToStructByPos[store.Note])
}
