package extract

import (
	"cmp"
	"time"
)

// Limits bound the cost of reading one document. A zero field means the
// default.
type Limits struct {
	Time      time.Duration `json:"time"`       // for a document without its OCR; 60 seconds
	OCRTime   time.Duration `json:"ocr_time"`   // for each page read by OCR; 30 seconds
	StartTime time.Duration `json:"start_time"` // for the child to start, which may compile PDFium; 10 minutes
	// resident bytes of the child while it starts; 1 GB, of which compiling PDFium takes
	// 300 MB
	StartMemory int64 `json:"start_memory"`
	Memory      int64 `json:"memory"`     // resident bytes of the child while it reads; 300 MB
	OCRMemory   int64 `json:"ocr_memory"` // address space of tesseract in bytes, of which it touches a fraction; 1 GB
	TextBytes   int   `json:"text_bytes"` // of the text of all pages; 10 MB
	Pages       int   `json:"pages"`      // that are read; a note says how many are left out; 2,000
	OCRPages    int   `json:"ocr_pages"`  // that are read by OCR; 40
}

// WithDefaults returns l with the default for every zero field.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Time:        cmp.Or(l.Time, time.Minute),
		OCRTime:     cmp.Or(l.OCRTime, 30*time.Second),
		StartTime:   cmp.Or(l.StartTime, 10*time.Minute),
		StartMemory: cmp.Or(l.StartMemory, 1<<30),
		Memory:      cmp.Or(l.Memory, 300<<20),
		OCRMemory:   cmp.Or(l.OCRMemory, 1<<30),
		TextBytes:   cmp.Or(l.TextBytes, 10<<20),
		Pages:       cmp.Or(l.Pages, 2000),
		OCRPages:    cmp.Or(l.OCRPages, 40),
	}
}

// Limits of a Text that are not configurable.
const (
	MaxHeadings = 500
	MaxTitle    = 200 // characters of a heading
	MaxNotes    = 100
)
