package site

import (
	"fmt"
	"testing"

	"pregon/internal/catalog"
)

func TestWeeks(t *testing.T) {
	words, err := newVocabulary(MustReadTexts(textFiles), english)
	if err != nil {
		t.Fatal(err)
	}
	e := Edition{Language: english, vocabulary: words}
	var days []catalog.Daily
	for d := parseDay("2026-06-25"); d <= parseDay("2026-07-06"); d++ { // from a Thursday to a Monday
		days = append(days, catalog.Daily{Date: d.String(), Total: 1, Counts: catalog.Counts{IP: 1}})
	}
	var got []string
	for _, w := range e.weekSlots(days) {
		got = append(got, w.Title+" "+w.Label)
	}
	want := `["week of 25 Jun: 4 (IP 4) " "week of 29 Jun: 7 (IP 7) Jul" "week of 6 Jul: 1 (IP 1) "]`
	if fmt.Sprintf("%q", got) != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
