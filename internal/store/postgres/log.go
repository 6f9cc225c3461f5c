package postgres

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Set explicitly, since a database can have other defaults.
var (
	readCommitted = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	oneMoment     = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
)

// columns are those of a change, in the order of store.Row.
const columns = `c.seq, c.event, c.subject, c.occurred_at, c.changed, c.body`

// Append is described by store.Log.
func (s *Store) Append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	outcome, err := s.append(ctx, b)
	if err != nil {
		return store.Outcome{}, failed("appending to the log", err)
	}
	return outcome, nil
}

// append locks the head of the log before it reads anything. By then the previous
// writer has committed or rolled back, and the following statements see its
// result: the next number, the records, the lease.
func (s *Store) append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return store.Outcome{}, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	head, err := lockHead(ctx, tx, `log_head`, `seq`)
	if err != nil {
		return store.Outcome{}, err
	}
	if err := checkLease(ctx, tx, b.Lease); err != nil {
		return store.Outcome{}, err
	}
	known, err := readKnown(ctx, tx, b)
	if err != nil {
		return store.Outcome{}, err
	}
	changes, outcome := store.Plan(b, known, time.Now())
	outcome.Seq = head + int64(len(changes))
	if len(changes) == 0 {
		return outcome, nil
	}
	for i := range changes {
		changes[i].Seq = head + 1 + int64(i)
	}
	if err := write(ctx, tx, changes); err != nil {
		return store.Outcome{}, err
	}
	err = s.commit(ctx, tx)
	s.wake.All() // after an error too: the commit may have taken effect
	return outcome, err
}

// writeTimeout is how long a writer waits for a lock, for one statement and for the
// next one of its own process. All writers of a counter wait for the one that
// holds it, so the server ends a transaction whose process froze, lost the
// network or waits for such a lock itself.
const writeTimeout = 10 * time.Second

// writing begins a transaction that others may have to wait for. It relies on
// each statement seeing all that was committed before it.
func writing(timeout time.Duration) pgx.TxOptions {
	ms := strconv.FormatInt(timeout.Milliseconds(), 10)
	return pgx.TxOptions{BeginQuery: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ` + ms +
		`; SET LOCAL statement_timeout = ` + ms + `; SET LOCAL idle_in_transaction_session_timeout = ` + ms}
}

func (s *Store) begin(ctx context.Context) (pgx.Tx, error) { return s.pool.BeginTx(ctx, s.writing) }

// lockHead returns the newest number of a counter, log_head, note_head,
// record_head or fanned, and prevents other writers from drawing the next until
// the transaction ends.
func lockHead(ctx context.Context, tx pgx.Tx, table, column string) (newest int64, err error) {
	err = tx.QueryRow(ctx, `SELECT `+column+` FROM `+table+` FOR UPDATE`).Scan(&newest)
	return newest, err
}

func readKnown(ctx context.Context, tx pgx.Tx, b store.Batch) (store.Known, error) {
	known := store.Known{
		Issuers: make(map[string]disclosure.Issuer, len(b.Issuers)),
		Reports: make(map[string]disclosure.Report, len(b.Reports)),
	}
	ids := make([]string, 0, len(b.Issuers))
	for i := range b.Issuers {
		ids = append(ids, b.Issuers[i].ID)
	}
	err := newest(ctx, tx, `issuer`, ids, func(c disclosure.Change) error {
		known.Issuers[c.Issuer.ID] = *c.Issuer
		return nil
	})
	if err != nil {
		return known, err
	}
	ids = make([]string, 0, len(b.Reports)+len(b.Aside))
	for _, r := range slices.Concat(b.Reports, b.Aside) {
		ids = append(ids, r.ID)
	}
	err = newest(ctx, tx, `report`, ids, func(c disclosure.Change) error {
		known.Reports[c.Report.ID] = *c.Report
		return nil
	})
	return known, err
}

// newest passes the newest change of each subject to fn, from the issuer or
// the report table, in no order.
func newest(ctx context.Context, db rowsQuerier, table string, ids []string, fn func(disclosure.Change) error) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM `+table+` h JOIN change c USING (seq) WHERE h.id = ANY($1)`, ids)
	if err != nil {
		return err
	}
	return each(rows, fn)
}

// write adds numbered changes to the log, points their subjects at them, moves
// the head, and notifies the listeners, which the server does at the commit.
// The rows travel as parameters, not as a COPY: the server cannot end a COPY
// whose client froze.
func write(ctx context.Context, tx pgx.Tx, changes []disclosure.Change) error {
	var rows rowColumns
	for i := range changes {
		r, err := store.EncodeRow(changes[i])
		if err != nil {
			return err
		}
		rows.add(r)
	}
	var issuers, reports heads
	for i := range changes {
		if changes[i].Issuer != nil {
			issuers.add(&changes[i])
		} else {
			reports.add(&changes[i])
		}
	}
	batch := new(pgx.Batch)
	rows.queue(batch)
	issuers.queue(batch, `issuer`)
	reports.queue(batch, `report`)
	queueDocuments(batch, changes)
	batch.Queue(`WITH head AS (UPDATE log_head SET seq = $1 RETURNING seq) SELECT pg_notify('pregon_log', seq::text) FROM head`,
		changes[len(changes)-1].Seq)
	// A commit may have to wait for a standby server, without a timeout.
	batch.Queue(`SET LOCAL statement_timeout = 0`)
	return tx.SendBatch(ctx, batch).Close()
}

// rowColumns are rows of the log by column.
type rowColumns struct {
	seqs                              []int64
	events, subjects, changed, bodies []string
	occurred                          []time.Time
}

func (c *rowColumns) add(r store.Row) {
	c.seqs, c.events, c.subjects = append(c.seqs, r.Seq), append(c.events, r.Event), append(c.subjects, r.Subject)
	c.occurred, c.changed, c.bodies = append(c.occurred, r.OccurredAt), append(c.changed, r.Changed), append(c.bodies, r.Body)
}

func (c *rowColumns) queue(batch *pgx.Batch) {
	batch.Queue(`INSERT INTO change (seq, event, subject, occurred_at, changed, body)
		SELECT seq, event, subject, occurred_at, changed, body::json
		FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[])
			AS t (seq, event, subject, occurred_at, changed, body)`,
		c.seqs, c.events, c.subjects, c.occurred, c.changed, c.bodies)
}

// heads are subjects and their newest changes.
type heads struct {
	ids  []string
	seqs []int64
}

func (h *heads) add(c *disclosure.Change) {
	h.ids = append(h.ids, c.Subject())
	h.seqs = append(h.seqs, c.Seq)
}

// queue writes the newest change of each subject: a batch may have several.
func (h *heads) queue(batch *pgx.Batch, table string) {
	if len(h.ids) == 0 {
		return
	}
	batch.Queue(`INSERT INTO `+table+` (id, seq)
		SELECT id, max(seq) FROM unnest($1::text[], $2::bigint[]) AS t (id, seq) GROUP BY id
		ON CONFLICT (id) DO UPDATE SET seq = excluded.seq`, h.ids, h.seqs)
}
