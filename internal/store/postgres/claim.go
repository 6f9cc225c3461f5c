package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/store"
)

// Claim is described by store.Deliveries. The clock is the database's, the only
// one that all holders share.
func (s *Store) Claim(ctx context.Context, c store.Claim) ([]store.Claimed, error) {
	claimed, err := s.claim(ctx, c)
	if err != nil {
		return nil, failed("claiming webhooks", err)
	}
	return claimed, nil
}

// claim locks the webhooks before it reads their deliveries: by then the previous
// holder's attempts are committed, and a statement that began earlier would not
// see them. The due deliveries are read twice for the same reason.
func (s *Store) claim(ctx context.Context, c store.Claim) ([]store.Claimed, error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	picked, err := pick(ctx, tx, c)
	if err != nil || len(picked) == 0 {
		return nil, err
	}
	claimed, err := dueDeliveries(ctx, tx, picked, c.Each)
	if err != nil || len(claimed) == 0 {
		return nil, err
	}
	webhooks := make([]string, len(claimed))
	for i := range claimed {
		webhooks[i] = claimed[i].Webhook
	}
	_, err = tx.Exec(ctx, `UPDATE endpoint SET holder = $1, held_until = clock_timestamp() + $2::interval WHERE webhook = ANY($3)`, c.Holder, c.TTL, webhooks)
	if err != nil {
		return nil, err
	}
	if err := s.commit(ctx, tx); err != nil {
		return nil, err
	}
	return claimed, nil
}

// pick locks the webhooks that may be claimed, longest waiting first. It skips
// those that other transactions have locked.
func pick(ctx context.Context, tx pgx.Tx, c store.Claim) (webhooks []string, err error) {
	batch := new(pgx.Batch)
	batch.Queue(`SELECT e.webhook FROM endpoint e
		CROSS JOIN LATERAL (SELECT due_at FROM delivery WHERE webhook = e.webhook AND state = 'pending' ORDER BY due_at LIMIT 1) d
		WHERE e.webhook = ANY($1) AND (e.failing_since IS NOT NULL) = $2
			AND (e.holder IS NULL OR e.holder = $3 OR e.held_until <= clock_timestamp())
			AND d.due_at <= now()
		ORDER BY d.due_at, e.webhook LIMIT $4 FOR NO KEY UPDATE OF e SKIP LOCKED`,
		c.Webhooks, c.Failing, c.Holder, c.Endpoints).Query(func(rows pgx.Rows) error {
		webhooks, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return webhooks, tx.SendBatch(ctx, batch).Close()
}

// dueDeliveries returns the due deliveries of these webhooks, in their order.
func dueDeliveries(ctx context.Context, tx pgx.Tx, webhooks []string, most int) ([]store.Claimed, error) {
	rows, err := tx.Query(ctx, `SELECT `+deliveryColumns+` FROM unnest($1::text[]) WITH ORDINALITY AS w (webhook, place)
		CROSS JOIN LATERAL (SELECT * FROM delivery
			WHERE webhook = w.webhook AND state = 'pending' AND due_at <= now() ORDER BY seq LIMIT $2) d
		ORDER BY w.place, d.seq`, webhooks, most)
	if err != nil {
		return nil, err
	}
	var (
		claimed []store.Claimed
		d       storedDelivery
	)
	_, err = pgx.ForEachRow(rows, d.fields(), func() error {
		if n := len(claimed); n == 0 || claimed[n-1].Webhook != d.Webhook {
			claimed = append(claimed, store.Claimed{Webhook: d.Webhook})
		}
		last := &claimed[len(claimed)-1]
		last.Deliveries = append(last.Deliveries, d.delivery())
		return nil
	})
	return claimed, err
}

// heldInOrder locks the webhooks of a list that a holder has, in the same order
// as all other transactions, so that there is no deadlock.
const heldInOrder = `(SELECT webhook FROM endpoint WHERE holder = $1 AND webhook = ANY($2) ORDER BY webhook FOR NO KEY UPDATE) h`

// Renew is described by store.Deliveries.
func (s *Store) Renew(ctx context.Context, holder string, ttl time.Duration, webhooks ...string) ([]string, error) {
	rows, err := s.pool.Query(ctx, `UPDATE endpoint e SET held_until = clock_timestamp() + $3::interval FROM `+heldInOrder+`
		WHERE e.webhook = h.webhook AND e.holder = $1 RETURNING e.webhook`, holder, webhooks, ttl)
	if err != nil {
		return nil, failed("keeping webhooks", err)
	}
	held, err := pgx.AppendRows([]string(nil), rows, pgx.RowTo[string])
	if err != nil {
		return nil, failed("keeping webhooks", err)
	}
	return held, nil
}

// Release is described by store.Deliveries.
func (s *Store) Release(ctx context.Context, holder string, webhooks ...string) error {
	_, err := s.pool.Exec(ctx, `UPDATE endpoint e SET holder = NULL, held_until = NULL FROM `+heldInOrder+`
		WHERE e.webhook = h.webhook AND e.holder = $1`, holder, webhooks)
	if err != nil {
		return failed("giving webhooks back", err)
	}
	return nil
}
