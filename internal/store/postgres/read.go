package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Changes is described by store.Log.
func (s *Store) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	return s.changes(ctx, `seq > $1 ORDER BY seq LIMIT $2`, after, limit)
}

// ChangesAt is described by store.Log.
func (s *Store) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	return s.changes(ctx, `seq = ANY($1) ORDER BY seq`, seqs)
}

// changes reads the changes that meet a condition.
func (s *Store) changes(ctx context.Context, where string, args ...any) ([]disclosure.Change, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+columns+` FROM change c WHERE `+where, args...)
	if err != nil {
		return nil, failed("reading the log", err)
	}
	var changes []disclosure.Change
	err = each(rows, func(c disclosure.Change) error {
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		return nil, failed("reading the log", err)
	}
	return changes, nil
}

// Current is described by store.Log. Rows come from the server as fn takes
// them, so that memory does not grow with the store.
func (s *Store) Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	// When fn stops early, canceling the context avoids reading the remaining
	// rows, at the cost of the connection.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var head disclosure.Head
	var stopped error // the error of fn, which is not a failure of the database
	err := pgx.BeginTxFunc(ctx, s.pool, oneMoment, func(tx pgx.Tx) (err error) {
		if head, err = readHead(ctx, tx, ""); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+columns+` FROM change c
			JOIN (SELECT seq FROM issuer UNION ALL SELECT seq FROM report) h USING (seq) ORDER BY seq`)
		if err != nil {
			return err
		}
		return each(rows, func(c disclosure.Change) error {
			if stopped = fn(c); stopped != nil {
				cancel()
			}
			return stopped
		})
	})
	if stopped != nil {
		return disclosure.Head{}, stopped
	}
	if err != nil {
		return disclosure.Head{}, failed("reading the store", err)
	}
	return head, nil
}

// Reports is described by store.Log.
func (s *Store) Reports(ctx context.Context, ids ...string) ([]disclosure.Report, error) {
	var reports []disclosure.Report
	err := newest(ctx, s.pool, `report`, ids, func(c disclosure.Change) error {
		reports = append(reports, *c.Report)
		return nil
	})
	if err != nil {
		return nil, failed("reading reports", err)
	}
	return reports, nil
}

// Newest is described by store.Log.
func (s *Store) Newest(ctx context.Context) (seq int64, err error) {
	if err := s.pool.QueryRow(ctx, `SELECT seq FROM log_head`).Scan(&seq); err != nil {
		return 0, failed("reading the newest seq", err)
	}
	return seq, nil
}

// Head is described by store.Log.
func (s *Store) Head(ctx context.Context) (disclosure.Head, error) {
	head, err := readHead(ctx, s.pool, "")
	if err != nil {
		return disclosure.Head{}, failed("reading the head of the log", err)
	}
	return head, nil
}

func readHead(ctx context.Context, db querier, lock string) (head disclosure.Head, err error) {
	var past string
	if err := db.QueryRow(ctx, `SELECT seq, epoch, past FROM log_head `+lock).Scan(&head.Seq, &head.Epoch, &past); err != nil {
		return head, err
	}
	head.Past, err = disclosure.ParsePast(past)
	return head, err
}

// RenewEpoch is described by store.Log.
func (s *Store) RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor) (disclosure.Head, error) {
	head, err := s.renewEpoch(ctx, replaced, lost, shared)
	if err != nil {
		return disclosure.Head{}, failed("renewing the epoch of the log", err)
	}
	return head, nil
}

func (s *Store) renewEpoch(ctx context.Context, replaced string, lost disclosure.Mark, shared []disclosure.Cursor) (disclosure.Head, error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return disclosure.Head{}, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	head, err := readHead(ctx, tx, `FOR UPDATE`)
	if err != nil || head.Epoch != replaced {
		return head, err
	}
	var there bool // no change has the zero mark
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM change WHERE seq = $1 AND occurred_at = $2 AND event = $3 AND subject = $4)`,
		lost.Seq, time.UnixMicro(lost.At), string(lost.Event), lost.Subject).Scan(&there)
	if err != nil || there {
		return head, err
	}
	head = head.Renew(shared...)
	if _, err := tx.Exec(ctx, `UPDATE log_head SET epoch = $1, past = $2`, head.Epoch, disclosure.FormatPast(head.Past)); err != nil {
		return head, err
	}
	return head, s.commit(ctx, tx)
}

// Wait is described by store.Log.
func (s *Store) Wait(ctx context.Context, after int64) error {
	err := s.wake.Wait(ctx, after, s.poll, s.Newest)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

type rowsQuerier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// each decodes rows of columns and passes them to fn, until either fails.
func each(rows pgx.Rows, fn func(disclosure.Change) error) error {
	defer rows.Close()
	for rows.Next() {
		var r store.Row
		if err := rows.Scan(&r.Seq, &r.Event, &r.Subject, &r.OccurredAt, &r.Changed, &r.Body); err != nil {
			return err
		}
		c, err := r.Decode()
		if err != nil {
			return err
		}
		if err := fn(c); err != nil {
			return err
		}
	}
	return rows.Err()
}
