package relational

import (
	"context"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Append locks the head of the log before it reads anything. By then the previous
// writer has committed or rolled back, and the following statements see its
// result: the next number, the records, the lease.
func (b *Base) Append(ctx context.Context, batch store.Batch) (store.Outcome, error) {
	return b.append(ctx, "appending to the log", batch.Lease, func(Tx) (store.Batch, error) { return batch, nil })
}

// append appends the batch that read returns in the same transaction.
func (b *Base) append(
	ctx context.Context,
	doing string,
	lease *store.Lease,
	read func(Tx) (store.Batch, error),
) (out store.Outcome, err error) {
	err = b.update(ctx, doing, func(tx Tx) error {
		h, err := b.lockLog(ctx, tx)
		if err != nil {
			return err
		}
		if err := b.checkLease(ctx, tx, lease); err != nil {
			return err
		}
		batch, err := read(tx)
		if err != nil {
			return err
		}
		known, err := b.readKnown(ctx, tx, batch)
		if err != nil {
			return err
		}
		planned := store.Plan(batch, known, time.Now())
		out = planned.Outcome
		out.Seq = h.seq + int64(len(planned.Changes))
		if len(planned.Changes) == 0 {
			return errUnchanged
		}
		if err := write(ctx, tx, h, planned.Changes); err != nil {
			return err
		}
		b.writeNames(ctx, tx, planned)
		b.Appended(ctx, tx, out.Seq, store.ChangedDocuments(planned.Changes))
		return nil
	})
	b.Wake.All() // after an error too: the commit may have taken effect
	if err != nil {
		return store.Outcome{}, err
	}
	return out, nil
}

// readKnown reads the present state of the batch's subjects.
func (b *Base) readKnown(ctx context.Context, tx Tx, batch store.Batch) (store.Known, error) {
	known := store.Known{
		Issuers:   make(map[string]disclosure.Issuer, len(batch.Issuers)),
		Reports:   make(map[string]disclosure.Report, len(batch.Reports)),
		Positions: make(map[string]disclosure.Position, len(batch.Positions)),
	}
	issuers := make([]string, len(batch.Issuers))
	for i := range batch.Issuers {
		issuers[i] = batch.Issuers[i].ID
	}
	reports := make([]string, 0, len(batch.Reports)+len(batch.Aside))
	for _, given := range [][]disclosure.Report{batch.Reports, batch.Aside} {
		for i := range given {
			reports = append(reports, given[i].ID)
		}
	}
	positions := make([]string, len(batch.Positions))
	for i := range batch.Positions {
		positions[i] = batch.Positions[i].ID
	}
	add := func(c disclosure.Change) error {
		switch c.Of() {
		case disclosure.OfIssuer:
			known.Issuers[c.Issuer.ID] = *c.Issuer
		case disclosure.OfReport:
			known.Reports[c.Report.ID] = *c.Report
		case disclosure.OfPosition:
			known.Positions[c.Position.ID] = *c.Position
		}
		return nil
	}
	if err := b.newest(ctx, tx, `issuer`, issuers, add); err != nil {
		return known, err
	}
	if err := b.newest(ctx, tx, `report`, reports, add); err != nil {
		return known, err
	}
	return known, b.newest(ctx, tx, `position`, positions, add)
}

// newest passes the newest change of each subject to fn, from the table of issuers,
// reports or positions, in no order.
func (b *Base) newest(ctx context.Context, db DB, table string, ids []string, fn func(disclosure.Change) error) error {
	if len(ids) == 0 {
		return nil
	}
	return eachChange(ctx, db, fn, `seq IN (SELECT seq FROM `+table+` WHERE id `+b.SQL.In(`$1`)+`)`, ids)
}

// counter is the row log_head.
type counter struct{ seq, leaves int64 }

// lockLog returns the counter of the log, and prevents other writers from appending
// until the transaction ends.
func (b *Base) lockLog(ctx context.Context, tx Tx) (h counter, err error) {
	_, err = One(ctx, tx, []any{&h.seq, &h.leaves}, `SELECT seq, leaves FROM log_head `+b.SQL.Lock(`FOR UPDATE`))
	return h, err
}

// write numbers the changes from the counter on, adds them and their hashes to the
// log, points their subjects at them, and moves the counter. The hashes are left to
// AddLeaves if those of earlier changes are missing.
func write(ctx context.Context, tx Tx, h counter, changes []disclosure.Change) error {
	hashed := h.leaves == h.seq
	var hashes []tlog.Hash
	for i := range changes {
		c := &changes[i]
		c.Seq = h.seq + 1 + int64(i)
		r, err := store.EncodeRow(*c)
		if err != nil {
			return err
		}
		tx.Exec(ctx, `INSERT INTO change (seq, event, subject, occurred_at, changed, body) VALUES ($1, $2, $3, $4, $5, $6)`,
			r.Seq, r.Event, r.Subject, r.OccurredAt, r.Changed, r.Body)
		tx.Exec(ctx, point[c.Of()], r.Subject, r.Seq)
		if hashed {
			hashes = append(hashes, r.Leaf().Hash())
		}
	}
	now := counter{h.seq + int64(len(changes)), h.leaves}
	if hashed {
		now.leaves = now.seq
		writeLeaves(ctx, tx, now.leaves, hashes)
	}
	tx.Exec(ctx, `UPDATE log_head SET seq = $1, leaves = $2`, now.seq, now.leaves)
	return nil
}

// point are the statements that point a subject at its newest change.
var point = map[disclosure.Subject]string{
	disclosure.OfIssuer:   pointAt(disclosure.OfIssuer),
	disclosure.OfReport:   pointAt(disclosure.OfReport),
	disclosure.OfPosition: pointAt(disclosure.OfPosition),
}

func pointAt(of disclosure.Subject) string {
	return `INSERT INTO ` + string(of) + ` (id, seq) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`
}

func (b *Base) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	return b.changes(ctx, `seq > $1 ORDER BY seq LIMIT $2`, after, limit)
}

