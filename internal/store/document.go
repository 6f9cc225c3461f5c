package store

import (
	"context"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// Documents are the texts of reports' documents, by the SHA-256 of a document's
// bytes, so that one that several reports link to is kept once. They are not in the
// log. The newest state of a report has the hash of its document: see
// disclosure.Report.
//
// A hash is written as 64 lower-case hex digits. Any other string is Invalid
// when a document is put, and NotFound when one is read.
type Documents interface {
	// PutDocument stores a document's text and words under its hash and replaces
	// any earlier version, all or nothing: neither a reader nor a crash ever
	// reveals a part of it.
	PutDocument(ctx context.Context, d Document) error

	// Document returns the document with a hash, without its index. It fails,
	// NotFound, when there is none.
	Document(ctx context.Context, sha256 string) (Document, error)

	// DocumentPages returns the texts of several documents' pages, by hash.
	// Documents that are not stored are left out.
	DocumentPages(ctx context.Context, sha256 ...string) (map[string][]string, error)

	// PutOriginal stores bytes under their hash, all or nothing: those of a document,
	// or the evidence of facts (disclosure.Report.FactsDetail). Bytes that are stored
	// under the hash already are left alone, since other bytes have another hash.
	PutOriginal(ctx context.Context, sha256 string, body []byte) error

	// Original returns the bytes with a hash. It fails, NotFound, when they are
	// not stored.
	Original(ctx context.Context, sha256 string) ([]byte, error)

	// KeepDocument prevents RemoveDocuments from removing a document for another
	// grace period. The caller is about to refer to it. It does nothing if the
	// document is not stored.
	KeepDocument(ctx context.Context, sha256 string) error

	// RemoveDocuments removes the texts of documents that no report has referred to
	// for the grace period, since the first call that found them so. It does so in
	// small steps: more reports whether there may be others. Bytes stay.
	RemoveDocuments(ctx context.Context, grace time.Duration) (removed int, more bool, err error)
}

// Document is the text of a document, and the index of its words. Bytes that are
// not valid text are replaced.
type Document struct {
	SHA256 string
	Bytes  int64
	Head   string   // JSON of the document reader, kept byte for byte
	Pages  []string // may be empty strings
	Index  Segment  // of this document alone; not read back
}

// IsHash reports whether s is a SHA-256 in the form that Documents requires.
func IsHash(s string) bool {
	if len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// CheckHash fails, Invalid, unless IsHash(sha256).
func CheckHash(sha256 string) error {
	if !IsHash(sha256) {
		return fault.New(fault.Invalid, "%q is not a SHA-256: use 64 lower-case hex digits", sha256)
	}
	return nil
}

// NoDocument returns the error of an engine that has no document with a hash.
func NoDocument(sha256 string) error {
	return fault.New(fault.NotFound, "there is no document %q", sha256)
}

// Clean returns a copy of the document that both engines can store, or an error
// that gives the reason why they cannot.
func (d Document) Clean() (Document, error) {
	if err := CheckHash(d.SHA256); err != nil {
		return d, err
	}
	d.Head = text(d.Head)
	d.Pages = slices.Clone(d.Pages)
	for i, page := range d.Pages {
		d.Pages[i] = text(page)
	}
	return d, nil
}

// ChangedDocuments returns the reports whose document the changes replace, with
// the hash of the new document, empty when there is none. It is the part of
// Append that is the same for every engine. It is empty for almost all batches.
func ChangedDocuments(changes []disclosure.Change) map[string]string {
	filed := map[string]string{}
	for i := range changes {
		c := &changes[i]
		if c.Report == nil {
			continue
		}
		d := &c.Report.Document
		ready := d.Status == disclosure.DocumentReady && IsHash(d.SHA256)
		switch {
		case ready && (len(c.Changed) == 0 || slices.Contains(c.Changed, "document")): // a new report, or a changed document
			filed[c.Report.ID] = d.SHA256
		case !ready && slices.Contains(c.Changed, "document"):
			filed[c.Report.ID] = ""
		}
	}
	return filed
}
