// Package pdf reads the text of PDF files with PDFium, which runs as
// WebAssembly, and of pages that are images with tesseract.
//
// PDFium returns characters with their places on the page. This package joins
// them to words (glyph.go), puts the words into lines in reading order
// (layout.go, columns.go), keeps running headers and footers once (furniture.go),
// and joins the lines to paragraphs (compose.go).
//
// It is meant for a child process of package sandbox: the memory of PDFium is
// limited, but not its time.
package pdf

import (
	"runtime/debug"

	"pregon/internal/document/extract"
)

// Reader reads PDF files. It is not safe for concurrent use.
type Reader struct {
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
	r = &Reader{library: library, ocr: findOCR(tesseract, l)}
	debug.FreeOSMemory() // compiling takes hundreds of megabytes
	return r, uncached, nil
}

// FreeMemory returns memory to the system after large files.
func (r *Reader) FreeMemory() { freeHeap() }

// Read returns the text of a PDF file.
func (r *Reader) Read(body []byte, l extract.Limits, task extract.Task) (*extract.Text, error) {
	d := &file{
		library: r.library,
		body:    body,
		limits:  l,
		ocr:     r.ocr,
		task:    task,
	}
	return d.read()
}
