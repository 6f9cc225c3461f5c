package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/schollz/progressbar/v3"

	"pregon/internal/cli"
	"pregon/internal/fault"
	"pregon/internal/transfer"
)

type importCmd struct {
	newStoreFlags
	What string `arg:"" enum:"reports,issuers,positions" help:"What the file holds: reports, issuers or positions."`
	File string `arg:"" help:"The file, one JSON object a line, compressed if its name ends in .zst; - reads standard input."`
}

// Run imports the file and prints how many records it changed.
func (c *importCmd) Run(ctx context.Context, p *process) error {
	in, size, err := c.openFile(p)
	if err != nil {
		return err
	}
	defer in.Close()
	db, err := c.openOrCreate(ctx)
	if err != nil {
		return err
	}
	defer db.Close()

	bar := cli.NewBar(p.stderr, "importing", "bytes", size, progressbar.OptionShowBytes(true))
	im := transfer.Importer{
		DB:       db,
		Kind:     transfer.Kind(c.What),
		Progress: bar.Add,
		BadLine: func(line int, err error) {
			bar.Clear()
			fmt.Fprintf(p.stderr, "line %d: %v\n", line, err)
		},
	}
	done, err := im.Import(ctx, in)
	if errors.Is(err, transfer.ErrBlocked) {
		return errors.New("interrupted; lines read before are imported, and the import may be run again")
	}
	bar.Finish()
	fmt.Fprintf(p.stdout, "%d new, %d updated, %d unchanged, %d bad\n", done.New, done.Updated, done.Unchanged,
		done.Bad)
	switch {
	case err != nil:
		return fmt.Errorf("stopped after line %d; lines up to it are imported, and the import may be run again: %w", done.Saved, err)
	case done.Bad > 0:
		return fault.New(fault.Invalid, "%d of %d lines were bad; the others are imported", done.Bad, done.Lines)
	}
	return db.Close()
}

// openFile returns the input and its size, -1 when it is not known.
func (c *importCmd) openFile(p *process) (io.ReadCloser, int64, error) {
	if c.File == "-" {
		return io.NopCloser(p.stdin), -1, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, 0, err
	}
	if strings.HasSuffix(c.File, compressedSuffix) {
		plain, err := transfer.NewDecompressor(f)
		if err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
		return twoClosers{plain, f}, -1, nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	if !info.Mode().IsRegular() {
		return f, -1, nil
	}
	return f, info.Size(), nil
}

// twoClosers is a reader that also closes what it reads from.
type twoClosers struct {
	io.ReadCloser
	inner io.Closer
}

func (c twoClosers) Close() error { return errors.Join(c.ReadCloser.Close(), c.inner.Close()) }
