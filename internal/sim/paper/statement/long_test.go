package statement_test

import (
	"reflect"
	"strings"
	"testing"

	"pregon/internal/sim/paper/statement"
)

func TestLong(t *testing.T) {
	for _, kind := range append(statement.Kinds(), statement.None) {
		for seed := range uint64(8) {
			d := statement.Long(kind, 10, seed)
			pages := d.Pages()
			text := strings.Join(pages, "\n\n")
			if len(pages) != 10 || len(text) < 16_000 {
				t.Errorf("%s %d: got %d pages of %d characters, want 10", kind, seed, len(pages), len(text))
			}
			if kind != statement.None && (len(d.Facts) == 0 || d.Facts[0].Kind != kind) {
				t.Errorf("%s %d: got the facts %v", kind, seed, d.Facts)
			}
			for _, stray := range []string{"{", "}", "[", "]", "¦", "  ", " ,"} {
				if strings.Contains(text, stray) {
					t.Errorf("%s %d: %q is in the text", kind, seed, stray)
				}
			}
			folded := strings.ToLower(text)
			for _, f := range d.Facts {
				for field, value := range f.Fields {
					if !occurs(folded, field, value) {
						t.Errorf("%s %d: %s %q is not in the text", kind, seed, field, value)
					}
				}
			}
			if !reflect.DeepEqual(d, statement.Long(kind, 10, seed)) {
				t.Errorf("%s %d: got two different documents", kind, seed)
			}
		}
	}
}

// TestLongFile prints a long document.
func TestLongFile(t *testing.T) {
	d := statement.Long("dividend", 10, 1)
	if f := d.File(); len(f.Body) < 10_000 || f.ContentType != "application/pdf" {
		t.Errorf("got %d bytes of %s", len(f.Body), f.ContentType)
	}
}
