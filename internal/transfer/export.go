// Package transfer exports reports and issuers as JSON Lines and imports them
// again: one object a line, in the form that disclosure reads and writes. The
// texts of documents are lines of their own, before the first report that has
// the document.
package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// Kind is what a file holds.
type Kind string

// The kinds.
const (
	Reports Kind = "reports"
	Issuers Kind = "issuers"
)

// Exported describes an export.
type Exported struct {
	Records   int   // reports or issuers
	Documents int   // texts of documents
	Seq       int64 // the newest change in it
}

// Export writes all records of a kind as of one moment, with the texts of their
// documents if asked for.
func Export(ctx context.Context, w io.Writer, db store.Store, kind Kind, documents bool) (Exported, error) {
	out := bufio.NewWriterSize(w, 64<<10)
	e := exporter{db: db, lines: json.NewEncoder(out), documents: documents, written: map[string]bool{}}
	e.lines.SetEscapeHTML(false)
	head, err := db.Current(ctx, func(c disclosure.Change) error {
		switch {
		case c.Report != nil && kind == Reports:
			return e.report(ctx, c.Report)
		case c.Issuer != nil && kind == Issuers:
			e.records++
			return e.lines.Encode(c.Issuer)
		}
		return nil
	})
	if err != nil {
		return Exported{}, err
	}
	return Exported{Records: e.records, Documents: len(e.written), Seq: head.Seq}, out.Flush()
}

type exporter struct {
	db        store.Store
	lines     *json.Encoder
	documents bool
	written   map[string]bool // hashes of documents
	records   int
}

func (e *exporter) report(ctx context.Context, r *disclosure.Report) error {
	e.records++
	if hash := r.Document.SHA256; e.documents && hash != "" && !e.written[hash] {
		d, err := e.db.Document(ctx, hash)
		switch {
		case err == nil:
			e.written[hash] = true
			for _, piece := range pieces(d) {
				if err := e.lines.Encode(textLine{piece}); err != nil {
					return err
				}
			}
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
	}
	return e.lines.Encode(r)
}
