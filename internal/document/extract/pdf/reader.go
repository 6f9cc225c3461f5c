// Package pdf reads the text of PDF files with PDFium, which runs as
// WebAssembly, and of pages that are images with tesseract.
//
// PDFium returns characters with their places on the page. This package joins
// them to words (glyph.go), puts the words into lines in reading order
// (layout.go, columns.go), removes running headers and footers (furniture.go),
// and joins the lines to paragraphs (compose.go).
//
// It is meant for a child process of package sandbox: the memory of PDFium is
// limited, but not its time.
package pdf

import (
	"errors"
	"fmt"
	"runtime/debug"

	"pregon/internal/document/extract"
)

// Reader reads PDF files. It is not safe for concurrent use.
type Reader struct {
	memory  int64 // limit of the process
	library *library
	ocr     *ocr
}

// NewReader returns a reader, and limits the memory of the Go runtime. The path
// of tesseract may be empty, to search PATH, or "-", for no OCR. The error
// uncached says why the compiled code of cacheDir is not used.
func NewReader(cacheDir, tesseract string, l extract.Limits) (r *Reader, uncached, err error) {
	library, uncached, err := newLibrary(cacheDir, l.Memory)
	if err != nil {
		return nil, uncached, err
	}
	limitHeap(l.Memory, 0) // after PDFium is compiled, which needs more memory
	r = &Reader{memory: l.Memory, library: library, ocr: findOCR(tesseract, l)}
	debug.FreeOSMemory() // compiling takes hundreds of megabytes
	return r, uncached, nil
}

// FreeMemory returns memory to the system after large files.
func (r *Reader) FreeMemory() { freeHeap() }

// Read returns the text of a PDF file. It calls ocr before it reads pages by
// OCR, with their number.
func (r *Reader) Read(body []byte, l extract.Limits, ocr func(pages int)) (*extract.Text, error) {
	p, err := r.library.open(body, instanceLimit(l.Memory, len(body)))
	if err != nil {
		return nil, err
	}
	defer p.close()
	t, err := (&file{instance: p, limits: l, ocr: r.ocr, beforeOCR: ocr}).read(body)
	if !errors.Is(err, errWASM) {
		return t, err
	}
	if p.space.refused {
		return nil, tooLarge(r.memory)
	}
	return nil, extract.ErrCorrupt
}

// tooLarge returns the error of a file that needs more memory than the limit.
func tooLarge(limit int64) error {
	return &extract.Unreadable{Reason: fmt.Sprintf("reading it needed more than %d MB", limit>>20)}
}
