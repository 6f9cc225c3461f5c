package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// whileSnapshot compares the slowest searches while a snapshot for /api/v1/bulk is made
// to those of the same process after it was made. The first one is made at the start. A
// snapshot gives way to requests, so that it is not ready before the measurement ends:
// the time that it then takes alone is a figure too.
func (b *bench) whileSnapshot() error {
	path, err := b.storeOf(whole)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-bulk-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := b.serve(path, "--bulk", "keys", "--bulk-dir", dir)
	if err != nil {
		return err
	}
	defer p.stop()
	requests := searches(queries(1000))
	if _, err := latencies(p.url, requests, 1); err != nil { // warm up
		return err
	}
	if err := awaitFiles(dir, ".making-*", "2*/manifest.json"); err != nil {
		return err
	}
	var beside []float64
	for range rounds {
		slowest, err := latencies(p.url, requests, 4)
		if err != nil {
			return err
		}
		if making, _ := filepath.Glob(filepath.Join(dir, ".making-*")); making == nil {
			if beside == nil {
				return errors.New("the snapshot was made before anything was measured")
			}
			fmt.Fprintf(os.Stderr, "# the snapshot was made after %d rounds\n", len(beside))
			break
		}
		beside = append(beside, percentile(slowest, 0.99))
	}
	start := time.Now()
	if err := awaitFiles(dir, "2*/manifest.json"); err != nil {
		return err
	}
	figure("bulk.rest", time.Since(start).Seconds(), "s")
	var alone []float64
	for range rounds {
		slowest, err := latencies(p.url, requests, 4)
		if err != nil {
			return err
		}
		alone = append(alone, percentile(slowest, 0.99))
	}
	figure("bulk.p99.beside", 1000*median(beside), "ms")
	figure("bulk.p99.alone", 1000*median(alone), "ms")
	figure("bulk.p99", median(beside)/median(alone), "ratio")
	return nil
}

// awaitFiles waits until a file of a directory matches one of some patterns.
func awaitFiles(dir string, patterns ...string) error {
	for range 60_000 {
		for _, pattern := range patterns {
			if found, _ := filepath.Glob(filepath.Join(dir, pattern)); found != nil {
				return nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("no file %s after ten minutes", patterns)
}
