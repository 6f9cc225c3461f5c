package main

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// mostText bounds the text of a document in an import: more than the service
// itself keeps of any.
const mostText = 32 << 20

// texts gathers the documents of an import.
type texts struct {
	open store.Document  // of which not all has been read
	more bool            // its last page continues
	size int             // of open
	kept map[string]bool // by hash
}

// isText reports whether a line has a piece of a document's text.
func isText(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"document_text":`)) }

// take adds a line, and returns the document that is whole with it, or nil.
func (t *texts) take(line []byte) (*store.Document, error) {
	var in textLine
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil || in.Text == nil {
		return nil, fault.New(fault.Invalid, "the line is not a piece of a document's text as export writes it")
	}
	p := in.Text
	if p.Head != "" {
		t.open, t.more, t.size = store.Document{SHA256: p.SHA256, Bytes: p.Bytes, Head: p.Head}, false, len(p.Head)
	}
	t.size += len(p.Text)
	next := len(t.open.Pages) + 1
	if t.more {
		next--
	}
	switch {
	case p.SHA256 != t.open.SHA256 || p.Head == "" && p.Page != next || p.Head != "" && p.Page != 0:
		t.open = store.Document{}
		return nil, fault.New(fault.Invalid, "the pieces of a document's text must follow each other as export writes them")
	case t.size > mostText:
		t.open = store.Document{}
		return nil, fault.New(fault.Invalid, "the text of document %s is longer than 32 MiB", p.SHA256)
	case t.more:
		t.open.Pages[p.Page-1] += p.Text
	case p.Page > 0:
		t.open.Pages = append(t.open.Pages, p.Text)
	}
	if t.more = p.More; !p.Last {
		return nil, nil
	}
	whole := t.open
	t.open = store.Document{}
	whole.Parts = document.Index(whole.Pages)
	return &whole, nil
}

// keep keeps a document.
func (t *texts) keep(ctx context.Context, db store.Documents, d *store.Document) error {
	if err := db.PutDocument(ctx, *d); err != nil {
		return err
	}
	if t.kept == nil {
		t.kept = map[string]bool{}
	}
	t.kept[d.SHA256] = true
	return nil
}

// restore gives a report the document whose text came before it.
func (t *texts) restore(r *disclosure.Report, line []byte) error {
	if len(t.kept) == 0 {
		return nil
	}
	var in struct {
		Document disclosure.Document `json:"document"`
		Ready    time.Time           `json:"text_ready_at"`
	}
	if err := json.Unmarshal(line, &in); err != nil || !t.kept[in.Document.SHA256] {
		return nil // the rest of the line was read before; without a text there is no document
	}
	r.Document, r.TextReadyAt = in.Document, in.Ready
	return r.Validate()
}
