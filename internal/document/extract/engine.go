package extract

import (
	"errors"
	"runtime/debug"
)

// reading is the engine of the child.
type reading struct {
	limits  Limits
	library *library
	ocr     *ocr
	taken   uint32 // bytes of the last instance's memory
}

func newEngine(s settings) (engine, greeting, error) {
	l, uncached, err := newLibrary(s.CacheDir, s.Limits.Memory)
	if err != nil {
		return nil, greeting{}, err
	}
	if uncached != nil {
		s.Greeting.Uncached = uncached.Error()
	}
	// Only now: compiling needs more, and the collector would work against it.
	debug.SetMemoryLimit(s.Limits.Memory * 85 / 100)
	e := &reading{limits: s.Limits, library: l, ocr: findOCR(s.Tesseract, s.Limits)}
	debug.FreeOSMemory() // compiling takes hundreds of megabytes
	return e, s.Greeting, nil
}

func (e *reading) read(body []byte, tell func(int)) (*Text, error) {
	t, err := e.readKind(body, tell)
	if err != nil {
		return nil, err
	}
	t.Method = methodOf(t.Pages)
	t.Language = languageOf(t.Pages)
	t.Notes = t.Notes[:min(len(t.Notes), mostNotes)]
	return t, nil
}

func (e *reading) readKind(body []byte, tell func(int)) (*Text, error) {
	t, err := typeOf(body)
	if err != nil {
		return nil, err
	}
	switch t {
	case PDF:
		return e.readPDF(body, e.limits, tell)
	case HTML:
		return readHTML(body, e.limits)
	}
	return e.readZIP(body, tell)
}

// rest has the runtime give back memory when the last document took much; for a
// small one that would cost more time than the document.
func (e *reading) rest() {
	const much = 32 << 20
	if e.taken > much {
		debug.FreeOSMemory()
	}
	e.taken = 0
}

// readPDF reads a PDF file with an instance of PDFium of its own.
func (e *reading) readPDF(body []byte, l Limits, tell func(int)) (*Text, error) {
	p, err := e.library.open(len(body))
	if err != nil {
		return nil, err
	}
	t, err := (&pdf{instance: p, limits: l, ocr: e.ocr, tell: tell}).read(body)
	e.taken += p.memory.Size() + uint32(len(body))
	if errors.Is(err, errWASM) {
		if err = errCorrupt; p.outOfMemory() {
			err = neededTooMuch(e.limits.Memory).unreadable()
		}
	}
	p.close()
	return t, err
}
