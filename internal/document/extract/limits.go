package extract

import (
	"cmp"
	"fmt"
	"time"
)

// Limits are what reading one document may cost. The zero value of each stands
// for its default.
type Limits struct {
	Time      time.Duration `json:"time"`       // for a document, but for its pictures of text; 60 seconds
	OCRTime   time.Duration `json:"ocr_time"`   // for each page read off a picture, besides; 30 seconds
	StartTime time.Duration `json:"start_time"` // for the child to be ready, which compiles PDFium when there is no cache; 10 minutes
	// StartMemory is what the child may hold until it is ready, in bytes. No
	// document has come near it by then, and compiling PDFium takes some 300 MB;
	// 1 GB.
	StartMemory int64 `json:"start_memory"`
	Memory      int64 `json:"memory"`     // bytes that the child holds of the machine's memory; 300 MB
	OCRMemory   int64 `json:"ocr_memory"` // bytes that tesseract may ask for; 1 GB, of which it touches a fraction
	TextBytes   int   `json:"text_bytes"` // of the text of all pages; 10 MB
	Pages       int   `json:"pages"`      // that are read, the rest is told in the notes; 2,000
	OCRPages    int   `json:"ocr_pages"`  // that are read off pictures; 40
}

func (l Limits) withDefaults() Limits {
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

// excess is the error of a child that went beyond a limit. Whose fault that is
// depends on what it was at.
type excess string

func (e excess) Error() string { return string(e) }

// unreadable is the error of the document that was being read.
func (e excess) unreadable() *Unreadable { return &Unreadable{Reason: "reading it " + string(e)} }

func tookTooLong(limit time.Duration) excess {
	return excess(fmt.Sprintf("took more than %v s", limit.Seconds()))
}

func neededTooMuch(memory int64) excess {
	return excess(fmt.Sprintf("needed more than %d MB", memory>>20))
}

const (
	mostHeadings = 500
	mostTitle    = 200 // characters
	mostNotes    = 100
)

// answerSize is the most that a text can take on its way from the child: JSON
// makes a character of a text longer, at worst twice when it is one of ours.
func (l Limits) answerSize() int {
	return 2*l.TextBytes + 100*l.Pages + mostHeadings*(8*mostTitle+100) + 64<<10
}
