package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/xls"
)

// Settings are sent to the child when it starts.
type Settings struct {
	CacheDir  string         `json:"cache_dir"`
	Tesseract string         `json:"tesseract"`
	Limits    extract.Limits `json:"limits"`
	Workbooks bool           `json:"workbooks,omitempty"` // reads workbooks and no documents
	Greeting  greeting       `json:"greeting,omitzero"`   // set before the child re-executes its program
}

// greeting is sent by the child when it has started.
type greeting struct {
	Uncached string `json:"uncached,omitempty"` // why the cache is not used
	Confined Status `json:"confined,omitempty"`
}

// Program is the code that the child runs.
type Program struct {
	// Workbook reads a workbook. A child that does so needs none of the following.
	Workbook func(body []byte) (xls.Book, error)

	// Prepare does the work that needs to write files. It runs before the child
	// is confined.
	Prepare func(Settings) error
	// Files returns the files and directories that the engine reads.
	Files func(Settings) []string
	// Start returns the engine. The error uncached says why it does not use the
	// cache.
	Start func(Settings) (e Engine, uncached, err error)
}

// Engine reads documents.
type Engine interface {
	// Read returns the text of a document.
	Read(body []byte, t extract.Task) (*extract.Text, error)
	// FreeMemory returns the memory of the last document to the system.
	FreeMemory()
}

// Serve is the main function of the child. It reads documents from in and writes
// their texts to out until in ends. It sets limits on its process, which must do
// nothing else, and re-executes its program to confine it.
func Serve(in io.Reader, out io.Writer, p Program) error {
	s, again, err := inherited()
	switch {
	case err != nil:
		return err
	case again:
		return serveWith(in, out, s, p.start)
	}
	return serve(in, out, func(s Settings) (Engine, greeting, error) { return p.start(p.confine(s)) })
}

func (p Program) start(s Settings) (Engine, greeting, error) {
	if s.Workbooks {
		return books{p.Workbook}, s.Greeting, nil
	}
	e, uncached, err := p.Start(s)
	if uncached != nil {
		s.Greeting.Uncached = uncached.Error()
	}
	return e, s.Greeting, err
}

// serve reads the settings and serves documents.
func serve(in io.Reader, out io.Writer, start func(Settings) (Engine, greeting, error)) error {
	first, err := readFrame(in, toChild)
	switch {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	case first.kind != setup:
		return fmt.Errorf("%w: a document before the settings", errFrame)
	}
	var s Settings
	if err := json.Unmarshal(first.body, &s); err != nil {
		return fmt.Errorf("decode the settings: %w", err)
	}
	return serveWith(in, out, s, start)
}

func serveWith(in io.Reader, out io.Writer, s Settings, start func(Settings) (Engine, greeting, error)) error {
	s.Limits = s.Limits.WithDefaults()
	e, g, err := start(s)
	if err != nil {
		return errors.Join(err, writeFrame(out, frame{kind: trouble, body: short(err.Error())}))
	}
	g.Uncached = string(short(g.Uncached))
	for l, why := range g.Confined {
		g.Confined[l] = why[:min(len(why), 256)]
	}
	body, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := writeFrame(out, frame{kind: ready, body: body}); err != nil {
		return err
	}
	if b, ok := e.(books); ok {
		return b.serveAll(in, out)
	}
	return serveAll(in, out, e, s.Limits)
}

// serveAll reads documents until in ends.
func serveAll(in io.Reader, out io.Writer, e Engine, l extract.Limits) error {
	var left []skip
	for {
		f, err := readFrame(in, toChild)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case f.kind == setup:
			return fmt.Errorf("%w: settings for a second time", errFrame)
		case f.kind == skips:
			if err := json.Unmarshal(f.body, &left); err != nil {
				return fmt.Errorf("decode the skips: %w", err)
			}
			continue
		}
		t := &task{
			out:    out,
			id:     f.id,
			limits: l,
			begun:  time.Now(),
			skips:  left,
		}
		left = nil
		if err := serveOne(out, e, &f, t); err != nil {
			return err
		}
	}
}

// serveOne reads one document and answers.
func serveOne(out io.Writer, e Engine, f *frame, t *task) error {
	found, err := readSafely(e, f.body, t)
	f.body = nil // before the answer, which may be large too, is encoded
	answer := encodeAnswer(found, err, t.limits)
	answer.id, found = f.id, nil
	e.FreeMemory() // before the answer, so that the next document starts with little memory in use
	return writeFrame(out, answer)
}

// readSafely turns a panic into an Unreadable: the document would cause it again.
func readSafely(e Engine, body []byte, t *task) (found *extract.Text, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", p, debug.Stack())
			found, err = nil, extract.ErrCrash
		}
	}()
	return e.Read(body, t)
}
