package main

import (
	"os"
	"path/filepath"
	"time"
)

// imports returns how fast reports are written, in batches as `pregon import`
// does, relative to nothing: it is there to be watched.
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
