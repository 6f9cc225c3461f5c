// Package extract defines the text of a document as it is extracted from a PDF,
// HTML or ZIP file.
//
// Documents come from untrusted sources, so the serving process never parses
// them. Its subpackages divide the work:
//
//   - sandbox starts a confined child process, sends it one document at a time,
//     limits its time and memory, and validates its answers;
//   - worker runs in the child: it detects the type of a document and unpacks ZIP files;
//   - pdf and html read one document each, and xls reads a workbook.
//
// A document that crashes or takes over the child affects no other document.
package extract

import "errors"

// Text is the text of a document.
type Text struct {
	Type     Type      `json:"type"`
	Method   Method    `json:"method"`             // of the pages: Mixed when they differ
	Language string    `json:"language,omitempty"` // es, ca, gl, eu, en, pt or fr; empty if unknown
	Pages    []Page    `json:"pages"`
	Outline  []Heading `json:"outline,omitempty"`
	Notes    []string  `json:"notes,omitempty"` // sentences that say what was left out and why
}

// Type is the type of a document, detected from its bytes.
type Type string

// The types that are read.
const (
	PDF  Type = "pdf"
	HTML Type = "html" // and XHTML
	ZIP  Type = "zip"  // an archive of the others
)

// Method is how the text of a page was extracted.
type Method string

// The methods.
const (
	ByText Method = "text"  // the document contains it as text
	ByOCR  Method = "ocr"   // it was recognized in an image
	Mixed  Method = "mixed" // the pages differ
	Not    Method = "none"  // the page is an image that was not recognized
)

// Page is a page of a document. A document without pages is cut into pages of
// about the same length.
type Page struct {
	Text       string  `json:"text"` // a blank line between paragraphs, a tab between the cells of a row
	Method     Method  `json:"method"`
	Confidence float64 `json:"confidence,omitempty"` // of OCR, 0 to 100
}

// Heading is a line of the table of contents.
type Heading struct {
	Title string `json:"title"`
	Page  int    `json:"page"`  // from 1
	Level int    `json:"level"` // from 1
}

// Unreadable is the error of a document that cannot be read. It is permanent.
type Unreadable struct {
	Reason string // shown to readers of the document
}

func (e *Unreadable) Error() string { return "the document cannot be read: " + e.Reason }

// IsUnreadable reports whether err is an *Unreadable, so that a retry is useless.
func IsUnreadable(err error) bool {
	_, ok := errors.AsType[*Unreadable](err)
	return ok
}

var (
	// ErrCorrupt is the error of a damaged file.
	ErrCorrupt = &Unreadable{Reason: "it is cut off or corrupt"}
	// ErrEncrypted is the error of a file that needs a password.
	ErrEncrypted = &Unreadable{Reason: "it is encrypted and needs a password"}
	// ErrCrash is the error of a file on which the program fails.
	ErrCrash = &Unreadable{Reason: "it crashes the program that reads it"}
)

// ErrSitePage is the error of a web page of the regulator that was served in
// place of a document. The document may be served later.
var ErrSitePage = errors.New("a page of the regulator's site came instead of the document")

// ErrKilled is the error of a document whose child process was killed from
// outside: by the operator, or by a machine short of memory. A retry may
// succeed. If it never does, the document needs too much memory.
var ErrKilled = errors.New("the child that reads documents was killed")

// MaxBody is the size of the largest document that is read.
const MaxBody = 50 << 20
