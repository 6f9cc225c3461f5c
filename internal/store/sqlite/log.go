package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

var errNothingNew = errors.New("nothing new") // rolls an empty transaction back

// Append implements store.Log.
func (s *Store) Append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	var out store.Outcome
	err := s.update(ctx, func(tx *sql.Tx) error {
		var err error
		out, err = appendTx(ctx, tx, b)
		return err
	})
	if errors.Is(err, errNothingNew) {
		return out, nil
	}
	if err != nil {
		return store.Outcome{}, fmt.Errorf("appending to the log: %w", explained(err))
	}
	s.wake.All()
	return out, nil
}

func appendTx(ctx context.Context, tx *sql.Tx, b store.Batch) (store.Outcome, error) {
	if err := checkLease(ctx, tx, b.Lease); err != nil {
		return store.Outcome{}, err
	}
	var seq int64
	if err := tx.QueryRowContext(ctx, "SELECT seq FROM log_head").Scan(&seq); err != nil {
		return store.Outcome{}, err
	}
	known, err := knownOf(ctx, tx, b)
	if err != nil {
		return store.Outcome{}, err
	}
	changes, out := store.Plan(b, known, time.Now())
	out.Seq = seq + int64(len(changes))
	if len(changes) == 0 {
		return out, errNothingNew
	}
	if err := insert(ctx, tx, seq, changes); err != nil {
		return out, err
	}
	if err := writeDocuments(ctx, tx, changes); err != nil {
		return out, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE log_head SET seq = ?", out.Seq)
	return out, err
}

// knownOf reads the present state of the batch's subjects.
func knownOf(ctx context.Context, tx *sql.Tx, b store.Batch) (store.Known, error) {
	k := store.Known{Issuers: map[string]disclosure.Issuer{}, Reports: map[string]disclosure.Report{}}
	for _, i := range b.Issuers {
		k.Issuers[i.ID] = disclosure.Issuer{}
	}
	for _, r := range slices.Concat(b.Reports, b.Aside) {
		k.Reports[r.ID] = disclosure.Report{}
	}
	if err := fill(ctx, tx, "issuer", k.Issuers); err != nil {
		return k, err
	}
	return k, fill(ctx, tx, "report", k.Reports)
}

// fill reads the records whose ids are the keys of the map, and deletes the
// keys of those that do not exist.
func fill[T any](ctx context.Context, tx *sql.Tx, table string, records map[string]T) error {
	get, err := tx.PrepareContext(ctx, "SELECT c.body FROM "+table+" t JOIN change c ON c.seq = t.seq WHERE t.id = ?")
	if err != nil {
		return err
	}
	defer get.Close()
	for id, record := range records {
		var body []byte
		err := get.QueryRowContext(ctx, id).Scan(&body)
		if errors.Is(err, sql.ErrNoRows) {
			delete(records, id)
			continue
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, &record); err != nil {
			return fmt.Errorf("%s %s cannot be read: %w", table, id, err)
		}
		records[id] = record
	}
	return nil
}

// insert numbers the changes from seq+1 on and writes them.
func insert(ctx context.Context, tx *sql.Tx, seq int64, changes []disclosure.Change) error {
	row, err := tx.PrepareContext(ctx, "INSERT INTO change (seq, event, subject, occurred_at, changed, body) VALUES (?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer row.Close()
	heads := map[bool]*sql.Stmt{} // of reports, of issuers
	for isReport, table := range map[bool]string{true: "report", false: "issuer"} {
		heads[isReport], err = tx.PrepareContext(ctx, "INSERT INTO "+table+" (id, seq) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq")
		if err != nil {
			return err
		}
		defer heads[isReport].Close()
	}
	for i, c := range changes {
		c.Seq = seq + int64(i) + 1
		r, err := store.EncodeRow(c)
		if err != nil {
			return err
		}
		if _, err := row.ExecContext(ctx, r.Seq, r.Event, r.Subject, r.OccurredAt.UnixMicro(), r.Changed, r.Body); err != nil {
			return fmt.Errorf("writing %s: %w", r.Subject, err)
		}
		if _, err := heads[c.Report != nil].ExecContext(ctx, r.Subject, r.Seq); err != nil {
			return fmt.Errorf("writing %s: %w", r.Subject, err)
		}
	}
	return nil
}

const rowColumns = "c.seq, c.event, c.occurred_at, c.changed, c.body"

// Changes implements store.Log.
func (s *Store) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	changes, err := s.changes(ctx, "c.seq > ? ORDER BY c.seq LIMIT ?", after, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the log after %d: %w", after, explained(err))
	}
	return changes, nil
}

// ChangesAt implements store.Log.
func (s *Store) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	wanted, err := list(seqs)
	if err != nil {
		return nil, err
	}
	changes, err := s.changes(ctx, "c.seq IN (SELECT value FROM json_each(?)) ORDER BY c.seq", wanted)
	if err != nil {
		return nil, fmt.Errorf("reading changes of the log: %w", explained(err))
	}
	return changes, nil
}

