package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/text"
)

type exportCmd struct {
	storeFlag
	What      string `arg:"" enum:"reports,issuers" help:"What to write: reports or issuers."`
	Documents bool   `help:"With reports: write the texts of their documents too, each before the first report that has it."`
}

// Run writes everything as of one moment, in the form that import reads, and a
// summary of it on standard error.
func (c *exportCmd) Run(ctx context.Context, p *process) error {
	if c.Documents && c.What != "reports" {
		return fault.New(fault.Invalid, "--documents goes with reports: pregon export reports --documents")
	}
	db, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	defer db.Close()
	source, err := db.Source(ctx)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	ex := exporter{db: db, lines: json.NewEncoder(out), documents: c.Documents, written: map[string]bool{}}
	ex.lines.SetEscapeHTML(false)
	head, err := db.Current(ctx, func(ch disclosure.Change) error {
		switch {
		case ch.Report != nil && c.What == "reports":
			return ex.report(ctx, ch.Report)
		case ch.Issuer != nil && c.What == "issuers":
			ex.count++
			return ex.lines.Encode(ch.Issuer)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	ex.sum(p.stderr, c.What, source, head.Seq)
	return nil
}

// exporter carries one export through.
type exporter struct {
	db        store.Store
	lines     *json.Encoder
	documents bool
	written   map[string]bool // documents, by hash
	count     int
}

func (ex *exporter) report(ctx context.Context, r *disclosure.Report) error {
	ex.count++
	if sum := r.Document.SHA256; ex.documents && sum != "" && !ex.written[sum] {
		d, err := ex.db.Document(ctx, sum)
		switch {
		case err == nil:
			ex.written[sum] = true
			for _, piece := range pieces(d) {
				if err := ex.lines.Encode(textLine{piece}); err != nil {
					return err
				}
			}
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
	}
	return ex.lines.Encode(r)
}

func (ex *exporter) sum(w io.Writer, what, source string, seq int64) {
	if source == "" {
		source = "none"
	}
	fmt.Fprintf(w, "%d %s as of change %d; source: %s; ", ex.count, what, seq, source)
	switch {
	case ex.documents:
		fmt.Fprintf(w, "with the texts of %d documents; ", len(ex.written))
	case what == "reports":
		fmt.Fprint(w, "without the texts of documents (--documents); ")
	}
	fmt.Fprintln(w, "without earlier versions, original documents, keys and webhooks")
}

// textLine is a line of an export that has a part of a document's text.
type textLine struct {
	Text *textPiece `json:"document_text"`
}

// textPiece is a run of a page. The pieces of a document follow each other; the
// first has its head.
type textPiece struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes,omitempty"`
	Head   string `json:"head,omitempty"`
	Page   int    `json:"page"`           // from 1; 0 of a document without pages
	More   bool   `json:"more,omitempty"` // the page continues in the next line
	Last   bool   `json:"last,omitempty"` // the document ends
	Text   string `json:"text,omitempty"`
}

// pieceBytes is how much text is in a line: even written as escapes it is within
// the bound of a line.
const pieceBytes = 128 << 10

// pieces cuts a document for lines of an export.
func pieces(d store.Document) []*textPiece {
	all := []*textPiece{{SHA256: d.SHA256, Bytes: d.Bytes, Head: d.Head}}
	for i, page := range d.Pages {
		for {
			n := len(text.Prefix(page, pieceBytes))
			piece := &textPiece{SHA256: d.SHA256, Page: i + 1, Text: page[:n], More: n < len(page)}
			all = append(all, piece)
			if page = page[n:]; !piece.More {
				break
			}
		}
	}
	all[len(all)-1].Last = true
	return all
}
