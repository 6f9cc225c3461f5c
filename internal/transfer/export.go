// Package transfer exports reports, issuers and positions, and imports them again.
//
// JSON Lines are one object a line, in the form that disclosure reads and writes;
// only they can be imported. The texts of documents are lines of their own, before
// the first report that has the document. CSV and Parquet are tables for other
// programs, with the columns of the API.
package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/store"
)

// Kind is what a file holds.
type Kind string

// The kinds.
const (
	Reports   Kind = "reports"
	Issuers   Kind = "issuers"
	Positions Kind = "positions"
)

// Kinds are all kinds.
var Kinds = []Kind{Reports, Issuers, Positions}

// Export describes a file to write.
type Export struct {
	Kind   Kind
	Format Format
	// Types and Filter select records as those of the API do. All types are selected
	// if there are none; Filter has none.
	Types  []disclosure.Type
	Filter disclosure.Filter
	// Texts, if set, are written with the reports that have them: JSON Lines only.
	Texts store.Documents
	// About is metadata of a Parquet file.
	About map[string]string
	Step  Step
}

// Exported describes a written file.
type Exported struct {
	Records   int // of the kind
	Documents int // texts of documents
}

// Write writes the selected records of a snapshot. Reports and positions are read from
// the file of their kind that Take wrote.
func (s *Snapshot) Write(ctx context.Context, w io.Writer, records io.Reader, e Export) (Exported, error) {
	out := bufio.NewWriterSize(w, 64<<10)
	run := &export{
		Export: e,
		ctx:    ctx,
		out:    out,
		lines:  newLines(out),
		texts:  map[string]bool{},
	}
	var err error
	if e.Filter.Issuer != "" {
		if run.Filter.Issuer, err = s.issuerIDs(e.Filter.Issuer); err != nil {
			return Exported{}, err
		}
	}
	if run.Filter != (disclosure.Filter{}) {
		run.matcher = search.Compile(run.Filter)
	}
	switch e.Kind {
	case Issuers:
		err = run.issuers(s.Issuers)
	case Positions:
		err = run.positions(s.directory, records)
	default:
		err = run.reports(s.directory, records)
	}
	if err != nil {
		return Exported{}, err
	}
	if e.Filter.Issuer != "" && run.records == 0 {
		for _, name := range s.issuerNames(e.Filter.Issuer) {
			if _, unresolved := s.directory.Resolve(name); unresolved != nil {
				return Exported{}, fault.New(fault.NotFound, "%s", unresolved.Sentence)
			}
		}
	}
	return Exported{Records: run.records, Documents: len(run.texts)}, out.Flush()
}

// export is a running export.
type export struct {
	Export
	ctx     context.Context
	out     *bufio.Writer
	lines   *json.Encoder
	matcher *search.Matcher // nil if all are selected
	texts   map[string]bool // hashes of the documents written
	records int
}

func (e *export) issuers(issuers []*disclosure.Issuer) error {
	write, end := func(i *disclosure.Issuer) error { return e.lines.Encode(i) }, func() error { return nil }
	if e.Format != JSONLines {
		t := newTable[issuerRow](e.out, e.Format, e.About)
		write, end = func(i *disclosure.Issuer) error { return t.write(newIssuerRow(i)) }, t.close
	}
	for _, i := range issuers {
		if e.matcher != nil && !e.matcher.MatchIssuer(i) {
			continue
		}
		if err := write(i); err != nil {
			return err
		}
		if err := e.count(); err != nil {
			return err
		}
	}
	return end()
}

func (e *export) reports(directory *search.Directory, compressed io.Reader) error {
	write, end := e.report, func() error { return nil }
	if e.Format != JSONLines {
		t := newTable[reportRow](e.out, e.Format, e.About)
		write, end = func(_ []byte, r *disclosure.Report) error { return t.write(newReportRow(r, directory)) }, t.close
	}
	copies := e.Format == JSONLines && e.Texts == nil && e.matcher == nil && len(e.Types) == 0
	err := eachLine(compressed, func(line []byte) error {
		if copies {
			_, err := e.out.Write(line)
			return errors.Join(err, e.count())
		}
		r, err := disclosure.DecodeReport(strings.TrimSuffix(string(line), "\n"))
		if err != nil || !e.selects(directory, r) {
			return errors.Join(err, e.ctx.Err())
		}
		if err := write(line, r); err != nil {
			return err
		}
		return e.count()
	})
	if err != nil {
		return err
	}
	return end()
}

func (e *export) positions(directory *search.Directory, compressed io.Reader) error {
	write := func(line []byte, _ *search.Position) error {
		_, err := e.out.Write(line)
		return err
	}
	end := func() error { return nil }
	if e.Format != JSONLines {
		t := newTable[positionRow](e.out, e.Format, e.About)
		write = func(_ []byte, p *search.Position) error { return t.write(newPositionRow(p)) }
		end = t.close
	}
	err := eachLine(compressed, func(line []byte) error {
		p := new(disclosure.Position)
		if err := json.Unmarshal(line, p); err != nil {
			return err
		}
		found := directory.AnalyzePosition(p)
		if e.matcher != nil && !e.matcher.MatchPosition(found) {
			return e.ctx.Err()
		}
		if err := write(line, found); err != nil {
			return err
		}
		return e.count()
	})
	if err != nil {
		return err
	}
	return end()
}

func (e *export) selects(directory *search.Directory, r *disclosure.Report) bool {
	return (len(e.Types) == 0 || slices.Contains(e.Types, r.Type)) &&
		(e.matcher == nil || e.matcher.Match(directory.Analyze(r)))
}

func (e *export) count() error {
	e.records++
	if err := e.Step.at(e.records); err != nil {
		return err
	}
	return e.ctx.Err()
}

// report writes a report as a line, after the text of its document if it is
// requested.
func (e *export) report(line []byte, r *disclosure.Report) error {
	if hash := r.Document.SHA256; e.Texts != nil && hash != "" && !e.texts[hash] {
		d, err := e.Texts.Document(e.ctx, hash)
		switch {
		case err == nil:
			e.texts[hash] = true
			for _, piece := range pieces(d) {
				if err := e.lines.Encode(textLine{piece}); err != nil {
					return err
				}
			}
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
	}
	_, err := e.out.Write(line)
	return err
}
