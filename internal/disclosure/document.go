package disclosure

import (
	"slices"
	"strconv"
	"time"
)

// Document is what became of a report's document.
type Document struct {
	Status   DocumentStatus `json:"status"`
	Reason   string         `json:"reason,omitempty"`   // why it is not ready, for people
	Link     string         `json:"link,omitempty"`     // that it was read from: the report's link may change
	SHA256   string         `json:"sha256,omitempty"`   // of its bytes; its text is kept under it
	Type     string         `json:"type,omitempty"`     // pdf, html or zip
	Bytes    int64          `json:"bytes,omitempty"`    // how large it is
	Pages    int            `json:"pages,omitempty"`    // how many it has
	Method   string         `json:"method,omitempty"`   // how its text was got: text, ocr, mixed or none
	Language string         `json:"language,omitempty"` // es, en…; empty when it cannot be told
}

// DocumentStatus is how far a document is.
type DocumentStatus string

// The states of a document.
const (
	DocumentReady   DocumentStatus = "ready"
	DocumentPending DocumentStatus = "pending" // to be read, or to be tried again
	DocumentNone    DocumentStatus = "none"    // there is none, or nobody asked for it
	DocumentFailed  DocumentStatus = "failed"  // given up
)

// The reasons for which a document is not ready while nobody has tried.
const (
	notLookedAt  = "The report's page has not been read yet: it tells whether there is a document."
	notFetched   = "The document waits for its turn to be read."
	noDocument   = "The report has no document of its own at the regulator."
	ofTheHistory = "The report was loaded as history, and its document was not asked for."
)

// DocumentNow returns what there is to say of the report's document at any
// time: what was noted of it, or else what follows from the rest.
func (r *Report) DocumentNow() Document {
	waits := r.WantsDocument()
	switch {
	case r.Document.Status != "" && (!waits || r.Document.Status == DocumentPending):
		return r.Document
	case waits:
		return Document{Status: DocumentPending, Reason: notFetched}
	case r.PDFURL != "":
		return Document{Status: DocumentNone, Reason: ofTheHistory}
	case r.EnrichedAt.IsZero() && !r.Backfilled:
		return Document{Status: DocumentPending, Reason: notLookedAt}
	}
	return Document{Status: DocumentNone, Reason: noDocument}
}

// WantsDocument reports whether the document is to be read: that of a report
// which was published while we looked, and that of history which somebody asked
// for. One that was read from a link which has changed since is read again.
func (r *Report) WantsDocument() bool {
	switch r.Document.Status {
	case "":
		return r.PDFURL != "" && !r.Backfilled
	case DocumentPending:
		return r.PDFURL != ""
	case DocumentReady, DocumentFailed:
		return r.PDFURL != "" && r.PDFURL != r.Document.Link
	}
	return false
}

// WantsSummary reports whether nobody has tried yet to sum the document up. A
// summary that came with the report is left alone.
func (r *Report) WantsSummary() bool {
	if r.Document.Status != DocumentReady {
		return false
	}
	if r.SummaryMethod == "" {
		return r.Summary == ""
	}
	return r.SummaryOf != r.Document.SHA256
}

// ForgetDocument leaves out what was read in the document, so that a report
// which is told once more says nothing of it.
func (r *Report) ForgetDocument() {
	r.Document, r.TextReadyAt = Document{}, time.Time{}
	r.Summary, r.SummaryMethod, r.SummaryOf, r.Evidence, r.SummaryReadyAt = "", "", "", nil, time.Time{}
}

// Evidence is a sentence of a summary, and what it rests on.
type Evidence struct {
	Text  string `json:"text"`
	Page  int    `json:"page"`
	Quote string `json:"quote"` // verbatim from the document
}

// document takes what was told of the document, and of its summary, each as a
// whole. A summary that we made goes with its document: that of another one is
// neither kept nor taken.
func (m *merge) document(r *Report, told Report) {
	if told.Document.Status != "" && told.Document != r.Document {
		r.Document = told.Document
		m.changed = append(m.changed, "document")
		if r.SummaryMethod != "" && r.SummaryOf != r.Document.SHA256 {
			m.summary(r, Report{})
		}
	}
	m.clock("text_ready_at", &r.TextReadyAt, told.TextReadyAt)
	switch {
	case told.SummaryMethod == "":
		if told.Summary != "" && told.Summary != r.Summary {
			m.summary(r, told)
		}
	case told.SummaryOf == r.Document.SHA256 || r.Document.Status == "":
		m.summary(r, told)
		m.clock("summary_ready_at", &r.SummaryReadyAt, told.SummaryReadyAt)
	}
}

// summary takes a summary with all that belongs to it.
func (m *merge) summary(r *Report, told Report) {
	if told.Summary != r.Summary {
		m.changed = append(m.changed, "summary")
	}
	if told.SummaryMethod != r.SummaryMethod {
		m.changed = append(m.changed, "summary_method")
	}
	if !slices.Equal(told.Evidence, r.Evidence) {
		m.changed = append(m.changed, "evidence")
	}
	r.Summary, r.SummaryMethod, r.SummaryOf, r.Evidence = told.Summary, told.SummaryMethod, told.SummaryOf, told.Evidence
}

func (d *Document) validate(bad *problems) {
	switch d.Status {
	case "", DocumentReady, DocumentPending, DocumentNone, DocumentFailed:
	default:
		bad.add("document", string(d.Status), "use ready, pending, none or failed")
	}
	bad.text("document", d.Reason, false)
	bad.link("document", d.Link)
}

func (e *Evidence) validate(bad *problems) {
	bad.text("evidence", e.Text, true)
	bad.text("evidence", e.Quote, true)
	if e.Page < 1 {
		bad.add("evidence", strconv.Itoa(e.Page), "must be a page, from 1")
	}
}