// changes reads the changes that meet a condition.
func (s *Store) changes(ctx context.Context, where string, args ...any) ([]disclosure.Change, error) {
	var changes []disclosure.Change
	err := each(ctx, s.read, func(c disclosure.Change) error {
		changes = append(changes, c)
		return nil
	}, "SELECT "+rowColumns+" FROM change c WHERE "+where, args...)
	return changes, err
}

// Current implements store.Log.
func (s *Store) Current(ctx context.Context, fn func(disclosure.Change) error) (disclosure.Head, error) {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return disclosure.Head{}, fmt.Errorf("reading the present state: %w", explained(err))
	}
	defer tx.Rollback()
	head, err := readHead(ctx, tx) // the first read fixes the snapshot of the transaction
	if err != nil {
		return disclosure.Head{}, fmt.Errorf("reading the present state: %w", explained(err))
	}
	err = each(ctx, tx, fn, "SELECT "+rowColumns+` FROM change c WHERE c.seq IN
		(SELECT seq FROM issuer UNION ALL SELECT seq FROM report) ORDER BY c.seq`)
	if err != nil {
		return disclosure.Head{}, fmt.Errorf("reading the present state: %w", explained(err))
	}
	return head, nil
}

// Reports implements store.Log.
func (s *Store) Reports(ctx context.Context, ids ...string) ([]disclosure.Report, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	wanted, err := list(ids)
	if err != nil {
		return nil, err
	}
	var reports []disclosure.Report
	err = each(ctx, s.read, func(c disclosure.Change) error {
		reports = append(reports, *c.Report)
		return nil
	}, "SELECT "+rowColumns+` FROM report r JOIN change c ON c.seq = r.seq WHERE r.id IN (SELECT value FROM json_each(?))`, wanted)
	if err != nil {
		return nil, fmt.Errorf("reading reports: %w", explained(err))
	}
	return reports, nil
}

// list encodes many values as one JSON parameter, for json_each.
func list[T any](values []T) (string, error) {
	b, err := json.Marshal(values)
	return string(b), err
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each decodes the rows of a query over rowColumns one by one.
func each(ctx context.Context, q querier, fn func(disclosure.Change) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var (
		r      store.Row
		micros int64
	)
	for rows.Next() {
		if err := rows.Scan(&r.Seq, &r.Event, &micros, &r.Changed, &r.Body); err != nil {
			return err
		}
		r.OccurredAt = time.UnixMicro(micros)
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

// Newest implements store.Log.
func (s *Store) Newest(ctx context.Context) (seq int64, err error) {
	if err := s.intact(); err != nil {
		return 0, err
	}
	if err := s.seq.QueryRowContext(ctx).Scan(&seq); err != nil {
		return 0, fmt.Errorf("reading the newest number: %w", explained(err))
	}
	return seq, nil
}

// Head implements store.Log.
func (s *Store) Head(ctx context.Context) (disclosure.Head, error) {
	if err := s.intact(); err != nil {
		return disclosure.Head{}, err
	}
	head, err := readHead(ctx, s.read)
	if err != nil {
		return disclosure.Head{}, fmt.Errorf("reading the head of the log: %w", explained(err))
	}
	return head, nil
}

func readHead(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (head disclosure.Head, err error) {
	var past string
	if err := q.QueryRowContext(ctx, "SELECT seq, epoch, past FROM log_head").Scan(&head.Seq, &head.Epoch, &past); err != nil {
		return head, err
	}
	head.Past, err = disclosure.ParsePast(past)
	return head, err
}

// RenewEpoch implements store.Log.
func (s *Store) RenewEpoch(ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor) (head disclosure.Head, err error) {
	err = s.update(ctx, func(tx *sql.Tx) error {
		if head, err = readHead(ctx, tx); err != nil || head.Epoch != replaced {
			return err
		}
		if there, err := hasChange(ctx, tx, lost); err != nil || there {
			return err
		}
		head = head.Renew(shared...)
		_, err := tx.ExecContext(ctx, "UPDATE log_head SET epoch = ?, past = ?", head.Epoch, disclosure.FormatPast(head.Past))
		return err
	})
	if err != nil {
		return disclosure.Head{}, fmt.Errorf("renewing the epoch of the log: %w", explained(err))
	}
	return head, nil
}

// hasChange reports whether the log has the change that a mark identifies. No
// change has the zero mark.
func hasChange(ctx context.Context, tx *sql.Tx, m disclosure.Mark) (has bool, err error) {
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM change WHERE seq = ? AND occurred_at = ? AND event = ? AND subject = ?)",
		m.Seq, m.At, string(m.Event), m.Subject).Scan(&has)
	return has, err
}

// Wait implements store.Log.
func (s *Store) Wait(ctx context.Context, after int64) error {
	return s.wake.Wait(ctx, after, pollInterval, s.Newest)
}
