package fact

import (
	"slices"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

// trapTest is a document with something that looks like a fact.
type trapTest struct {
	name      string
	company   string
	title     string
	published string
	language  string
	text      string
	want      []string
}

// testTraps finds the facts of a kind in documents with traps.
func testTraps(t *testing.T, kind disclosure.FactKind, tests []trapTest) {
	t.Helper()
	for _, test := range tests {
		published, err := time.Parse(time.DateOnly, test.published)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		language := test.language
		if language == "" {
			language = "es"
		}
		got := stating(kind, Document{
			Company:   test.company,
			Title:     test.title,
			Category:  "Otra información relevante",
			Language:  language,
			Published: published,
			Pages:     []string{test.text},
		})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
