package query_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/query/querytest"
	"pregon/internal/store/sqlite"
)

// The opening of a document is cut at the end of a word, and that of a short one is whole.
func TestOpening(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b := querytest.Market()
	b.New = disclosure.Published
	querytest.Append(t, db, catalog.New(db, slog.New(slog.DiscardHandler)), b)
	q := query.New(query.Options{Documents: db})
	long := strings.Repeat("acción ", 400)
	for name, c := range map[string]struct {
		pages []string
		chars int
		whole bool
	}{
		"short":     {[]string{"Acuerdo", "del consejo"}, 18, true},
		"long":      {[]string{long}, 1497, false}, // 214 words
		"two pages": {[]string{long[:800], long}, 1497, false},
		"one word":  {[]string{strings.Repeat("ñ", 2000)}, 1500, false},
	} {
		report := querytest.Document(t, db, "oir-40374", c.pages...)
		for range 2 { // from the store and from memory
			got := q.Opening(t.Context(), &report)
			if got == nil {
				t.Fatalf("%s: there is no opening", name)
			}
			chars := 0
			for _, p := range got.Pages {
				chars += utf8.RuneCountInString(p.Text)
			}
			if got.Whole != c.whole || chars > query.OpeningChars+1 || chars < c.chars-10 {
				t.Errorf("%s: %d characters, whole %t", name, chars, got.Whole)
			}
			last := got.Pages[len(got.Pages)-1].Text
			if name != "one word" && !c.whole && !strings.HasSuffix(last, "acción…") {
				t.Errorf("%s ends in %q", name, last[len(last)-20:])
			}
		}
	}
	if q.Opening(t.Context(), &disclosure.Report{}) != nil {
		t.Error("a report without a document has an opening")
	}
}
