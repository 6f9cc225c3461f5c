package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// echo is an engine that says what it was given.
type echo struct{}

func (echo) read(body []byte, tell func(int)) (*Text, error) {
	switch {
	case bytes.HasPrefix(body, []byte("panic")):
		panic("as it was told")
	case bytes.HasPrefix(body, []byte("site")):
		return nil, ErrSitePage
	case bytes.HasPrefix(body, []byte("own")):
		return nil, errors.New(strings.Repeat("x", 1<<20))
	case bytes.HasPrefix(body, []byte("bad")):
		return nil, &Unreadable{Reason: string(body)}
	}
	tell(len(body))
	return &Text{Type: HTML, Method: ByText, Pages: []Page{{Text: tidy(string(body)), Method: ByText}}}, nil
}

func (echo) rest() {}

func frames(list ...frame) []byte {
	var b bytes.Buffer
	for _, f := range list {
		writeFrame(&b, f)
	}
	return b.Bytes()
}

// FuzzServe gives the child any input. It must end, and whatever it says must
// make sense to its parent.
func FuzzServe(f *testing.F) {
	hello := frame{kind: setup, body: []byte(`{"limits":{"text_bytes":1000,"pages":10}}`)}
	f.Add([]byte{})
	f.Add(frames(hello))
	f.Add(frames(hello, frame{document, 1, []byte("hola")}, frame{document, 2, []byte("panic")}, frame{document, 3, []byte("site")}))
	f.Add(frames(hello, frame{document, 1, []byte("own")}, frame{document, 2, []byte("bad \xff")}, frame{kind: document}))
	f.Add(frames(frame{document, 1, []byte("hola")}))
	f.Add(frames(hello, hello))
	f.Add([]byte("D\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 1<<16 {
			return
		}
		var out bytes.Buffer
		var l Limits
		err := serve(bytes.NewReader(in), &out, func(s settings) (engine, greeting, error) {
			if s.Limits.Pages == 13 {
				return nil, greeting{}, errors.New("as it was told")
			}
			l = s.Limits
			return echo{}, greeting{Uncached: strings.Repeat("x", 5000)}, nil
		})
		if l.TextBytes < 0 || l.Pages < 0 || l.TextBytes > 1<<24 || l.Pages > 1<<16 {
			return // limits that no parent gives
		}
		for out.Len() > 0 {
			answer, failed := readFrame(&out, fromChild(l.withDefaults()))
			if failed != nil {
				t.Fatalf("%v, after which serve returned %v", failed, err)
			}
			if answer.kind == text && !json.Valid(answer.body) {
				t.Fatalf("the text %q", answer.body)
			}
		}
	})
}

// FuzzAnswer gives the parent anything as the child's answer. What it takes for
// a text must keep the promises of this package.
func FuzzAnswer(f *testing.F) {
	f.Add(frames(frame{text, 1, []byte(`{"type":"pdf","method":"text","pages":[{"text":"a\n\nb","method":"text"}]}`)}))
	f.Add(frames(frame{text, 1, []byte(`{"type":"pdf","method":"mixed","pages":[{"text":"\u0000","method":"ocr","confidence":1e9},{"method":"none"}]}`)}))
	f.Add(frames(frame{text, 1, []byte(`{"type":"zip","method":"text","pages":[{"method":"text"}],"outline":[{"title":"a","page":7,"level":1}]}`)}))
	f.Add(frames(frame{unreadable, 1, []byte("\xff")}, frame{sitePage, 1, nil}, frame{trouble, 1, []byte("x")}, frame{kind: ready}))
	f.Add([]byte("T\x00\x00\x00\x01\xff\xff\xff\xff"))
	f.Add([]byte("T\x00\x00\x00\x01\x00\x00"))
	l := Limits{TextBytes: 1000, Pages: 5}.withDefaults()
	f.Fuzz(func(t *testing.T, said []byte) {
		r := bytes.NewReader(said)
		for {
			answer, err := readFrame(r, fromChild(l))
			if err != nil {
				if r.Len() > 0 && !errors.Is(err, errFrame) || err == io.EOF && r.Len() > 0 {
					t.Fatalf("%v, with %d bytes left", err, r.Len())
				}
				return
			}
			got, err := judge(answer, l)
			if (got == nil) == (err == nil) {
				t.Fatalf("judged %v and %v", got, err)
			}
			if got == nil {
				continue
			}
			size := 0
			for _, p := range got.Pages {
				size += len(p.Text)
				if strings.ContainsAny(p.Text, "\x00\ufffd\t\r") {
					t.Fatalf("the text %q", p.Text)
				}
			}
			if size > l.TextBytes || len(got.Pages) > l.Pages || len(got.Pages) == 0 {
				t.Fatalf("%d bytes on %d pages", size, len(got.Pages))
			}
		}
	})
}

// FuzzHTML reads anything as a page of the web.
func FuzzHTML(f *testing.F) {
	f.Add([]byte("<html><p>a<table><tr><td>b</td><td><h1>c</h1></tr></table><ix:header>d"))
	f.Add([]byte("<?xml version='1.0' encoding='utf-16'?><html><script/><title/>a"))
	f.Add([]byte("<html><img src='data:image/png;base64,AAAA'><p hidden>a</p>b&nbsp;&#0;&#xfffd;"))
	l := Limits{TextBytes: 100_000}.withDefaults()
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readHTML(body, l)
		if err != nil {
			return
		}
		got.Method = methodOf(got.Pages)
		if err := check(got, l); err != nil {
			t.Fatal(err)
		}
	})
}
