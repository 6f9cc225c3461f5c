package relational

import (
	"context"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// Append locks the head of the log before it reads anything. By then the previous
// writer has committed or rolled back, and the following statements see its
// result: the next number, the records, the lease.
func (b *Base) Append(ctx context.Context, batch store.Batch) (out store.Outcome, err error) {
	err = b.update(ctx, "appending to the log", func(tx DB) error {
		head, err := lockHead(ctx, tx, `log_head`, `seq`)
		if err != nil {
			return err
		}
		if err := checkLease(ctx, tx, batch.Lease); err != nil {
			return err
		}
		known, err := readKnown(ctx, tx, batch)
		if err != nil {
			return err
		}
		var changes []disclosure.Change
		changes, out = store.Plan(batch, known, time.Now())
		out.Seq = head + int64(len(changes))
		if len(changes) == 0 {
			return errUnchanged
		}
		if err := write(ctx, tx, head, changes); err != nil {
			return err
		}
		return b.Appended(ctx, tx, out.Seq, store.ChangedDocuments(changes))
	})
	b.Wake.All() // after an error too: the commit may have taken effect
	if err != nil {
		return store.Outcome{}, err
	}
	return out, nil
}

// checkLease fails, Conflict, unless the lease is the newest of its name, and
// keeps it so until the transaction ends: a process that wants to take it over
// must wait for the lock on its row.
func checkLease(ctx context.Context, tx DB, l *store.Lease) error {
	if l == nil {
		return nil
	}
	// A lease that was released has no holder in PostgreSQL, and expires in 1970 in
	// SQLite.
	found, err := One(ctx, tx, []any{new(int64)},
		`SELECT term FROM lease WHERE name = $1 AND holder = $2 AND term = $3 AND expires_at > $4 FOR SHARE`,
		l.Name, l.Holder, l.Term, time.Unix(0, 0))
	if err == nil && !found {
		return fault.New(fault.Conflict, "the lease %q of %s, term %d, is no longer in force", l.Name, l.Holder, l.Term)
	}
	return err
}

// readKnown reads the present state of the batch's subjects.
func readKnown(ctx context.Context, tx DB, b store.Batch) (store.Known, error) {
	known := store.Known{
		Issuers: make(map[string]disclosure.Issuer, len(b.Issuers)),
		Reports: make(map[string]disclosure.Report, len(b.Reports)),
	}
	issuers := make([]string, len(b.Issuers))
	for i := range b.Issuers {
		issuers[i] = b.Issuers[i].ID
	}
	reports := make([]string, 0, len(b.Reports)+len(b.Aside))
	for _, given := range [][]disclosure.Report{b.Reports, b.Aside} {
		for i := range given {
			reports = append(reports, given[i].ID)
		}
	}
	add := func(c disclosure.Change) error {
		if c.Issuer != nil {
			known.Issuers[c.Issuer.ID] = *c.Issuer
		} else {
			known.Reports[c.Report.ID] = *c.Report
		}
		return nil
	}
	if err := newest(ctx, tx, `issuer`, issuers, add); err != nil {
		return known, err
	}
	return known, newest(ctx, tx, `report`, reports, add)
}

// newest passes the newest change of each subject to fn, from the issuer or
// the report table, in no order.
func newest(ctx context.Context, db DB, table string, ids []string, fn func(disclosure.Change) error) error {
	if len(ids) == 0 {
		return nil
	}
	return eachChange(ctx, db, fn, `seq IN (SELECT seq FROM `+table+` WHERE id = ANY($1))`, ids)
}

// write numbers the changes from head+1 on, adds them to the log, points their
// subjects at them, and moves the head.
func write(ctx context.Context, tx DB, head int64, changes []disclosure.Change) error {
	for i := range changes {
		c := &changes[i]
		c.Seq = head + 1 + int64(i)
		r, err := store.EncodeRow(*c)
		if err != nil {
			return err
		}
		err = tx.Exec(ctx, `INSERT INTO change (seq, event, subject, occurred_at, changed, body) VALUES ($1, $2, $3, $4, $5, $6)`,
			r.Seq, r.Event, r.Subject, r.OccurredAt, r.Changed, r.Body)
		if err != nil {
			return err
		}
		point := `INSERT INTO report (id, seq) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`
		if c.Issuer != nil {
			point = `INSERT INTO issuer (id, seq) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`
		}
		if err := tx.Exec(ctx, point, r.Subject, r.Seq); err != nil {
			return err
		}
	}
	return tx.Exec(ctx, `UPDATE log_head SET seq = $1`, head+int64(len(changes)))
}

func (b *Base) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	return b.changes(ctx, `seq > $1 ORDER BY seq LIMIT $2`, after, limit)
}

