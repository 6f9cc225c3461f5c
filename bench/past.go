package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// The store of the group past: so many reports, of which some have changed since.
const (
	pastReports = 100_000
	pastChanged = 19_000
)

const (
	pastTime   = 30 * time.Second
	pastFlood  = 8 // requests of the flooding address at the same time
	pastMinute = 60
)

// past measures how long another caller waits for a list as of a point, and for a plain
// list, while one address asks for lists as of a new point with each of the requests
// that it has in a minute. So each of its requests has a state built.
func (b *bench) past() error {
	path, points, err := b.changedStore()
	if err != nil {
		return err
	}
	p, err := b.serve(path, "--trusted-proxy", "127.0.0.1", "--anonymous-limit", fmt.Sprint(pastMinute))
	if err != nil {
		return err
	}
	defer p.stop()
	key, err := b.key("sqlite:" + path)
	if err != nil {
		return err
	}
	ask := func(path string, header ...string) (time.Duration, int, error) { return timed(p.url+path, header...) }
	for { // the first one also reads the outline of the log
		_, status, err := ask(fmt.Sprintf("/api/v1/reports?as_of=%d", points-1), "X-API-Key", key)
		if err != nil {
			return err
		}
		if status == http.StatusOK {
			break
		}
	}
	before, err := p.busy()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(b.ctx, pastTime)
	defer cancel()
	var next, answered atomic.Int64
	next.Store(points - 100)
	point := func() string { return fmt.Sprintf("/api/v1/reports?as_of=%d", next.Add(-7)) }
	var group sync.WaitGroup
	defer group.Wait()
	for range pastFlood {
		group.Go(func() {
			for ctx.Err() == nil {
				_, status, err := ask(point(), "X-Forwarded-For", "203.0.113.1")
				switch {
				case err == nil && status == http.StatusOK:
					answered.Add(1)
				case status == http.StatusTooManyRequests:
					time.Sleep(100 * time.Millisecond) // the address has used up its minute, or its slots
				}
			}
		})
	}
	var asOf, list []time.Duration
	refused := 0
	for i := 0; ctx.Err() == nil; i++ {
		took, status, err := ask("/api/v1/reports", "X-API-Key", key)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("a plain list has the status %d", status)
		}
		list = append(list, took)
		if i%10 == 0 {
			took, status, err := ask(point(), "X-API-Key", key)
			if err != nil {
				return err
			}
			if status != http.StatusOK {
				refused++
			}
			asOf = append(asOf, took)
		}
		time.Sleep(50 * time.Millisecond)
	}
	group.Wait()
	after, err := p.busy()
	if err != nil {
		return err
	}
	states := float64(answered.Load()) + float64(len(asOf)-refused)
	slices.Sort(list)
	slices.Sort(asOf)
	figure("past.list.p99", percentile(list, 0.99)*1e3, "ms")
	figure("past.as_of.p50", percentile(asOf, 0.5)*1e3, "ms")
	figure("past.as_of.p99", percentile(asOf, 0.99)*1e3, "ms")
	figure("past.as_of.refused", float64(refused)/float64(len(asOf)), "ratio")
	figure("past.state.processor", (after-before).Seconds()*1e3/max(states, 1), "ms")
	fmt.Fprintf(os.Stderr, "# the flooding address had %d answers, the other caller asked %d times\n", answered.Load(), len(asOf))
	return nil
}

// timed sends a request and returns how long it took, with its body.
func timed(address string, header ...string) (time.Duration, int, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return 0, 0, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	start := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return time.Since(start), resp.StatusCode, err
}

// changedStore returns the path of a store some of whose reports have changed, and the
// seq before the first of these changes. It creates the store if it does not exist.
func (b *bench) changedStore() (path string, seq int64, err error) {
	path = filepath.Join(b.dir, fmt.Sprintf("changed-%d-%d.db", pastReports, pastChanged))
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		making := path + ".making"
		for _, old := range []string{making, making + "-wal", making + "-shm"} {
			_ = os.Remove(old)
		}
		if err = fillChanged(b.ctx, making); err == nil {
			err = os.Rename(making, path)
		}
	}
	if err != nil {
		return "", 0, err
	}
	db, err := sqlite.Open(b.ctx, path, sqlite.Options{})
	if err != nil {
		return "", 0, err
	}
	defer db.Close()
	head, err := db.Head(b.ctx)
	return path, head.Seq - pastChanged, err
}

// fillChanged fills a new store, and then changes the titles of some reports.
func fillChanged(ctx context.Context, path string) error {
	if err := fill(ctx, path, pastReports); err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	n := 0
	var batch []disclosure.Report
	for r := range market.New(seed).Bulk(pastReports, until) {
		if n++; n%5 > 0 || n/5 > pastChanged {
			continue
		}
		r.Title += " (rectificación)"
		batch = append(batch, r)
		if len(batch) == 1000 {
			if _, err := db.Append(ctx, store.Batch{Reports: batch}); err != nil {
				return err
			}
			batch = nil
		}
	}
	return db.Close()
}
