package html_test

import (
	"testing"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/html"
)

// FuzzRead reads arbitrary bytes. A text that is returned must be valid.
func FuzzRead(f *testing.F) {
	f.Add([]byte("<html><p>a<table><tr><td>b</td><td><h1>c</h1></tr></table><ix:header>d"))
	f.Add([]byte("<?xml version='1.0' encoding='utf-16'?><html><script/><title/>a"))
	f.Add([]byte("<html><img src='data:image/png;base64,AAAA'><p hidden>a</p>b&nbsp;&#0;&#xfffd;"))
	l := extract.Limits{TextBytes: 100_000}.WithDefaults()
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := html.Read(body, l)
		if err != nil {
			return
		}
		got.Method = extract.MethodOf(got.Pages)
		if err := got.Validate(l); err != nil {
			t.Fatalf("got an invalid text: %v", err)
		}
	})
}
