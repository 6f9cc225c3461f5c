package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/proof"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/sqlite"
)

// appendsWithTree compares how many reports a second are appended with the hashes of
// the Merkle tree to how many are without them, on each engine. It alternates between
// two stores that differ only in that.
func (b *bench) appendsWithTree() error {
	if err := b.appendsWithTreeSQLite(); err != nil {
		return err
	}
	return b.onPostgres(func(_ string, with *postgres.Store) error {
		return b.onPostgres(func(url string, without *postgres.Store) error {
			return b.compareAppends("postgres", with, without, func() error {
				conn, err := pgx.Connect(b.ctx, url)
				if err != nil {
					return err
				}
				defer conn.Close(b.ctx)
				_, err = conn.Exec(b.ctx, withoutTree)
				return err
			})
		})
	})
}

func (b *bench) appendsWithTreeSQLite() error {
	var stores [2]*sqlite.Store
	var path string
	for n := range stores {
		var err error
		if path, err = b.scratch(fmt.Sprintf("tree-%d.db", n)); err != nil {
			return err
		}
		if stores[n], err = sqlite.Open(b.ctx, path, sqlite.Options{Create: true}); err != nil {
			return err
		}
		defer b.scratch(fmt.Sprintf("tree-%d.db", n))
		defer stores[n].Close()
	}
	return b.compareAppends("sqlite", stores[0], stores[1], func() error {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(b.ctx, withoutTree)
		return errors.Join(err, db.Close())
	})
}

// withoutTree makes the log look as if an earlier change had no hash, so that appends
// write none.
const withoutTree = `UPDATE log_head SET leaves = leaves - 1`

// compareAppends alternates between two stores. exclude ends the hashes of the second,
// once it has a change.
func (b *bench) compareAppends(engine string, with, without store.Store, exclude func() error) error {
	source := make([]func() (disclosure.Report, bool), 2)
	for n := range source {
		next, stop := iter.Pull(market.New(seed).Bulk(1_000_000, until))
		defer stop()
		source[n] = next
	}
	if _, err := appendFor(b.ctx, without, source[1], 1, 0); err != nil {
		return err
	}
	if _, err := appendFor(b.ctx, with, source[0], 1, 0); err != nil {
		return err
	}
	if err := exclude(); err != nil {
		return err
	}
	for _, size := range []int{1, 100} {
		const rounds = 40
		var ratios []float64
		var rate float64
		for range rounds {
			on, err := appendFor(b.ctx, with, source[0], size, 200*time.Millisecond)
			if err != nil {
				return err
			}
			off, err := appendFor(b.ctx, without, source[1], size, 200*time.Millisecond)
			if err != nil {
				return err
			}
			ratios, rate = append(ratios, on/off), rate+on/rounds
		}
		name := fmt.Sprintf("append.with_tree.%s.batch_%d", engine, size)
		figure(name, median(ratios), "ratio")
		figure(name+".rate", rate, "reports/s")
	}
	return nil
}

// appendFor appends batches for some time, at least one, and returns the reports a
// second.
func appendFor(ctx context.Context, db store.Store, next func() (disclosure.Report, bool), size int, lasts time.Duration) (float64, error) {
	began, written := time.Now(), 0
	for written == 0 || time.Since(began) < lasts {
		var batch []disclosure.Report
		for range size {
			r, ok := next()
			if !ok {
				return 0, fmt.Errorf("too few reports were generated")
			}
			batch = append(batch, r)
		}
		if _, err := db.Append(ctx, store.Batch{Reports: batch, New: disclosure.Published}); err != nil {
			return 0, err
		}
		written += size
	}
	return float64(written) / time.Since(began).Seconds(), nil
}

// proofs measures how long the proof of a report takes over HTTP at 350,000 reports,
// relative to the report itself, and in the library.
func (b *bench) proofs() error {
	p, err := b.serveMarket(whole)
	if err != nil {
		return err
	}
	defer p.stop()
	var proven, plain [][]byte
	n := 0
	for r := range market.New(seed).Bulk(whole, until) {
		if n++; n%350 == 0 {
			proven = append(proven, request("/api/v1/reports/"+r.ID+"/proof"))
			plain = append(plain, request("/api/v1/reports/"+r.ID))
		}
	}
	for name, requests := range map[string][][]byte{"proof": proven, "report": plain} {
		if _, err := latencies(p.url, requests, 1); err != nil { // to warm up
			return err
		}
		took, err := latencies(p.url, requests, 3)
		if err != nil {
			return err
		}
		if name == "report" {
			figure("proof.report.p50", 1e3*percentile(took, 0.5), "ms")
			continue
		}
		figure("proof.p50", 1e3*percentile(took, 0.5), "ms")
		figure("proof.p99", 1e3*percentile(took, 0.99), "ms")
	}
	return proofInLibrary()
}

// proofInLibrary measures making and checking an audit path in a tree of the same size.
func proofInLibrary() error {
	var tree proof.Tree
	leaf := make([]byte, 1000)
	for n := range int64(whole) {
		leaf[0], leaf[1], leaf[2] = byte(n), byte(n>>8), byte(n>>16)
		tree.Append(tlog.RecordHash(leaf))
	}
	root, err := tree.Root(whole)
	if err != nil {
		return err
	}
	var making, checking []time.Duration
	for n := int64(0); n < whole; n += 350 {
		leaf[0], leaf[1], leaf[2] = byte(n), byte(n>>8), byte(n>>16)
		start := time.Now()
		path, err := tree.Prove(n, whole)
		if err != nil {
			return err
		}
		made := time.Now()
		if err := tlog.CheckRecord(path, whole, root, n, tlog.RecordHash(leaf)); err != nil {
			return err
		}
		making, checking = append(making, made.Sub(start)), append(checking, time.Since(made))
	}
	slices.Sort(making)
	slices.Sort(checking)
	figure("proof.library.p50", 1e6*percentile(making, 0.5), "µs")
	figure("proof.check.p50", 1e6*percentile(checking, 0.5), "µs")
	return nil
}
