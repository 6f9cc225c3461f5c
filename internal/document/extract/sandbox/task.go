package sandbox

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"pregon/internal/document/extract"
)

// skip is a step that a child must leave out, because an earlier child was killed
// in it or crashed. Steps have the same numbers in every child that reads the same
// document and leaves out the same earlier steps.
type skip struct {
	Step   int    `json:"step"`
	Reason string `json:"reason"`
	Rest   bool   `json:"rest,omitempty"` // all following steps are left out too
}

// task reports the steps of one document to the parent.
type task struct {
	out    io.Writer
	id     uint32
	limits extract.Limits
	begun  time.Time
	skips  []skip
	step   int // the last one
	pages  int // to be read by OCR
}

// Step reports that a step begins. It fails when little is left of the time after
// which the parent kills the child.
func (t *task) Step() error {
	t.step++
	for _, s := range t.skips {
		switch {
		case s.Rest && t.step >= s.Step:
			return &extract.Stopped{Reason: s.Reason}
		case t.step == s.Step:
			return &extract.Unreadable{Reason: s.Reason}
		}
	}
	t.send(step, t.step)
	if limit := t.limits.Time*3/4 + t.limits.OCRTime*time.Duration(t.pages); time.Since(t.begun) > limit {
		return &extract.Stopped{Reason: fmt.Sprintf("reading took more than %v s", limit.Seconds())}
	}
	return nil
}

// OCR asks for the time to read pages by OCR.
func (t *task) OCR(pages int) {
	t.pages = min(t.pages+pages, t.limits.OCRPages)
	t.send(ocrPages, pages)
}

// send sends a number. If it fails, so does the answer.
func (t *task) send(k kind, number int) {
	writeFrame(t.out, frame{kind: k, id: t.id, body: binary.BigEndian.AppendUint32(nil, uint32(number))})
}
