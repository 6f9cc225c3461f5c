package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pregon/internal/document/extract"
)

// echo is an engine that returns the document as its text.
type echo struct{}

func (echo) Read(body []byte, t extract.Task) (*extract.Text, error) {
	switch {
	case bytes.HasPrefix(body, []byte("panic")):
		panic("requested by the document")
	case bytes.HasPrefix(body, []byte("site")):
		return nil, extract.ErrSitePage
	case bytes.HasPrefix(body, []byte("own")):
		return nil, errors.New(strings.Repeat("x", 1<<20))
	case bytes.HasPrefix(body, []byte("bad")):
		return nil, &extract.Unreadable{Reason: string(body)}
	}
	if err := t.Step(); err != nil {
		return nil, &extract.Unreadable{Reason: extract.Reason(err)}
	}
	t.OCR(len(body))
	return &extract.Text{Type: extract.HTML, Method: extract.ByText, Pages: []extract.Page{{Text: extract.Tidy(string(body)), Method: extract.ByText}}}, nil
}

func (echo) FreeMemory() {}

func frames(list ...frame) []byte {
	var b bytes.Buffer
	for _, f := range list {
		writeFrame(&b, f)
	}
	return b.Bytes()
}

// FuzzServe sends arbitrary bytes to the child. It must end, and the parent must
// accept every frame that it sends.
func FuzzServe(f *testing.F) {
	hello := frame{kind: setup, body: []byte(`{"limits":{"text_bytes":1000,"pages":10}}`)}
	f.Add([]byte{})
	f.Add(frames(hello))
	f.Add(frames(hello, frame{document, 1, []byte("hola")}, frame{document, 2, []byte("panic")}, frame{document, 3, []byte("site")}))
	f.Add(frames(hello, frame{document, 1, []byte("own")}, frame{document, 2, []byte("bad \xff")}, frame{kind: document}))
	f.Add(frames(frame{document, 1, []byte("hola")}))
	f.Add(frames(hello, frame{skips, 1, []byte(`[{"step":1,"reason":"x"},{"step":2,"rest":true}]`)}, frame{document, 1, []byte("hola")}))
	f.Add(frames(hello, hello))
	f.Add([]byte("D\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<16 {
			return
		}
		var out bytes.Buffer
		var l extract.Limits
		err := serve(bytes.NewReader(in), &out, func(s Settings) (Engine, greeting, error) {
			if s.Limits.Pages == 13 {
				return nil, greeting{}, errors.New("requested by the settings")
			}
			l = s.Limits
			return echo{}, greeting{Uncached: strings.Repeat("x", 5000)}, nil
		})
		if l.TextBytes < 0 || l.Pages < 0 || l.TextBytes > 1<<24 || l.Pages > 1<<16 {
			return // no parent sets such limits
		}
		for out.Len() > 0 {
			answer, failed := readFrame(&out, fromChild(l.WithDefaults()))
			if failed != nil {
				t.Fatalf("got frame error %v after serve returned %v, want none", failed, err)
			}
			if answer.kind == text && !json.Valid(answer.body) {
				t.Fatalf("got text %q, want valid JSON", answer.body)
			}
		}
	})
}

// FuzzAnswer sends arbitrary bytes to the parent as the child's answer. A text
// that it accepts must be valid.
func FuzzAnswer(f *testing.F) {
	f.Add(frames(frame{text, 1, []byte(`{"type":"pdf","method":"text","pages":[{"text":"a\n\nb","method":"text"}]}`)}))
	f.Add(frames(frame{text, 1, []byte(`{"type":"pdf","method":"mixed","pages":[{"text":"\u0000","method":"ocr","confidence":1e9},{"method":"none"}]}`)}))
	f.Add(frames(frame{text, 1, []byte(`{"type":"zip","method":"text","pages":[{"method":"text"}],"outline":[{"title":"a","page":7,"level":1}]}`)}))
	f.Add(frames(frame{unreadable, 1, []byte("\xff")}, frame{sitePage, 1, nil}, frame{trouble, 1, []byte("x")}, frame{kind: ready}))
	f.Add([]byte("T\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Add([]byte("T\x00\x00\x00\x01\x00\x00"))
	l := extract.Limits{TextBytes: 1000, Pages: 5}.WithDefaults()
	f.Fuzz(func(t *testing.T, sent []byte) {
		r := bytes.NewReader(sent)
		for {
			answer, err := readFrame(r, fromChild(l))
			if err != nil {
				if r.Len() > 0 && !errors.Is(err, errFrame) || err == io.EOF && r.Len() > 0 {
					t.Fatalf("got %v with %d bytes left, want errFrame or the end", err, r.Len())
				}
				return
			}
			got, err := decodeAnswer(answer, l)
			if (got == nil) == (err == nil) {
				t.Fatalf("got text %v and error %v, want exactly one of them", got, err)
			}
			if got == nil {
				continue
			}
			size := 0
			for _, p := range got.Pages {
				size += len(p.Text)
				if strings.ContainsAny(p.Text, "\x00\t\r") || !utf8.ValidString(p.Text) {
					t.Fatalf("got text %q, want no control characters", p.Text)
				}
			}
			if size > l.TextBytes || len(got.Pages) > l.Pages || len(got.Pages) == 0 {
				t.Fatalf("got %d bytes on %d pages, want at most %d on 1 to %d", size, len(got.Pages), l.TextBytes, l.Pages)
			}
		}
	})
}
