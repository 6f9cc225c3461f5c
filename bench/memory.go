package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// load compares the time from start to ready with a scan of the rows: when the catalogue is
// built from the log, and when it is opened.
func (b *bench) load() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	for _, each := range []struct {
		name  string
		saved bool
	}{{"load", false}, {"start", true}} {
		var ratios, times, processor, first []float64
		for range 3 {
			scan, err := scanRows(path)
			if err != nil {
				return err
			}
			t, err := b.timeStart(path, each.saved)
			if err != nil {
				return err
			}
			ratios = append(ratios, t.ready.Seconds()/scan.Seconds())
			times = append(times, t.ready.Seconds())
			processor = append(processor, t.processor.Seconds())
			first = append(first, t.search.Seconds())
		}
		figure(each.name+".vs_scan", median(ratios), "ratio")
		figure(each.name+".350k", median(times), "s")
		figure(each.name+".processor.350k", median(processor), "s")
		figure(each.name+".search", 1000*median(first), "ms")
	}
	if path, err = b.storeOf(large); err != nil {
		return err
	}
	t, err := b.timeStart(path, true)
	if err != nil {
		return err
	}
	figure("start.1M", t.ready.Seconds(), "s")
	figure("start.processor.1M", t.processor.Seconds(), "s")
	return nil
}

// starting is how long parts of a start took.
type starting struct {
	ready     time.Duration
	processor time.Duration // used until then
	search    time.Duration // the first search after it
}

// timeStart measures a start with or without a saved catalogue.
func (b *bench) timeStart(path string, saved bool) (t starting, err error) {
	if saved {
		err = b.saveCatalogue(path)
	} else {
		err = removeCatalogue(path)
	}
	if err != nil {
		return t, err
	}
	p, err := b.serve(path)
	if err != nil {
		return t, err
	}
	t.ready = time.Since(p.started)
	if t.processor, err = p.busy(); err != nil {
		return t, errors.Join(err, p.stop())
	}
	c, err := dial(p.url)
	if err != nil {
		return t, errors.Join(err, p.stop())
	}
	began := time.Now()
	_, err = c.get(request("/api/v1/reports?search=dividendo+banco"))
	t.search = time.Since(began)
	return t, errors.Join(err, p.stop())
}

// saveCatalogue has the catalogue of a store saved, unless it is.
func (b *bench) saveCatalogue(path string) error {
	if _, err := os.Stat(path + ".catalogue"); err == nil {
		return nil
	}
	p, err := b.serve(path)
	if err != nil {
		return err
	}
	for range 600 {
		if _, err = os.Stat(path + ".catalogue"); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.Join(err, p.stop())
}

func removeCatalogue(path string) error {
	found, err := filepath.Glob(path + ".catalogue*")
	for _, name := range found {
		err = errors.Join(err, os.Remove(name))
	}
	return err
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

// memory measures the resident memory of a process that has opened a market and
// answered some thousand searches: its own, and the pages of files, which processes share
// and the system may reclaim.
func (b *bench) memory() error {
	for _, m := range []struct {
		name string
		n    int
	}{{"memory.350k", whole}, {"memory.1M", large}} {
		path, err := b.storeOf(m.n)
		if err != nil {
			return err
		}
		if err := b.saveCatalogue(path); err != nil {
			return err
		}
		p, err := b.serve(path)
		if err != nil {
			return err
		}
		if _, err := rate(p.url, searches(queries(1000)), 3*time.Second); err != nil {
			return err
		}
		own, err := p.memoryIn("RssAnon")
		if err != nil {
			return err
		}
		files, err := p.memoryIn("RssFile")
		if err != nil {
			return err
		}
		figure(m.name, own/1e6, "MB")
		figure(m.name+".files", files/1e6, "MB")
		if err := p.stop(); err != nil {
			return err
		}
	}
	return nil
}
