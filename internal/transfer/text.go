package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/text"
)

// textLine is a line with a part of a document's text.
type textLine struct {
	Text *textPiece `json:"document_text"`
}

// textPiece is a part of a page. The pieces of a document are consecutive lines;
// the first has its head.
type textPiece struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes,omitempty"`
	Head   string `json:"head,omitempty"`
	Page   int    `json:"page"`           // from 1; 0 in the line with the head
	More   bool   `json:"more,omitempty"` // the page continues in the next line
	Last   bool   `json:"last,omitempty"` // the document ends here
	Text   string `json:"text,omitempty"`
}

const (
	pieceBytes   = 128 << 10 // text in a line: escaped, it still fits into MaxLine
	maxTextBytes = 32 << 20  // text of a document: more than the service keeps of any
)

// pieces splits a document into lines of an export.
func pieces(d store.Document) []*textPiece {
	all := []*textPiece{{SHA256: d.SHA256, Bytes: d.Bytes, Head: d.Head}}
	for i, page := range d.Pages {
		for {
			n := len(text.Prefix(page, pieceBytes))
			piece := &textPiece{
				SHA256: d.SHA256,
				Page:   i + 1,
				Text:   page[:n],
				More:   n < len(page),
			}
			all = append(all, piece)
			if page = page[n:]; !piece.More {
				break
			}
		}
	}
	all[len(all)-1].Last = true
	return all
}

// textReader assembles the documents of an import.
type textReader struct {
	open store.Document  // the document being read
	more bool            // its last page continues
	size int             // of open
	kept map[string]bool // hashes of the documents stored
}

// isText reports whether a line has a piece of a document's text.
func isText(line []byte) bool { return bytes.HasPrefix(line, []byte(`{"document_text":`)) }

// add adds a line and returns the document that it completes, or nil.
func (t *textReader) add(line []byte) (*store.Document, error) {
	var in textLine
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil || in.Text == nil {
		return nil, fault.New(fault.Invalid, "the line is not a piece of a document's text as export writes it")
	}
	p := in.Text
	if p.Head != "" {
		t.open = store.Document{SHA256: p.SHA256, Bytes: p.Bytes, Head: p.Head}
		t.more = false
		t.size = len(p.Head)
	}
	t.size += len(p.Text)
	next := len(t.open.Pages) + 1
	if t.more {
		next--
	}
	expected := next
	if p.Head != "" {
		expected = 0
	}
	switch {
	case p.SHA256 != t.open.SHA256 || p.Page != expected:
		t.open = store.Document{}
		return nil, fault.New(fault.Invalid,
			"the pieces of a document's text must follow each other as export writes them")
	case t.size > maxTextBytes:
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
	whole.Index = index.Build(whole.SHA256, whole.Pages)
	return &whole, nil
}

// put stores a document.
func (t *textReader) put(ctx context.Context, db store.Documents, d *store.Document) error {
	if err := db.PutDocument(ctx, *d); err != nil {
		return err
	}
	if t.kept == nil {
		t.kept = map[string]bool{}
	}
	t.kept[d.SHA256] = true
	return nil
}

// attach sets the document of a report whose text preceded it. A report without
// such a text has no document: the service would show one that it cannot serve.
func (t *textReader) attach(r *disclosure.Report, line []byte) error {
	if len(t.kept) == 0 {
		return nil
	}
	var in struct {
		Document disclosure.Document `json:"document"`
		Ready    time.Time           `json:"text_ready_at"`
	}
	if err := json.Unmarshal(line, &in); err != nil || !t.kept[in.Document.SHA256] {
		return nil // the line itself was valid: ReadReport has read it
	}
	r.Document, r.TextReadyAt = in.Document, in.Ready
	return r.Validate()
}
