package main

import (
	"os"
	"path/filepath"
	"time"
)

// imports measures how fast reports are written, in batches as `pregon import`
// does. It is not a ratio, and serves to detect regressions.
func (b *bench) imports() error {
	dir, err := os.MkdirTemp(b.dir, "import-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	start := time.Now()
	if err := fill(b.ctx, filepath.Join(dir, "p.db"), 50_000); err != nil {
		return err
	}
	figure("import.sqlite", 50_000/time.Since(start).Seconds(), "filings/s")
	return nil
}
