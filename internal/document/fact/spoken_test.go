package fact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/document/fact"
)

// spoken is a text with the facts of one kind that it states.
type spoken struct {
	title string
	text  string // pages are separated by a form feed
	want  []map[string]string
}

// publishedFor is the day on which all these texts are published.
var publishedFor = time.Date(2026, 4, 20, 0, 0, 0, 0, time.UTC)

// checkSpoken finds the facts of one kind in texts.
func checkSpoken(t *testing.T, kind disclosure.FactKind, texts map[string]spoken) {
	t.Helper()
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			var got []map[string]string
			for _, f := range fact.Find(fact.Document{
				Company:   "Lumbre Textil, S.A.",
				Title:     text.title,
				Published: publishedFor,
				Pages:     strings.Split(text.text, "\f"),
			}) {
				if f.Kind == kind {
					got = append(got, f.Fields)
				}
			}
			if diff := cmp.Diff(text.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}
