// Package worker is the program of the child process that reads documents. It
// detects the type of a document, unpacks ZIP files, and passes each file to the
// package for its type. Workbooks are read in a child of their own.
package worker

import (
	"io"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/html"
	"pregon/internal/document/extract/pdf"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/document/extract/xls"
)

// Serve reads documents from in and writes their texts to out until in ends. It
// confines its process, which must do nothing else.
func Serve(in io.Reader, out io.Writer) error {
	return sandbox.Serve(in, out, sandbox.Program{
		Workbook: xls.Read,
		Prepare:  func(s sandbox.Settings) error { return pdf.Prepare(s.CacheDir, s.Limits.Memory) },
		Files: func(s sandbox.Settings) []string {
			files := pdf.OCRFiles(s.Tesseract)
			if s.CacheDir != "" {
				files = append(files, s.CacheDir)
			}
			return files
		},
		Start: func(s sandbox.Settings) (sandbox.Engine, error, error) {
			r, uncached, err := pdf.NewReader(s.CacheDir, s.Tesseract, s.Limits)
			return &engine{Reader: r, limits: s.Limits}, uncached, err
		},
	})
}

// engine reads documents of all types.
type engine struct {
	*pdf.Reader
	limits extract.Limits
}

// Read returns the text of a document.
func (e *engine) Read(body []byte, task extract.Task) (*extract.Text, error) {
	t, err := typeOf(body)
	if err != nil {
		return nil, err
	}
	var text *extract.Text
	if t == extract.ZIP {
		text, err = e.readZIP(body, task)
	} else {
		text, err = e.readFile(t, body, e.limits, task)
	}
	if err != nil {
		return nil, err
	}
	text.Method = extract.MethodOf(text.Pages)
	text.Language = extract.Language(text.Pages)
	text.Notes = text.Notes[:min(len(text.Notes), extract.MaxNotes)]
	return text, nil
}

// readFile reads a document that is no archive.
func (e *engine) readFile(t extract.Type, body []byte, l extract.Limits, task extract.Task) (*extract.Text, error) {
	if t == extract.PDF {
		return e.Reader.Read(body, l, task)
	}
	if err := task.Step(); err != nil {
		return nil, &extract.Unreadable{Reason: extract.Reason(err)}
	}
	return html.Read(body, l)
}
