// Package extract turns the bytes of a document into the text that a person
// would read.
//
// Documents come from strangers, so that they are never opened in the process
// that serves: a Reader hands them, one at a time, to a child process of the
// same program, which runs Serve and may be killed at any moment. What a
// document does to the child costs that document and nothing else.
package extract

import "errors"

// Text is what a document says.
type Text struct {
	Type     Type      `json:"type"`
	Method   Method    `json:"method"`             // of the pages: Mixed when they differ
	Language string    `json:"language,omitempty"` // es, ca, gl, eu, en, pt, fr; empty when it cannot be told
	Pages    []Page    `json:"pages"`
	Outline  []Heading `json:"outline,omitempty"`
	Notes    []string  `json:"notes,omitempty"` // what was left out, and why, for people
}

// Type is what a document is, told by its bytes.
type Type string

// The types that are read.
const (
	PDF  Type = "pdf"
	HTML Type = "html" // and XHTML
	ZIP  Type = "zip"  // a package of the others
)

// Method is how a text was got.
type Method string

// The methods.
const (
	ByText Method = "text"  // the document has it as text
	ByOCR  Method = "ocr"   // it was read off a picture
	Mixed  Method = "mixed" // some pages one way, some another
	Not    Method = "none"  // it is a picture, and nobody could read it here
)

// Page is a page of a document, or about as much of one that has no pages.
type Page struct {
	Text       string  `json:"text"`
	Method     Method  `json:"method"`
	Confidence float64 `json:"confidence,omitempty"` // of what was read off a picture, 0 to 100
}

// Heading is a line of the table of contents.
type Heading struct {
	Title string `json:"title"`
	Page  int    `json:"page"`  // from 1
	Level int    `json:"level"` // from 1
}

// Unreadable is the error of a document that cannot be read, now or later.
type Unreadable struct {
	Reason string // for the person who wants to read the document
}

func (e *Unreadable) Error() string { return "the document cannot be read: " + e.Reason }

// IsUnreadable reports whether it is the document's fault, so that trying again
// is no use.
func IsUnreadable(err error) bool {
	_, ok := errors.AsType[*Unreadable](err)
	return ok
}

// ErrSitePage is the error of a page of the regulator's own site that came in
// place of a document: the document may come another time.
var ErrSitePage = errors.New("a page of the regulator's site came instead of the document")

// MaxBody is the size of the largest document that is read.
const MaxBody = 50 << 20
