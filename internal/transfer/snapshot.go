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
// reports and positions are in files, as compressed JSON Lines, so that memory does not
// grow with their number, and so that the transaction that reads them ends before anything
// is written for a slow reader.
type Snapshot struct {
	Head      disclosure.Head
	AsOf      time.Time // of the newest change; zero if there is none
	Reports   int
	Positions int
	Issuers   []*disclosure.Issuer

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

// NewCompressor returns a writer of zstd that uses one goroutine. Nothing becomes a file
// that other programs can read too, not an empty one.
func NewCompressor(w io.Writer) (*zstd.Encoder, error) {
	return zstd.NewWriter(w,
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithZeroFrames(true),
	)
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

// Files are where Take writes the records that a Snapshot does not hold, as compressed
// JSON Lines. Those of a nil file are only counted.
type Files struct {
	Reports   io.Writer
	Positions io.Writer
}

// Take reads a snapshot.
func Take(ctx context.Context, db store.Log, files Files, step Step) (*Snapshot, error) {
	s := &Snapshot{}
	reports, err := newLineFile(files.Reports)
	if err != nil {
		return nil, err
	}
	positions, err := newLineFile(files.Positions)
	if err != nil {
		return nil, err
	}
	records := 0
	s.Head, err = db.Current(ctx, func(c disclosure.Change) error {
		var err error
		switch c.Of() {
		case disclosure.OfReport:
			s.Reports++
			err = reports.write(c.Report)
		case disclosure.OfPosition:
			s.Positions++
			err = positions.write(unsealed(c.Position))
		case disclosure.OfIssuer:
			s.Issuers = append(s.Issuers, c.Issuer)
		}
		if err != nil {
			return err
		}
		s.AsOf = c.OccurredAt // in order of seq
		records++
		return step.at(records)
	})
	if err = errors.Join(err, reports.close(), positions.close()); err != nil {
		return nil, err
	}
	searchable := make([]*search.Issuer, len(s.Issuers))
	for i, issuer := range s.Issuers {
		searchable[i] = search.NewIssuer(issuer)
	}
	s.directory = search.NewDirectory(searchable)
	return s, nil
}

// unsealed returns a position without its seal, which has a meaning only in the log of its
// store.
func unsealed(p *disclosure.Position) *disclosure.Position {
	out := *p
	out.Erased = p.NameErased()
	out.Sealed = ""
	return &out
}

// lineFile writes compressed JSON Lines. A zero lineFile drops them.
type lineFile struct {
	out   *zstd.Encoder
	lines *json.Encoder
}

func newLineFile(w io.Writer) (f lineFile, err error) {
	if w == nil {
		return f, nil
	}
	f.out, err = NewCompressor(w)
	if err == nil {
		f.lines = newLines(f.out)
	}
	return f, err
}

func (f lineFile) write(record any) error {
	if f.lines == nil {
		return nil
	}
	return f.lines.Encode(record)
}

func (f lineFile) close() error {
	if f.out == nil {
		return nil
	}
	return f.out.Close()
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

// issuerIDs returns the identifiers that let a filter find the issuers in a list: see
// search.SplitIssuers.
func (s *Snapshot) issuerIDs(list string) (string, error) {
	names := s.issuerNames(list)
	if len(names) > disclosure.MaxIssuers {
		return "", fault.New(fault.Invalid, "There are %d issuers, and may be %d at most.", len(names), disclosure.MaxIssuers)
	}
	ids := make([]string, len(names))
	for i, name := range names {
		var err error
		if ids[i], err = s.issuerID(name); err != nil {
			return "", err
		}
	}
	return disclosure.JoinIssuers(ids), nil
}

func (s *Snapshot) issuerNames(list string) []string {
	return search.SplitIssuers(list, func(name string) bool { return len(s.directory.Lookup(name)) > 0 })
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
