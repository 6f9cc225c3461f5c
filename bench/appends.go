package main

import (
	"fmt"
	"iter"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
)

// appends measures how many reports a second one process appends to the log on
// PostgreSQL with durable commits: one in each transaction, and a hundred.
func (b *bench) appends() error { return b.onPostgres(b.appendTo) }

func (b *bench) appendTo(_ string, db *postgres.Store) error {
	next, stop := iter.Pull(market.New(seed).Bulk(1_000_000, until))
	defer stop()
	for _, size := range []int{1, 100} {
		const lasts = 5 * time.Second
		began, written := time.Now(), 0
		for time.Since(began) < lasts {
			var batch []disclosure.Report
			for range size {
				r, ok := next()
				if !ok {
					return fmt.Errorf("too few reports were generated")
				}
				batch = append(batch, r)
			}
			if _, err := db.Append(b.ctx, store.Batch{Reports: batch, New: disclosure.Published}); err != nil {
				return err
			}
			written += size
		}
		figure(fmt.Sprintf("replicas.appends.batch_%d", size), float64(written)/time.Since(began).Seconds(), "reports/s")
	}
	return nil
}
