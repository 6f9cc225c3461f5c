package transfer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

const (
	// MaxLine bounds a line of an import, in bytes.
	MaxLine = 1 << 20
	// MaxPositionLine is MaxLine for positions: a notice may have thousands of trades.
	MaxPositionLine = 8 << 20
)

const (
	batchRecords = 1000    // in one transaction: short enough for other writers to get a turn
	batchBytes   = 4 << 20 // and bytes
)

// ErrBlocked is returned by Import when the context ends while it waits for input.
var ErrBlocked = errors.New("interrupted while waiting for input")

// Imported describes an import.
type Imported struct {
	store.Outcome
	Lines int // read
	Saved int // all lines up to this one are durable
	Bad   int // lines that were not imported
}

// Importer imports JSON Lines into a store.
type Importer struct {
	DB       store.Store
	Kind     Kind
	BadLine  func(line int, err error) // is called for every line that is not imported
	Progress func(bytes int)           // is called after every line

	batch store.Batch
	bytes int // in batch
	texts textReader
	sum   Imported
}

// Import reads until the end of the input. A bad line is reported and does not
// stop it. A record that is already stored unchanged has no effect, so the
// import may be repeated. When the context ends, Import returns within two
// seconds even if the input blocks.
func (im *Importer) Import(ctx context.Context, in io.Reader) (Imported, error) {
	type result struct {
		sum Imported
		err error
	}
	ended := make(chan result, 1)
	go func() {
		err := im.read(ctx, in)
		ended <- result{im.sum, err}
	}()
	select {
	case r := <-ended:
		return r.sum, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-ended: // it was not blocked
		return r.sum, r.err
	case <-time.After(2 * time.Second):
		return Imported{}, ErrBlocked
	}
}

func (im *Importer) read(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines, im.maxLine())
		tooLong := errors.Is(err, errLineTooLong)
		if len(line) > 0 || err == nil || tooLong {
			im.sum.Lines++
			if err := im.add(ctx, line, err); err != nil {
				return err
			}
			im.Progress(len(line) + 1)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return im.flush(ctx)
		case err != nil && !tooLong:
			return errors.Join(im.flush(ctx), err)
		}
		if im.bytes += len(line); im.records() >= batchRecords || im.bytes >= batchBytes {
			if err := im.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// add adds a line to the batch, or reports it as bad. It returns errors of the
// store only.
func (im *Importer) add(ctx context.Context, line []byte, err error) error {
	if im.sum.Lines == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	line = bytes.TrimSpace(line)
	switch {
	case errors.Is(err, errLineTooLong):
		err = fault.New(fault.Invalid, "the line is longer than %d MiB", im.maxLine()>>20)
	case len(line) == 0:
		return nil
	case im.Kind == Reports && isText(line):
		var d *store.Document
		if d, err = im.texts.add(line); err == nil {
			if d == nil {
				return nil
			}
			if err = im.texts.put(ctx, im.DB, d); fault.KindOf(err) != fault.Invalid {
				return err
			}
		}
	case im.Kind == Reports:
		var r disclosure.Report
		if r, err = disclosure.ReadReport(line); err == nil {
			err = im.texts.attach(&r, line)
		}
		if err == nil {
			im.batch.Reports = append(im.batch.Reports, r)
			return nil
		}
	case im.Kind == Positions:
		var p disclosure.Position
		if p, err = disclosure.ReadPosition(line); err == nil {
			im.batch.Positions = append(im.batch.Positions, p)
			return nil
		}
	default:
		var i disclosure.Issuer
		if i, err = disclosure.ReadIssuer(line); err == nil {
			im.batch.Issuers = append(im.batch.Issuers, i)
			return nil
		}
	}
	im.sum.Bad++
	im.BadLine(im.sum.Lines, err)
	return nil
}

// records returns the number of records in the batch.
func (im *Importer) records() int {
	return len(im.batch.Reports) + len(im.batch.Issuers) + len(im.batch.Positions)
}

func (im *Importer) flush(ctx context.Context) error {
	if im.records() > 0 {
		im.batch.New = disclosure.Backfilled
		out, err := im.DB.Append(ctx, im.batch)
		if err != nil {
			return err
		}
		im.sum.Outcome = im.sum.Add(out)
		im.batch = store.Batch{
			Reports:   im.batch.Reports[:0],
			Issuers:   im.batch.Issuers[:0],
			Positions: im.batch.Positions[:0],
		}
	}
	im.sum.Saved, im.bytes = im.sum.Lines, 0
	return nil
}

var errLineTooLong = errors.New("the line is too long")

func (im *Importer) maxLine() int {
	if im.Kind == Positions {
		return MaxPositionLine
	}
	return MaxLine
}

// readLine returns the next line without its end. It skips a line that is longer than
// most, without holding it in memory, and returns errLineTooLong.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(part, []byte("\n"))) > most {
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
