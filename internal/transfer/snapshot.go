package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
)

// Snapshot is the state of a store after a change. The issuers are in memory; the
// reports are in a file, as compressed JSON Lines, so that memory does not grow with
// their number, and so that the transaction that reads them ends before anything
// is written for a slow reader.
type Snapshot struct {
	Head    disclosure.Head
	AsOf    time.Time // of the newest change; zero if there is none
	Reports int
	Issuers []*disclosure.Issuer

	directory *search.Directory
}

// stepRows is the number of records between two calls of a step function, which take
// about a millisecond.
const stepRows = 20

// Step is called from time to time with the number of records so far. An error ends
// the operation.
type Step func(records int) error

func (s Step) at(records int) error {
	if s == nil || records%stepRows != 0 {
		return nil
	}
	return s(records)
}

// NewCompressor returns a writer of zstd that uses one goroutine.
func NewCompressor(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
}

// maxWindow bounds the memory of reading a compressed file.
const maxWindow = 64 << 20

// NewDecompressor returns a reader of zstd.
func NewDecompressor(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// Take reads a snapshot and writes its reports as compressed JSON Lines, unless
// reports is nil.
func Take(ctx context.Context, db store.Log, reports io.Writer, step Step) (*Snapshot, error) {
	s := &Snapshot{}
	records := 0
	write := func(*disclosure.Report) error { return nil }
	finish := func() error { return nil }
	if reports != nil {
		out, err := NewCompressor(reports)
		if err != nil {
			return nil, err
		}
		lines := newLines(out)
		write, finish = func(r *disclosure.Report) error { return lines.Encode(r) }, out.Close
	}
	var err error
	s.Head, err = db.Current(ctx, func(c disclosure.Change) error {
		switch c.Of() {
		case disclosure.OfReport:
			s.Reports++
			if err := write(c.Report); err != nil {
				return err
			}
		case disclosure.OfIssuer:
			s.Issuers = append(s.Issuers, c.Issuer)
		}
		s.AsOf = c.OccurredAt // in order of seq
		records++
		return step.at(records)
	})
	if err = errors.Join(err, finish()); err != nil {
		return nil, err
	}
	searchable := make([]*search.Issuer, len(s.Issuers))
	for i, issuer := range s.Issuers {
		searchable[i] = search.NewIssuer(issuer)
	}
	s.directory = search.NewDirectory(searchable)
	return s, nil
}

func newLines(w io.Writer) *json.Encoder {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return lines
}

// eachLine passes the lines of a file that Take wrote to fn.
func eachLine(compressed io.Reader, fn func(line []byte) error) error {
	plain, err := NewDecompressor(compressed)
	if err != nil {
		return err
	}
	defer plain.Close()
	for lines := bufio.NewReaderSize(plain, 64<<10); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(line); err != nil {
			return err
		}
	}
}

// issuerID returns the identifier by which a filter finds an issuer, which may be
// given by any identifier, its ticker or its name. One that is not in the directory may be
// in reports.
func (s *Snapshot) issuerID(name string) (string, error) {
	if len(s.directory.Lookup(name)) == 0 {
		return name, nil
	}
	e, unresolved := s.directory.Resolve(name)
	if unresolved != nil {
		return "", fault.New(fault.Invalid, "%s", unresolved.Sentence)
	}
	return e.Issuer.ID, nil
}
