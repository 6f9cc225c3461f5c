package extract_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/test/longtest"
)

// TestHostile reads documents that are made to do harm. After each of them the
// reader must read a good document at once.
func TestHostile(t *testing.T) {
	longtest.Skip(t, "it reads hostile documents until they are ended")
	line := extracttest.Line{X: 70, Y: 700, Size: 10, Text: "Hola"}
	good := extracttest.PDF([]extracttest.Line{line})
	damaged := bytes.Clone(good)
	for i := range damaged {
		if i%7 == 3 {
			damaged[i] ^= 0x55
		}
	}
	r := newReader(t, nil)
	limited := newReader(t, func(o *sandbox.Options) { o.Limits.Time, o.Limits.OCRTime = 5*time.Second, 500*time.Millisecond })
	for _, test := range []struct {
		name   string
		body   []byte
		reason string // empty: it is read as "Hola"
	}{
		{"empty", nil, "it is empty"},
		{"zeros", make([]byte, 1<<20), "it is empty"},
		{"too large", make([]byte, extract.MaxBody+1), "it is larger than 50 MB"},
		{"cut off at once", []byte("%PDF-1.7\n"), "it is cut off or corrupt"},
		{"cut off", extracttest.Paragraphs([]string{first})[:200], "it is cut off or corrupt"},
		{"damaged", append([]byte("%PDF-1.4\n"), damaged...), "it is cut off or corrupt"},
		{"no pages", extracttest.PDF(), "it does not have pages"},
		{"cyclic pages", extracttest.Cyclic(), "it is cut off or corrupt"},
		{"two billion pages", extracttest.ManyPages("Hola"), ""},
		{"deeply nested", extracttest.Nested(), "-"},
		{"cyclic bookmarks", extracttest.Circular("Hola"), ""},
		{"scripts", extracttest.Scripted("Hola"), ""},
		{"a bomb", extracttest.Bomb(), "reading it needed more than"},
		{"a swarm", extracttest.Swarm(), "reading it needed more than"},
		{"endless", extracttest.Endless(), "reading it took more than 3 s"},
		{"a giant page", extracttest.GiantPage(), "-"},
		{"an invalid picture", extracttest.BadPicture(), "-"},
		{"plain text", []byte("Hola, ¿qué tal?"), "it begins like plain text"},
		{"a picture", []byte("\x89PNG\r\n\x1a\n"), "it begins like a PNG picture"},
		{"an XML file", []byte("<?xml version='1.0'?><rss><title>x</title></rss>"), "it begins like an XML file"},
		{"an old Word document", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "it begins like an old Word or Excel document"},
		{"a bomb in a package", extracttest.ZIPBomb(), "unpacks to more than a document can have"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := r
			if strings.Contains(test.reason, "took more than") {
				r = limited
			}
			text, err := r.Read(t.Context(), test.body)
			switch {
			case err != nil && !extract.IsUnreadable(err):
				t.Errorf("got error %v, want an Unreadable or none", err)
			case test.reason == "-": // either way
			case test.reason == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case test.reason == "" && text.Pages[0].Text != "Hola":
				t.Errorf("got text %q, want Hola", text.Pages[0].Text)
			case test.reason != "" && err == nil:
				t.Errorf("got %.200v, want an Unreadable because %s", text.Pages, test.reason)
			case test.reason != "" && !strings.Contains(err.Error(), test.reason):
				t.Errorf("got error %q, want %q", err, test.reason)
			}
			text, err = r.Read(t.Context(), good)
			for try := 0; r == limited && err != nil && try < 20; try++ { // a slow machine may need more than the limit
				text, err = r.Read(t.Context(), good)
			}
			if err != nil || text.Pages[0].Text != "Hola" {
				t.Errorf("got error %v for a good document afterwards, want Hola", err)
			}
		})
	}
}
