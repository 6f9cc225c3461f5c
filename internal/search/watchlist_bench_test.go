package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// BenchmarkWatchlist20k finds and matches what a list of 450 issuers and 50 saved searches
// selects of 20,000 reports.
func BenchmarkWatchlist20k(b *testing.B) {
	m := simulated(20_000, rand.New(rand.NewPCG(1, 1)))
	x := m.writer.Index()
	list := &disclosure.Entries{}
	for i, e := range x.Directory().Issuers() {
		if i < 450 {
			list.Issuers = append(list.Issuers, e.Issuer.ID)
		}
	}
	words := []string{"dividendo", "junta general", `"recompra de acciones"`, "ampliación capital", "rating", "-fondo resultados"}
	for i := range 50 {
		f := disclosure.Filter{Search: words[i%len(words)], Type: disclosure.Types[i%3]}
		if i%5 == 0 {
			f = disclosure.Filter{Fact: disclosure.Dividend, Kind: disclosure.Company}
		}
		if i%5 == 1 {
			f = disclosure.Filter{Sector: "bank", SectorWords: true, Search: fmt.Sprint(words[i%len(words)], " ", i)}
		}
		list.Filters = append(list.Filters, f)
	}
	f := disclosure.Filter{Entries: list}
	b.Run(fmt.Sprintf("list of %d issuers", len(list.Issuers)), func(b *testing.B) {
		for b.Loop() {
			total, _ := find(x, f, 0, 50)
			b.ReportMetric(float64(total), "reports")
		}
	})
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			search.Compile(f)
		}
	})
	var events []*search.Report
	for _, r := range slices.Collect(maps.Values(m.reports)) {
		if len(events) < 1000 {
			events = append(events, x.Directory().Analyze(r))
		}
	}
	matcher := search.Compile(f)
	b.Run("match one", func(b *testing.B) {
		n := 0
		for b.Loop() {
			matcher.Match(events[n%len(events)])
			n++
		}
	})
}
