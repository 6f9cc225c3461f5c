package pdf

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"

	"pregon/internal/document/extract"
)

// file reads one PDF file. A page that cannot be read does not affect the others:
// if PDFium fails, a new instance reads the next page.
type file struct {
	*instance
	library *library
	body    []byte
	limits  extract.Limits
	ocr     *ocr
	task    extract.Task

	handle   uint64 // of the document
	edges    box    // of the page that is read
	fresh    bool   // the instance has read no page yet
	size     int    // bytes of text so far
	sheets   []sheet
	pictures []int    // numbers of the pages that are images, from 1
	failures failures // of pages
	notes    []string
}

// sheet is a page before its lines are composed to text.
type sheet struct {
	lines      []line
	method     extract.Method
	confidence float64
	read       string // by OCR
}

// Errors of files that PDFium does not open.
var (
	errSecurity = &extract.Unreadable{Reason: "it is encrypted in a way that is not supported"}
	errNoPages  = &extract.Unreadable{Reason: "it does not have pages"}
)

func (d *file) read() (*extract.Text, error) {
	if err := d.task.Step(); err != nil {
		return nil, &extract.Unreadable{Reason: extract.Reason(err)}
	}
	if err := d.open(); err != nil {
		return nil, err
	}
	defer func() { d.library.close(d.instance) }()
	complete := bytes.Contains(d.body[max(0, len(d.body)-2048):], []byte("%%EOF"))
	count := d.callInt("FPDF_GetPageCount", d.handle)
	if count <= 0 {
		if d.err != nil || !complete {
			return nil, extract.ErrCorrupt
		}
		return nil, errNoPages
	}
	d.readPages(count)
	outline := d.readBookmarks()
	d.readImages()
	if err := d.failure(); err != nil {
		return nil, err
	}
	if !complete {
		d.notes = append(d.notes, "The file is cut off or damaged at its end; this is the part that can be read.")
	}
	return d.compose(outline)
}

// failure returns an error if no page could be read. Images that were not read for
// lack of OCR do not count.
func (d *file) failure() error {
	failed := 0
	for _, f := range d.failures {
		failed += len(f.pages)
	}
	switch {
	case failed < len(d.sheets):
		return nil
	case failed == 0:
		return extract.ErrCorrupt
	}
	return d.failures[0].err
}

// compose returns the text of the pages.
func (d *file) compose(outline []extract.Heading) (*extract.Text, error) {
	if err := d.task.Step(); extract.IsUnreadable(err) {
		return nil, err
	}
	t := &extract.Text{Type: extract.PDF, Notes: append(d.failures.notes(), d.notes...)}
	var headings []extract.Heading
	t.Pages, headings = compose(d.sheets, d.limits.TextBytes)
	if note := scriptNote(t.Pages); note != "" {
		t.Notes = append(t.Notes, note)
	}
	if t.Outline = outline; len(outline) == 0 {
		t.Outline = headings
	}
	return t, nil
}

// open opens the file in a new instance of PDFium.
func (d *file) open() error {
	i, err := d.library.open(d.body, instanceLimit(d.limits.Memory, len(d.body)))
	if err != nil {
		return err
	}
	d.instance, d.fresh = i, true
	if err := d.load(); err != nil {
		d.library.close(i)
		return err
	}
	return nil
}

// load loads the file into PDFium.
func (d *file) load() error {
	const unused = 4
	access := d.call("FPDF_FILEACCESS_Create", uint64(len(d.body)), d.call("malloc", unused))
	d.handle = d.call("FPDF_LoadCustomDocument", access, 0)
	if d.handle != 0 {
		return nil
	}
	const password, security = 4, 5
	switch code := d.callInt("FPDF_GetLastError"); {
	case d.space.refused:
		return d.tooLarge()
	case code == password:
		return extract.ErrEncrypted
	case code == security:
		return errSecurity
	}
	return extract.ErrCorrupt
}

// attempt reads a part of the file. If PDFium fails, or needs more memory than it
// may have, the file is opened again for the next part. Since PDFium keeps what it
// has read of a file, a new instance may have enough memory for the same part.
func (d *file) attempt(read func() error) error {
	wasFresh := d.fresh
	d.fresh = false
	crashed, err := recovered(read)
	short := d.space.refused
	switch {
	case short:
		err = d.tooLarge()
	case crashed:
	case d.err != nil:
		err = extract.ErrCorrupt
	default:
		return err
	}
	d.library.close(d.instance)
	if failed := d.open(); failed != nil {
		d.err = errWASM // for the calls that follow
		return &extract.Stopped{Reason: "the file cannot be opened again"}
	}
	if short && !wasFresh {
		return d.attempt(read)
	}
	return err
}

// recovered calls a function and reports whether it panicked.
func recovered(f func() error) (crashed bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", p, debug.Stack())
			crashed, err = true, extract.ErrCrash
		}
	}()
	return false, f()
}
