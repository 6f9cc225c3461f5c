package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/sim/market"
	"pregon/internal/text"
)

// The number of texts that a search reads is bounded for every query.
func TestSearchReadsFewTexts(t *testing.T) {
	t.Parallel()
	m := newReference()
	m.apply(slices.Collect(market.New(1).Bulk(6_000, until)), nil) // one segment, large enough for plain sets
	x := m.writer.Index()
	few := x.Len() / 128 // the most reports that have a rare word
	title, longest := "", x.LongestText()
	for d := range walk(x, disclosure.Filter{}) {
		if _, said, _ := strings.Cut(x.Record(d), " "); len(said) > len(title) {
			title = text.Fold(said)
		}
	}
	words := strings.Fields(title)
	var within, without []string
	for from := range words {
		for to := from + 2; to <= len(words); to++ {
			within = append(within, `"`+strings.Join(words[from:to], " ")+`"`)
			without = append(without, `-`+within[len(within)-1])
		}
	}
	for name, test := range map[string]struct {
		text string
		most int
	}{
		"a word again and again":           {`"` + strings.Repeat("de ", 20_000) + `"`, 0},
		"two words again and again":        {`"` + strings.Repeat("de ", 10_000) + strings.Repeat("la ", 10_000) + `"`, 0},
		"longer than every text":           {`"` + strings.Repeat("de la ", longest/2+1) + `"`, 0},
		"common words side by side":        {`"de la"`, 0},
		"common words that are never so":   {`"de de de de la la"`, 0},
		"without common words so":          {`-"de la"`, 0},
		"all phrases of a title":           {strings.Join(within, " "), few},
		"a phrase of a title":              {within[len(words)/2], few},
		"more phrases than a text has":     {phrasesOf(longest*longest+1, ""), 0},
		"without thousands of new phrases": {phrasesOf(5_000, "-"), 0},
	} {
		if n, err := x.Reads(t.Context(), disclosure.Filter{Search: test.text}); err != nil || n > test.most {
			t.Errorf("%s: %d texts are read, want %d at most; %v", name, n, test.most, err)
		}
		findIssuers(x.Directory(), test.text, "", 10)
	}
	if n, err := x.Reads(t.Context(), disclosure.Filter{Search: strings.Join(without, " ")}); err != nil || n > x.Len() {
		t.Errorf("without all phrases of a title: %d texts are read of %d, %v", n, x.Len(), err)
	}
}

// phrasesOf returns n phrases that no text has.
func phrasesOf(n int, before string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `%s"de z%d" `, before, i)
	}
	return b.String()
}

// A search ends with its context.
func TestSearchObeysItsContext(t *testing.T) {
	t.Parallel()
	x := simulated(2_000, rand.New(rand.NewPCG(1, 2))).writer.Index()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	f := disclosure.Filter{Search: "de"}
	_, _, searched := x.Search(gone, f, 0, 10)
	_, _, among := x.Among(gone, search.NumberSet{2}, f, 0, 10)
	_, walked := x.Walk(gone, f)
	_, issuers := x.Directory().Search(gone, "de", "", 10)
	_, misspelt := x.Directory().Search(gone, "bodgeasss", "", 10)
	for name, err := range map[string]error{"search": searched, "among": among, "walk": walked, "issuers": issuers, "misspelt": misspelt} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A query that excludes so many phrases that half of all texts would have to be
// read is rejected, with an error that suggests a fix.
func TestTooManyExcludedPhrases(t *testing.T) {
	t.Parallel()
	m := newReference()
	var reports []disclosure.Report
	for n := range 20_000 {
		reports = append(reports, plain(int64(n+1), n, "A69000016", fmt.Sprintf("uno%d dos%d tres%d", n%500, n%500, n%500)))
	}
	m.apply(reports, nil)
	var b strings.Builder
	for n := range 500 {
		fmt.Fprintf(&b, `-"uno%d tres%d" `, n, n)
		if n == 100 {
			if _, err := m.writer.Index().Reads(t.Context(), disclosure.Filter{Search: b.String()}); err != nil {
				t.Errorf("a hundred: %v", err)
			}
		}
	}
	_, err := m.writer.Index().Reads(t.Context(), disclosure.Filter{Search: b.String()})
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "Use fewer") {
		t.Errorf("got error %v, want Invalid with a suggestion", err)
	}
}
