package relational

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// fanning is where the position of a consumer in the log is stored, and the kinds of the
// records that decide which deliveries it gets.
type fanning struct {
	table string
	kinds []string
}

var consumers = map[store.Consumer]fanning{
	store.ForWebhooks: {`fanned`, []string{"webhook", "watchlist"}},
	store.ForAlerts:   {`fanned_alerts`, []string{"alert", "watchlist"}},
}

func (b *Base) Fanned(ctx context.Context, to store.Consumer) (seq int64, err error) {
	defer b.fail("reading how far the log was fanned out", &err)
	_, err = One(ctx, b, []any{&seq}, `SELECT seq FROM `+consumers[to].table)
	return seq, err
}

// FanOut runs in one process at a time for each consumer. It checks for newer records
// last, so that writers of records wait only for that check and the commit. A writer that
// locked their counter earlier is seen; a later one comes after the commit.
func (b *Base) FanOut(ctx context.Context, f store.FanOut) error {
	to := consumers[f.Consumer]
	return b.update(ctx, "fanning out the log", func(tx Tx) error {
		seq, err := b.lockHead(ctx, tx, to.table, `seq`)
		if err != nil {
			return err
		}
		epoch, err := meets(ctx, tx, f)
		if err != nil {
			return err
		}
		if seq != f.From {
			return fault.New(fault.Conflict, "the log was fanned out up to %d, not %d", seq, f.From)
		}
		deliveries := store.MergeStories(f.Deliveries)
		if err := b.joinStories(ctx, tx, deliveries); err != nil {
			return err
		}
		b.addDeliveries(ctx, tx, deliveries, epoch)
		tx.Exec(ctx, `UPDATE `+to.table+` SET seq = $1`, f.To)
		tx.Exec(ctx, `SELECT revision FROM record_head `+b.SQL.Lock(`FOR SHARE`))
		known := make(Values, len(to.kinds))
		for i, kind := range to.kinds {
			known[i] = []any{kind, f.Revisions[kind]}
		}
		newer, err := Column[string](ctx, tx, `SELECT r.kind FROM `+b.SQL.Elements(`$1`)+`
			JOIN record r ON r.kind = value ->> 0 AND r.revision > CAST(value ->> 1 AS bigint) LIMIT 1`, known)
		if err == nil && len(newer) > 0 {
			err = fault.New(fault.Conflict, "there is a newer %s than those of revision %d", newer[0], f.Revisions[newer[0]])
		}
		return err
	})
}

// meets fails when the log is not the one that the caller of FanOut read. It
// returns the epoch of the log.
func meets(ctx context.Context, tx Tx, f store.FanOut) (epoch string, err error) {
	seen, at := disclosure.Mark{Seq: f.Seen.Seq}, time.Time{}
	_, err = One(ctx, tx, []any{&epoch, &seen.Event, &seen.Subject, &at},
		`SELECT h.epoch, coalesce(c.event, ''), coalesce(c.subject, ''), c.occurred_at
		FROM log_head h LEFT JOIN change c ON c.seq = $1`, f.Seen.Seq)
	if err != nil {
		return "", err
	}
	seen.At = at.UnixMicro()
	return epoch, f.Meets(epoch, seen)
}

// deliveryValues are read by the statements that add deliveries.
func deliveryValues(deliveries []store.Delivery) Values {
	rows := make(Values, len(deliveries))
	for i, d := range deliveries {
		rows[i] = []any{d.Webhook, d.Seq, d.Event, d.Story, d.Lane, d.Cause, interval(d.Wait), moment(d.At)}
	}
	return rows
}

// due returns when a delivery of deliveryValues is due.
func (b *Base) due() string {
	return `coalesce(CAST(value ->> 7 AS timestamptz), ` + b.SQL.Now + ` + CAST(value ->> 6 AS interval))`
}

// addDeliveries adds deliveries, and leaves those that exist alone, also those of the
// same story. A transaction that drops a webhook waits for the share lock, or came
// first: then the join leaves its deliveries out.
func (b *Base) addDeliveries(ctx context.Context, tx Tx, deliveries []store.Delivery, epoch string) {
	if len(deliveries) == 0 {
		return
	}
	webhooks := store.Webhooks(deliveries)
	for _, webhook := range webhooks {
		tx.Exec(ctx, `INSERT INTO endpoint (webhook) VALUES ($1) ON CONFLICT DO NOTHING`, webhook)
	}
	tx.Exec(ctx, `INSERT INTO delivery (webhook, seq, event, state, attempts, due_at, created_at, epoch, story, lane, cause)
		SELECT e.webhook, CAST(value ->> 1 AS bigint), value ->> 2, 'pending', 0,
			`+b.due()+`, `+b.SQL.Now+`, CAST($3 AS text), value ->> 3, value ->> 4, value ->> 5
		FROM `+b.SQL.Elements(`$1`)+`
		JOIN (SELECT webhook FROM endpoint WHERE webhook `+b.SQL.In(`$2`)+`
			ORDER BY webhook `+b.SQL.Lock(`FOR KEY SHARE`)+`) e ON e.webhook = value ->> 0
		ORDER BY 1, 2
		ON CONFLICT DO NOTHING`, deliveryValues(deliveries), webhooks, epoch)
}

// joinStories adds the causes of new deliveries to the pending ones of the same stories,
// and makes those due sooner that the new ones would be due before. It locks endpoints
// as Settle does, so that there is no deadlock.
func (b *Base) joinStories(ctx context.Context, tx Tx, deliveries []store.Delivery) error {
	var told Values
	stories := map[store.StoryKey]store.Delivery{}
	for _, d := range deliveries {
		if d.Story != "" {
			stories[d.StoryKey()] = d
			told = append(told, []any{d.Webhook, d.Story})
		}
	}
	if len(told) == 0 {
		return nil
	}
	var (
		had   store.Delivery
		joint []store.Delivery
	)
	err := Each(ctx, tx, []any{&had.Webhook, &had.Seq, &had.Story, &had.Cause}, func() error {
		d := stories[had.StoryKey()]
		d.Seq = had.Seq
		d.Cause = store.JoinCauses(had.Cause, d.Cause)
		joint = append(joint, d)
		return nil
	}, `SELECT d.webhook, d.seq, d.story, d.cause FROM `+b.SQL.Elements(`$1`)+`
		JOIN delivery d ON d.webhook = value ->> 0 AND d.story = value ->> 1 AND d.story <> ''
		WHERE d.state = 'pending'`, told)
	if err != nil || len(joint) == 0 {
		return err
	}
	tx.Exec(ctx, `SELECT webhook FROM endpoint WHERE webhook `+b.SQL.In(`$1`)+`
		ORDER BY webhook `+b.SQL.Lock(`FOR NO KEY UPDATE`), store.Webhooks(joint))
	tx.Exec(ctx, `UPDATE delivery AS d SET
			due_at = CASE WHEN d.attempts = 0 AND t.due_at < d.due_at THEN t.due_at ELSE d.due_at END,
			lane = CASE WHEN d.attempts = 0 AND t.due_at < d.due_at THEN t.lane ELSE d.lane END,
			cause = t.cause
		FROM (SELECT value ->> 0 AS webhook, CAST(value ->> 1 AS bigint) AS seq, value ->> 4 AS lane, value ->> 5 AS cause,
				`+b.due()+` AS due_at
			FROM `+b.SQL.Elements(`$1`)+`) t
		WHERE d.webhook = t.webhook AND d.seq = t.seq AND d.state = 'pending'`, deliveryValues(joint))
	return nil
}
