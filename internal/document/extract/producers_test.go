package extract_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/test/longtest"
)

// article returns the text of the documents, in paragraphs and in words.
func article() (paragraphs []string, words []string) {
	for n := range 12 {
		p := fmt.Sprintf("Apartado %d. %s %s Oficina de información: ﬁnanzas y ﬂujos.", n+1, []string{first, second, third}[n%3], []string{second, third, first}[n%3])
		paragraphs = append(paragraphs, p)
	}
	all := strings.NewReplacer("ﬁ", "fi", "ﬂ", "fl").Replace(strings.Join(paragraphs, " "))
	return paragraphs, strings.Fields(all)
}

// TestProducers reads files that other programs make of the same text.
func TestProducers(t *testing.T) {
	longtest.Skip(t, "it needs groff, Ghostscript and Pango")
	paragraphs, words := article()
	roff := ".fam H\n.hy 6\n"
	for _, p := range paragraphs {
		roff += ".PP\n" + strings.NewReplacer("ﬁ", "fi", "ﬂ", "fl").Replace(p) + "\n"
	}
	file := func(t *testing.T) string { return filepath.Join(t.TempDir(), "out.pdf") }
	for _, test := range []struct {
		name string
		make func(t *testing.T) []byte
	}{
		{"groff", func(t *testing.T) []byte { return run(t, roff, "groff", "-Kutf8", "-Tpdf", "-ms") }},
		{"groff in columns", func(t *testing.T) []byte {
			return run(t, ".2C\n"+roff, "groff", "-Kutf8", "-Tpdf", "-ms")
		}},
		{"ghostscript", func(t *testing.T) []byte {
			return run(t, string(run(t, ".2C\n"+roff, "groff", "-Kutf8", "-Tps", "-ms")), "ps2pdf", "-", "-")
		}},
		{"cairo", func(t *testing.T) []byte {
			out := file(t)
			run(t, "", "pango-view", "--no-display", "-q", "--font=DejaVu Serif 9", "--width=450", "--justify", "--text="+strings.Join(paragraphs, "\n\n"), "--output="+out)
			body, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			return body
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := read(t, test.make(t))
			var all []string
			for _, p := range text.Pages {
				all = append(all, p.Text)
			}
			got := strings.Join(all, "\n\n")
			if found := inOrder(words, strings.Fields(got)); found < 0.98 {
				t.Errorf("got %.3f of the words in order, want 0.98, in:\n%s", found, got)
			}
			if text.Language != "es" {
				t.Errorf("got language %q, want es", text.Language)
			}
			if n := strings.Count(got, "\n\nApartado "); n < len(paragraphs)-2 {
				t.Errorf("got %d paragraphs, want %d, in:\n%s", n, len(paragraphs)-2, got)
			}
		})
	}
}