func (b *Base) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	return b.changes(ctx, `seq = ANY($1) ORDER BY seq`, seqs)
}

func (b *Base) changes(ctx context.Context, where string, args ...any) (changes []disclosure.Change, err error) {
	defer b.fail("reading the log", &err)
	err = eachChange(ctx, b, func(c disclosure.Change) error {
		changes = append(changes, c)
		return nil
	}, where, args...)
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// Current passes rows on as they come from the database, so that memory does not
// grow with the store.
func (b *Base) Current(ctx context.Context, fn func(disclosure.Change) error) (head disclosure.Head, err error) {
	// When fn stops early, canceling the context avoids reading the remaining
	// rows, at the cost of the connection.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var stopped error // the error of fn, which is not a failure of the database
	err = b.Snapshot(ctx, func(db DB) (err error) {
		if head, err = readHead(ctx, db, ""); err != nil { // the first read fixes the moment
			return err
		}
		return eachChange(ctx, db, func(c disclosure.Change) error {
			if stopped = fn(c); stopped != nil {
				cancel()
			}
			return stopped
		}, `seq IN (SELECT seq FROM issuer UNION ALL SELECT seq FROM report) ORDER BY seq`)
	})
	if stopped != nil {
		return disclosure.Head{}, stopped
	}
	if err != nil {
		return disclosure.Head{}, b.Failed("reading the present state", err)
	}
	return head, nil
}

func (b *Base) Reports(ctx context.Context, ids ...string) (reports []disclosure.Report, err error) {
	defer b.fail("reading reports", &err)
	err = newest(ctx, b, `report`, ids, func(c disclosure.Change) error {
		reports = append(reports, *c.Report)
		return nil
	})
	return reports, err
}

func (b *Base) Newest(ctx context.Context) (seq int64, err error) {
	defer b.fail("reading the newest seq", &err)
	_, err = One(ctx, b, []any{&seq}, `SELECT seq FROM log_head`)
	return seq, err
}

func (b *Base) Head(ctx context.Context) (head disclosure.Head, err error) {
	defer b.fail("reading the head of the log", &err)
	return readHead(ctx, b, "")
}

func readHead(ctx context.Context, db DB, lock string) (head disclosure.Head, err error) {
	var past string
	if _, err := One(ctx, db, []any{&head.Seq, &head.Epoch, &past}, `SELECT seq, epoch, past FROM log_head`+lock); err != nil {
		return head, err
	}
	head.Past, err = disclosure.ParsePast(past)
	return head, err
}

func (b *Base) RenewEpoch(
	ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor,
) (head disclosure.Head, err error) {
	err = b.update(ctx, "renewing the epoch of the log", func(tx DB) error {
		if head, err = readHead(ctx, tx, ` FOR UPDATE`); err != nil {
			return err
		}
		if head.Epoch != replaced {
			return errUnchanged
		}
		found, err := Column[int64](ctx, tx, `SELECT seq FROM change WHERE seq = $1 AND occurred_at = $2 AND event = $3 AND subject = $4`,
			lost.Seq, time.UnixMicro(lost.At), string(lost.Event), lost.Subject)
		if err != nil {
			return err
		}
		if slices.Contains(found, lost.Seq) { // no change has the zero mark
			return errUnchanged
		}
		head = head.Renew(shared...)
		return tx.Exec(ctx, `UPDATE log_head SET epoch = $1, past = $2`, head.Epoch, disclosure.FormatPast(head.Past))
	})
	if err != nil {
		return disclosure.Head{}, err
	}
	return head, nil
}

// eachChange passes the changes that meet a condition to fn, until either fails.
func eachChange(ctx context.Context, db DB, fn func(disclosure.Change) error, where string, args ...any) error {
	var r store.Row
	return each(ctx, db, []any{&r.Seq, &r.Event, &r.OccurredAt, &r.Changed, &r.Body}, func() error {
		c, err := r.Decode()
		if err != nil {
			return err
		}
		return fn(c)
	}, `SELECT seq, event, occurred_at, changed, body FROM change WHERE `+where, args...)
}
