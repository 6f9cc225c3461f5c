package catalog_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// hashOf returns the hash of a page of a catalogue with some changes.
func hashOf(t *testing.T, f disclosure.Filter, page, limit int, changes ...disclosure.Change) uint64 {
	t.Helper()
	log := newMemoryLog()
	log.append(changes...)
	return reports(load(t, log).Snapshot(), f, page, limit).Hash()
}

// Pages with different contents have different hashes.
func TestPageHashDiffersByContent(t *testing.T) {
	base := newReport(disclosure.OIR, 7, "2026-04-22T08:00:00Z", bodegas)
	base.NIF = "A69000016"
	other := newReport(disclosure.IP, 8, "2026-04-22T07:00:00Z", aceros)
	variants := map[string][]disclosure.Change{
		"base":        {published(base), published(other)},
		"one":         {published(base)},
		"none":        nil,
		"its ticker":  {published(base), published(other), listed(disclosure.Issuer{NIF: "A69000016", Name: bodegas, Ticker: "BVB"})},
		"its another": {published(base), published(other), listed(disclosure.Issuer{NIF: "A69000016", Name: bodegas, Ticker: "BVC"})},
		"others'":     {published(base), published(other), listed(disclosure.Issuer{NIF: "A69000024", Name: aceros, Ticker: "BVB"})},
	}
	for name, change := range map[string]func(r *disclosure.Report){
		"number":  func(r *disclosure.Report) { r.Number = 9 },
		"type":    func(r *disclosure.Report) { r.Type = disclosure.HR },
		"company": func(r *disclosure.Report) { r.CompanyName += " " },
		"title":   func(r *disclosure.Report) { r.Title = "[Simulación] Otras" },
		"summary": func(r *disclosure.Report) { r.Summary = "x" },
		"ticker":  func(r *disclosure.Report) { r.Ticker = "OWN" },
		"time":    func(r *disclosure.Report) { r.PublishedAt = r.PublishedAt.Add(time.Microsecond) },
		"later":   func(r *disclosure.Report) { r.PublishedAt = r.PublishedAt.Add(-2 * time.Hour) }, // and so after the other
		"pdf":     func(r *disclosure.Report) { r.PDFURL = "https://cnmv.invalid/a.pdf" },
	} {
		changed := base
		change(&changed)
		variants[name] = []disclosure.Change{published(changed), published(other)}
	}
	seen := map[uint64]string{}
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		h := hashOf(t, disclosure.Filter{}, 1, 10, variants[name]...)
		if same, ok := seen[h]; ok {
			t.Errorf("%q and %q have the hash %x", name, same, h)
		}
		seen[h] = name
		if again := hashOf(t, disclosure.Filter{}, 1, 10, variants[name]...); again != h {
			t.Errorf("%q has the hash %x, and %x in another catalogue", name, h, again)
		}
	}
	if h := hashOf(t, disclosure.Filter{}, 1, 1, variants["base"]...); seen[h] != "" {
		t.Error("one of two reports has the hash of the only one")
	}
	// Fields that are not in a list do not change its hash, nor does the order of
	// the changes.
	unseen := base
	unseen.Category, unseen.SourceURL = "Sobre resultados", "https://cnmv.invalid/x"
	if h := hashOf(t, disclosure.Filter{}, 1, 10, published(other), published(unseen)); seen[h] != "base" {
		t.Errorf("a source and a category, which are not in the list, change its hash")
	}
}

// Every page of a list has its own hash. Pages of different lists have the same
// hash if their contents and totals are equal.
func TestPageHashOfPages(t *testing.T) {
	log := newMemoryLog()
	for n := range int64(60) {
		r := newReport(disclosure.Types[n%3], n+1, "2026-04-22T08:00:00Z", bodegas)
		r.Title = fmt.Sprint("Report ", n)
		log.append(published(r))
	}
	one, other := load(t, log).Snapshot(), load(t, log).Snapshot()
	seen := map[uint64]string{}
	for limit := 1; limit <= 7; limit++ {
		for page := 1; (page-1)*limit < 60; page++ {
			p := reports(one, disclosure.Filter{}, page, limit)
			text := contents(p)
			if before, ok := seen[p.Hash()]; ok && before != text {
				t.Errorf("two contents have the hash %x", p.Hash())
			}
			seen[p.Hash()] = text
			if p.Hash() != reports(other, disclosure.Filter{}, page, limit).Hash() {
				t.Errorf("page %d of %d differs between two catalogues", page, limit)
			}
		}
	}
	all, words := reports(one, disclosure.Filter{}, 1, 60), reports(one, disclosure.Filter{Search: "report"}, 1, 60)
	if all.Hash() != words.Hash() {
		t.Error("one content has two hashes")
	}
}

func contents(p catalog.Page) string {
	b := fmt.Appendf(nil, "%d: ", p.Total)
	for _, f := range p.Reports {
		b = f.AppendJSON(b)
	}
	return string(b)
}
