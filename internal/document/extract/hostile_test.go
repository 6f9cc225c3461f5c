package extract_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
)

// TestHostile gives a reader, one after the other, documents that are made to
// do harm. After each it must read a good one at once.
func TestHostile(t *testing.T) {
	line := extracttest.Line{X: 70, Y: 700, Size: 10, Text: "Hola"}
	good := extracttest.PDF([]extracttest.Line{line})
	damaged := bytes.Clone(good)
	for i := range damaged {
		if i%7 == 3 {
			damaged[i] ^= 0x55
		}
	}
	r := own(t, nil)
	hasty := own(t, func(o *sandbox.Options) { o.Limits.Time, o.Limits.OCRTime = 5*time.Second, 500*time.Millisecond })
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
		{"no pages", extracttest.PDF(), "it has no pages"},
		{"pages within themselves", extracttest.Cyclic(), "it is cut off or corrupt"},
		{"two billion pages", extracttest.ManyPages("Hola"), ""},
		{"deeply nested", extracttest.Nested(), "-"},
		{"contents in a circle", extracttest.Circular("Hola"), ""},
		{"scripts", extracttest.Scripted("Hola"), ""},
		{"a bomb", extracttest.Bomb(), "reading it needed more than"},
		{"a swarm", extracttest.Swarm(), "reading it needed more than"},
		{"endless", extracttest.Endless(), "reading it took more than 5"},
		{"a giant page", extracttest.GiantPage(), "-"},
		{"a picture that is none", extracttest.BadPicture(), "-"},
		{"plain text", []byte("Hola, ¿qué tal?"), "it begins like plain text"},
		{"a picture", []byte("\x89PNG\r\n\x1a\n"), "it begins like a PNG picture"},
		{"an old Word document", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "it begins like an old Word or Excel document"},
		{"a bomb in a package", extracttest.ZIPBomb(), "unpacks to more than a document can have"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := r
			if strings.Contains(test.reason, "took more than") {
				r = hasty
			}
			text, err := r.Read(t.Context(), test.body)
			switch {
			case err != nil && !extract.IsUnreadable(err):
				t.Errorf("the error is ours: %v", err)
			case test.reason == "-": // either way
			case test.reason == "" && err != nil:
				t.Errorf("it is not read: %v", err)
			case test.reason == "" && text.Pages[0].Text != "Hola":
				t.Errorf("it says %q", text.Pages[0].Text)
			case test.reason != "" && err == nil:
				t.Errorf("it is read: %.200v", text.Pages)
			case test.reason != "" && !strings.Contains(err.Error(), test.reason):
				t.Errorf("the reason is %q, want %q", err, test.reason)
			}
			text, err = r.Read(t.Context(), good)
			for try := 0; r == hasty && err != nil && try < 20; try++ { // a machine may be too slow for so little time
				text, err = r.Read(t.Context(), good)
			}
			if err != nil || text.Pages[0].Text != "Hola" {
				t.Errorf("then a good one: %v", err)
			}
		})
	}
}
