package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// readsDuringIngest compares the slowest searches with and without an ingest of a
// thousand reports a second.
func (b *bench) readsDuringIngest() error {
	path, err := b.copyStore(whole)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	p, err := b.serve(path)
	if err != nil {
		return err
	}
	defer p.stop()
	requests := searches(queries(1000))
	if _, err := latencies(p.url, requests, 1); err != nil { // warm up
		return err
	}
	var ratios []float64
	for round := range 3 {
		quiet, err := latencies(p.url, requests, 4)
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(b.ctx)
		ended := make(chan error, 1)
		go func() { ended <- flood(ctx, path, round) }()
		busy, err := latencies(p.url, requests, 4)
		stop()
		if err == nil {
			err = <-ended
		}
		if err != nil {
			return err
		}
		ratios = append(ratios, percentile(busy, 0.99)/percentile(quiet, 0.99))
	}
	figure("reads.during.ingest", median(ratios), "ratio")
	return nil
}

// flood appends a thousand new reports a second until the context ends.
func flood(ctx context.Context, path string, round int) error {
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	const each = 20
	tick := time.NewTicker(time.Second * each / 1000)
	defer tick.Stop()
	var batch []disclosure.Report
	number := int64(10_000_000 * (round + 1))
	for r := range market.New(seed+1).Bulk(100_000, until) {
		number++
		r.Number, r.ID = number, disclosure.ReportID(r.Type, number)
		r.PublishedAt = time.Now().UTC()
		if batch = append(batch, r); len(batch) < each {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if _, err := db.Append(context.WithoutCancel(ctx), store.Batch{Reports: batch, New: disclosure.Published}); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return fmt.Errorf("the flood ended early")
}

func (b *bench) copyStore(n int) (string, error) {
	path, err := b.storeOf(n)
	if err != nil {
		return "", err
	}
	from, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer from.Close()
	copied := filepath.Join(b.dir, "scratch.db")
	for _, old := range []string{copied + "-wal", copied + "-shm"} {
		_ = os.Remove(old)
	}
	to, err := os.Create(copied)
	if err != nil {
		return "", err
	}
	defer to.Close()
	_, err = io.Copy(to, from)
	return copied, err
}
