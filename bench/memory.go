package main

import (
	"database/sql"
	"time"
)

// load compares the time from start to ready with a scan of the rows.
func (b *bench) load() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	var ratios, times []float64
	for range 3 {
		scan, err := scanRows(path)
		if err != nil {
			return err
		}
		p, err := b.serve(path)
		if err != nil {
			return err
		}
		ready := time.Since(p.started)
		if err := p.stop(); err != nil {
			return err
		}
		ratios, times = append(ratios, ready.Seconds()/scan.Seconds()), append(times, ready.Seconds())
	}
	figure("load.vs_scan", median(ratios), "ratio")
	figure("load.350k", median(times), "s")
	return nil
}

func scanRows(path string) (time.Duration, error) {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	start := time.Now()
	rows, err := db.Query("SELECT seq, event, subject, occurred_at, changed, body FROM change ORDER BY seq")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			seq, at                 int64
			event, subject, changed string
			body                    []byte
		)
		if err := rows.Scan(&seq, &event, &subject, &at, &changed, &body); err != nil {
			return 0, err
		}
	}
	return time.Since(start), rows.Err()
}

// memory measures the resident memory of a process that has loaded a market and
// answered some thousand searches.
func (b *bench) memory() error {
	for _, m := range []struct {
		name string
		n    int
	}{{"memory.350k", whole}, {"memory.1M", large}} {
		path, err := b.storeOf(m.n)
		if err != nil {
			return err
		}
		p, err := b.serve(path)
		if err != nil {
			return err
		}
		if _, err := rate(p.url, searches(queries(1000)), 3*time.Second); err != nil {
			return err
		}
		bytes, err := p.memory()
		if err != nil {
			return err
		}
		figure(m.name, bytes/1e6, "MB")
		if err := p.stop(); err != nil {
			return err
		}
	}
	return nil
}