func (b *Base) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	return b.changes(ctx, `seq `+b.SQL.In(`$1`)+` ORDER BY seq`, seqs)
}

func (b *Base) Marks(ctx context.Context, after int64, limit int) (marks []disclosure.Mark, err error) {
	defer b.fail("reading the log", &err)
	var m disclosure.Mark
	var event string
	var at time.Time
	err = Each(ctx, b, []any{&m.Seq, &at, &event, &m.Subject}, func() error {
		m.At, m.Event = at.UnixMicro(), disclosure.Event(event)
		marks = append(marks, m)
		return nil
	}, `SELECT seq, occurred_at, event, subject FROM change WHERE seq > $1 ORDER BY seq LIMIT $2`, after, limit)
	return marks, err
}

// Conditions on the column subject have a collation, because the index has it.

func (b *Base) ChangesOf(
	ctx context.Context,
	of disclosure.Subject,
	id string,
	upTo int64,
	limit int,
) ([]disclosure.Change, error) {
	return b.changes(ctx, `subject `+b.SQL.ByBytes+` = $1 AND seq <= $2 AND `+events[of]+`
		ORDER BY seq DESC LIMIT $3`, id, upTo, limit)
}

func (b *Base) AsOf(
	ctx context.Context,
	of disclosure.Subject,
	upTo int64,
	ids ...string,
) ([]disclosure.Change, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return b.changes(ctx, `seq IN (SELECT (SELECT max(seq) FROM change
			WHERE subject `+b.SQL.ByBytes+` = id AND seq <= $2 AND `+events[of]+`)
		FROM `+string(of)+` WHERE id `+b.SQL.In(`$1`)+`) ORDER BY seq`, ids, upTo)
}

// events are the conditions that select the changes of issuers, of reports and of
// positions. Reports include events that only another version knows: see Row.Decode.
var events = map[disclosure.Subject]string{
	disclosure.OfIssuer:   `event = '` + string(disclosure.IssuerUpdated) + `'`,
	disclosure.OfReport:   `event <> '` + string(disclosure.IssuerUpdated) + `' AND event NOT LIKE 'position.%'`,
	disclosure.OfPosition: `event LIKE 'position.%'`,
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
	err = b.Snapshot(ctx, func(db Tx) (err error) {
		if head, err = readHead(ctx, db, ""); err != nil { // the first read fixes the moment
			return err
		}
		return eachChange(ctx, db, func(c disclosure.Change) error {
			if stopped = fn(c); stopped != nil {
				cancel()
			}
			return stopped
		}, `seq IN (SELECT seq FROM issuer UNION ALL SELECT seq FROM report UNION ALL SELECT seq FROM position) ORDER BY seq`)
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
	err = b.newest(ctx, b, `report`, ids, func(c disclosure.Change) error {
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
	if _, err := One(ctx, db, []any{&head.Seq, &head.Epoch, &past},
		`SELECT seq, epoch, past FROM log_head `+lock); err != nil {
		return head, err
	}
	head.Past, err = disclosure.ParsePast(past)
	return head, err
}

func (b *Base) RenewEpoch(
	ctx context.Context, replaced string, lost disclosure.Mark, shared ...disclosure.Cursor,
) (head disclosure.Head, err error) {
	err = b.update(ctx, "renewing the epoch of the log", func(tx Tx) error {
		if head, err = readHead(ctx, tx, b.SQL.Lock(`FOR UPDATE`)); err != nil {
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
		tx.Exec(ctx, `UPDATE log_head SET epoch = $1, past = $2`, head.Epoch, disclosure.FormatPast(head.Past))
		return nil
	})
	if err != nil {
		return disclosure.Head{}, err
	}
	return head, nil
}

// eachChange passes the changes that meet a condition to fn, until either fails.
func eachChange(ctx context.Context, db DB, fn func(disclosure.Change) error, where string, args ...any) error {
	return eachRow(ctx, db, func(r store.Row) error {
		c, err := r.Decode()
		if err != nil {
			return err
		}
		return fn(c)
	}, where, args...)
}

// eachRow is like eachChange for rows as they are stored, without their subjects.
func eachRow(ctx context.Context, db DB, fn func(store.Row) error, where string, args ...any) error {
	var r store.Row
	dest := []any{&r.Seq, &r.Event, &r.OccurredAt, &r.Changed, &r.Body, &r.Name}
	return Each(ctx, db, dest, func() error { return fn(r) }, `SELECT `+RowColumns+` FROM change WHERE `+where, args...)
}
