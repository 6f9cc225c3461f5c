package search_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

// The examples of docs/search.md find something in the market of the demo.
func TestDocsExamples(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/search.md")
	if err != nil {
		t.Fatal(err)
	}
	demo := market.New(1)
	m := newReference()
	issuers := demo.Issuers()
	for i := range issuers {
		issuers[i].LEI = market.LEI(issuers[i]) // which registers have
	}
	m.apply(slices.Collect(demo.Bulk(3_000, until)), issuers)
	row, code := regexp.MustCompile("(?m)^\\| (`.*?) \\|"), regexp.MustCompile("`([^`]+)`")
	examples := 0
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		for _, c := range code.FindAllStringSubmatch(r[1], -1) {
			if strings.Contains(c[1], "40374") { // not in the demo market
				continue
			}
			examples++
			if n, _ := find(m.writer.Index(), disclosure.Filter{Search: c[1]}, 0, 1); n == 0 {
				t.Errorf("%s finds nothing", c[1])
			}
		}
	}
	if examples < 8 {
		t.Errorf("the page has only %d examples", examples)
	}
}
