package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

const (
	importBatch = 1000    // records in one transaction: short enough for others to get a turn
	importBytes = 4 << 20 // and bytes
	maxLine     = 1 << 20 // bytes; more is not a record
)

type importCmd struct {
	storeFlag
	What string `arg:"" enum:"reports,issuers" help:"What the file holds: reports or issuers."`
	File string `arg:"" help:"The file, one JSON object a line; - reads standard input."`
}

// Run reads the file to its end, whatever single lines are like. A record that
// is there already as told changes nothing, so it may be run again at any time.
func (c *importCmd) Run(ctx context.Context, p *process) error {
	in, size, err := c.openFile(p)
	if err != nil {
		return err
	}
	defer in.Close()
	db, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer db.Close()

	im := importer{db: db, what: c.What, stderr: p.stderr, bar: newBar(p.stderr, "importing", "bytes", size, progressbar.OptionShowBytes(true))}
	if err = im.run(ctx, in); errors.Is(err, errStillReading) {
		return errors.New("interrupted; what was read before is in, and the import may be run again")
	}
	im.bar.finish()
	fmt.Fprintf(p.stdout, "%d new, %d updated, %d unchanged, %d bad\n", im.sum.New, im.sum.Updated, im.sum.Unchanged, im.bad)
	switch {
	case err != nil:
		return fmt.Errorf("stopped after line %d; what was read before is in, and the import may be run again: %w", im.saved, err)
	case im.bad > 0:
		return fault.New(fault.Invalid, "%d of %d lines were bad; the others are in", im.bad, im.line)
	}
	return db.Close()
}

func (c *importCmd) openFile(p *process) (io.ReadCloser, int64, error) {
	if c.File == "-" {
		return io.NopCloser(p.stdin), -1, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, 0, err
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

// importer carries one import through.
type importer struct {
	db     store.Store
	what   string
	stderr io.Writer
	bar    *bar

	batch store.Batch
	bytes int // in batch
	line  int // read
	saved int // durable up to this line
	bad   int
	texts texts
	sum   store.Outcome
}

var errStillReading = errors.New("still waiting for input")

// run reads until the end or until it is interrupted, which nobody who types
// into a terminal or waits for a pipe should have to wait for.
func (im *importer) run(ctx context.Context, in io.Reader) error {
	ended := make(chan error, 1)
	go func() { ended <- im.read(ctx, in) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended: // it was not waiting, and has noticed
		return err
	case <-time.After(2 * time.Second):
		return errStillReading
	}
}

func (im *importer) read(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		tooLong := errors.Is(err, errLineTooLong)
		if len(line) > 0 || err == nil || tooLong {
			im.line++
			if err := im.take(ctx, line, err); err != nil {
				return err
			}
			im.bar.add(len(line) + 1)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return im.flush(ctx)
		case err != nil && !tooLong:
			return errors.Join(im.flush(ctx), err)
		}
		if im.bytes += len(line); len(im.batch.Reports)+len(im.batch.Issuers) >= importBatch || im.bytes >= importBytes {
			if err := im.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// take adds a line to the batch, or reports it.
func (im *importer) take(ctx context.Context, line []byte, err error) error {
	if im.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	line = bytes.TrimSpace(line)
	switch {
	case errors.Is(err, errLineTooLong):
	case len(line) == 0:
		return nil
	case im.what == "reports" && isText(line):
		var d *store.Document
		if d, err = im.texts.take(line); err == nil {
			if d == nil {
				return nil
			}
			if err = im.texts.keep(ctx, im.db, d); fault.KindOf(err) != fault.Invalid {
				return err
			}
		}
	case im.what == "reports":
		var r disclosure.Report
		if r, err = disclosure.ReadReport(line); err == nil {
			err = im.texts.restore(&r, line)
		}
		if err == nil {
			im.batch.Reports = append(im.batch.Reports, r)
			return nil
		}
	default:
		var i disclosure.Issuer
		if i, err = disclosure.ReadIssuer(line); err == nil {
			im.batch.Issuers = append(im.batch.Issuers, i)
			return nil
		}
	}
	im.bad++
	im.bar.clear()
	fmt.Fprintf(im.stderr, "line %d: %v\n", im.line, err)
	return nil
}

func (im *importer) flush(ctx context.Context) error {
	if len(im.batch.Reports)+len(im.batch.Issuers) > 0 {
		im.batch.New = disclosure.Backfilled
		out, err := im.db.Append(ctx, im.batch)
		if err != nil {
			return err
		}
		im.sum = im.sum.Add(out)
		im.batch = store.Batch{Reports: im.batch.Reports[:0], Issuers: im.batch.Issuers[:0]}
	}
	im.saved, im.bytes = im.line, 0
	return nil
}

var errLineTooLong = fault.New(fault.Invalid, "the line is longer than 1 MiB")

// readLine returns the next line without its end. Of one that is too long it
// keeps nothing, and goes to its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(part, []byte("\n"))) > maxLine {
			tooLong, line = true, line[:0]
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLineTooLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}
