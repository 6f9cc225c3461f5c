package statement_test

import (
	"strings"
	"testing"

	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/sim/paper/statement"
	"pregon/internal/test/longtest"
)

// TestExtraction reads the files of documents as the service does, and checks that
// the values of their facts are in the text.
func TestExtraction(t *testing.T) {
	longtest.Skip(t, "it builds the program that reads documents")
	dir := t.TempDir()
	command, err := extracttest.BuildWorker(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := sandbox.NewReader(sandbox.Options{Command: command, CacheDir: dir, Tesseract: "-"})
	defer r.Close()
	for _, kind := range statement.Kinds() {
		for _, layout := range statement.Layouts() {
			if layout == "scan" {
				continue // reading pictures takes long, and is not exact
			}
			for seed := range uint64(statement.Voices(kind, layout)) {
				d := statement.Make(kind, layout, seed)
				text, err := r.Read(t.Context(), d.File().Body)
				if err != nil {
					t.Fatal(err)
				}
				var pages []string
				for _, p := range text.Pages {
					pages = append(pages, p.Text)
				}
				checkExtracted(t, &d, strings.Join(pages, "\n\n"))
			}
		}
	}
}

func checkExtracted(t *testing.T, d *statement.Document, text string) {
	t.Helper()
	folded := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, f := range d.Facts {
		for field, value := range f.Fields {
			if field == "rating" {
				value = strings.TrimSuffix(value, "-") // at the end of a line it is taken for a hyphen
			}
			if !occurs(folded, field, value) {
				t.Errorf("%s: %s %q is not in the extracted text: %s", d.Voice, field, value, text)
			}
		}
	}
}
