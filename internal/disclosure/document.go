package disclosure

import (
	"strconv"
	"time"
)

// Document is the state of a report's document.
type Document struct {
	Status   DocumentStatus `json:"status"`
	Reason   string         `json:"reason,omitempty"`   // why it is not ready, to be displayed
	Link     string         `json:"link,omitempty"`     // from which it was read: the report's link may change
	SHA256   string         `json:"sha256,omitempty"`   // of its bytes; the key of its text
	Type     string         `json:"type,omitempty"`     // pdf, html or zip
	Bytes    int64          `json:"bytes,omitempty"`    // size of the file
	Pages    int            `json:"pages,omitempty"`    // number of pages
	Method   string         `json:"method,omitempty"`   // how its text was read: text, ocr, mixed or none
	Language string         `json:"language,omitempty"` // es, en…; empty if it is unknown
}

// DocumentStatus is a state of a document.
type DocumentStatus string

// The states of a document.
const (
	DocumentReady   DocumentStatus = "ready"
	DocumentPending DocumentStatus = "pending" // to be read, or to be retried
	DocumentNone    DocumentStatus = "none"    // there is none, or it was not requested
	DocumentFailed  DocumentStatus = "failed"  // reading failed for good
)

// The reasons why a document is not ready before any attempt to read it.
const (
	pageUnread   = "The report's page, which shows whether there is a document, has not been read yet."
	notFetched   = "The document waits for its turn to be read."
	noDocument   = "The report has no document of its own at the regulator."
	notRequested = "The report was loaded as history, and its document was not asked for."
)

// DocumentNow returns the state of the report's document: the recorded one, or
// else the one that follows from the other fields.
func (r *Report) DocumentNow() Document {
	waits := r.WantsDocument()
	switch {
	case r.Document.Status != "" && (!waits || r.Document.Status == DocumentPending):
		return r.Document
	case waits:
		return Document{Status: DocumentPending, Reason: notFetched}
	case r.PDFURL != "":
		return Document{Status: DocumentNone, Reason: notRequested}
	case r.EnrichedAt.IsZero() && !r.Backfilled:
		return Document{Status: DocumentPending, Reason: pageUnread}
	}
	return Document{Status: DocumentNone, Reason: noDocument}
}

// WantsDocument reports whether the document is to be read: that of a report that
// was published while the service ran, or that of history if it was requested. A
// document is read again after its link has changed.
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

// WantsSummary reports whether the document is still to be summarized. A summary
// that came with the report is kept.
func (r *Report) WantsSummary() bool {
	if r.Document.Status != DocumentReady {
		return false
	}
	if r.SummaryMethod == "" {
		return r.Summary == ""
	}
	return r.SummaryOf != r.Document.SHA256
}

// WantsRest reports whether what follows the text of a document, its summary and its
// facts, is missing: a process ended after it had stored the text. Facts that a newer
// version could find in an older document are not missing: see WantsFacts.
func (r *Report) WantsRest() bool {
	summarized := r.SummaryOf == r.Document.SHA256
	return r.WantsSummary() || r.WantsFacts(1) && !summarized
}

// ForgetDocument clears the fields that come from the document, so that merging
// the report again does not change them.
func (r *Report) ForgetDocument() {
	r.Document, r.TextReadyAt = Document{}, time.Time{}
	r.Summary = ""
	r.SummaryMethod = ""
	r.SummaryLanguage = ""
	r.SummaryOf = ""
	r.Evidence = nil
	r.SummaryReadyAt = time.Time{}
	r.SummaryEN, r.EvidenceEN = "", nil
	r.Facts = nil
	r.FactsRules = 0
	r.FactsOf = ""
	r.FactsDetail = ""
	r.FactsReadyAt = time.Time{}
}

// Evidence is a sentence of a summary and its source in the document.
type Evidence struct {
	Text  string `json:"text"`
	Page  int    `json:"page"`
	Quote string `json:"quote"` // verbatim from the document
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
