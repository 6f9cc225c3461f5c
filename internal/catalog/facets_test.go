package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/sim/market"
)

// simulated returns a log of a simulated market with its issuers.
func simulated(size int) *memoryLog {
	m, log := market.New(1), newMemoryLog()
	for _, i := range m.Issuers() {
		log.append(listed(i))
	}
	for r := range m.Bulk(size, time.Date(2026, 4, 22, 8, 0, 0, 0, time.UTC)) {
		log.append(published(r))
	}
	return log
}

// Every count is the total of the list that it narrows the search down to.
func TestFacetsAreTotalsOfLists(t *testing.T) {
	c := catalog.New(simulated(6000), quiet)
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := c.Snapshot()
	for _, f := range []disclosure.Filter{
		{},
		{Search: "dividendo"},
		{NoSecuritisation: true},
		{Market: "sibe", Type: disclosure.OIR},
		{Search: "de -fondo", Kind: disclosure.Fund},
		{From: day(t, "2021-03-01"), To: day(t, "2021-12-30")},
		{Search: "inexistente"},
	} {
		facets := must(s.Facets(t.Context(), f))
		total := func(f disclosure.Filter) int { return reports(s, f, 1, 1).Total }
		compare := func(kind string, list []catalog.Facet, narrow func(f *disclosure.Filter, value string)) {
			t.Helper()
			if len(list) == 0 && facets.Total > 0 && f.Kind == "" {
				t.Errorf("%+v: no %s", f, kind)
			}
			for i, facet := range list {
				g := f
				narrow(&g, facet.Value)
				if want := total(g); facet.Total != want || want == 0 {
					t.Errorf("%+v: %s %s has %d reports, want %d", f, kind, facet.Value, facet.Total, want)
				}
				if i > 0 && kind != "year" && list[i-1].Total < facet.Total || i > 0 && kind == "year" && list[i-1].Value <= facet.Value {
					t.Errorf("%+v: %s %s comes after %s", f, kind, facet.Value, list[i-1].Value)
				}
			}
		}
		if want := total(f); facets.Total != want {
			t.Errorf("%+v: got a total of %d, want %d", f, facets.Total, want)
		}
		compare("type", facets.Types, func(f *disclosure.Filter, v string) { f.Type = disclosure.Type(v) })
		compare("category", facets.Categories, func(f *disclosure.Filter, v string) { f.Category = v })
		compare("market", facets.Markets, func(f *disclosure.Filter, v string) { f.Market = v })
		compare("year", facets.Years, func(f *disclosure.Filter, v string) {
			f.From, f.To = max(f.From, day(t, v+"-01-01")), day(t, v+"-12-31")
		})
	}
}

// Categories and markets count under one spelling. Years are Madrid's.
func TestFacetSpellings(t *testing.T) {
	with := func(r disclosure.Report, nif, category string) disclosure.Report {
		r.NIF, r.Category = nif, category
		r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: hash(r.Number)}
		return r
	}
	log := newMemoryLog()
	for _, i := range []disclosure.Issuer{
		{ID: "A69000016", Name: bodegas, Market: "BME Growth", Sector: "INDUSTRIA ALIMENTARIA"},
		{ID: "A69000024", Name: aceros, Market: "BME GROWTH", Sector: "Metálicas básicas"},
		{ID: "A69000032", Name: "OTRA, S.A.", Market: "-", Sector: "METALICAS BASICAS"},
	} {
		log.append(listed(i))
	}
	for _, r := range []disclosure.Report{
		with(newReport(disclosure.IP, 1, "2025-12-31T22:59:59Z", bodegas), "A69000016", "Sobre resultados - SOBRE RESULTADOS"),
		with(newReport(disclosure.OIR, 2, "2025-12-31T23:00:00Z", aceros), "A69000024", "SOBRE  RESULTADOS - Otros"),
		with(newReport(disclosure.OIR, 3, "2026-04-22T08:00:00Z", aceros), "A69000024", ""),
		with(newReport(disclosure.HR, 4, "1999-12-31T23:00:00Z", "OTRA, S.A."), "A69000032", "Otros"),
	} {
		log.append(published(r))
	}
	c := load(t, log)
	want := catalog.Facets{
		Total:      4,
		Types:      []catalog.Facet{{Value: "OIR", Total: 2}, {Value: "HR", Total: 1}, {Value: "IP", Total: 1}},
		Years:      []catalog.Facet{{Value: "2026", Total: 2}, {Value: "2025", Total: 1}, {Value: "2000", Total: 1}},
		Categories: []catalog.Facet{{Value: "Otros", Total: 2}, {Value: "Sobre resultados", Total: 2}},
		Markets:    []catalog.Facet{{Value: "BME GROWTH", Total: 3}},
		Sectors:    []catalog.Facet{{Value: "Metálicas básicas", Total: 3}, {Value: "INDUSTRIA ALIMENTARIA", Total: 1}},
	}
	if diff := cmp.Diff(want, must(c.Snapshot().Facets(t.Context(), disclosure.Filter{}))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Otros", "Sobre resultados"}, c.Snapshot().CategoryNames()); diff != "" {
		t.Error(diff)
	}
	found, _ := c.Snapshot().Report("oir-2")
	if diff := cmp.Diff([]string{"SOBRE RESULTADOS", "Otros"}, found.Categories()); diff != "" {
		t.Error(diff)
	}

	var some search.NumberSet
	for _, number := range []int64{2, 4} {
		h, _ := search.ParseHash(hash(number))
		some.Add(c.Documents().Of(h)[0])
	}
	want = catalog.Facets{
		Total: 1, Types: []catalog.Facet{{Value: "OIR", Total: 1}}, Years: []catalog.Facet{{Value: "2026", Total: 1}},
		Categories: []catalog.Facet{{Value: "Otros", Total: 1}, {Value: "SOBRE RESULTADOS", Total: 1}}, Markets: []catalog.Facet{{Value: "BME GROWTH", Total: 1}},
		Sectors: []catalog.Facet{{Value: "Metálicas básicas", Total: 1}},
	}
	if diff := cmp.Diff(want, must(c.Snapshot().FacetsAmong(t.Context(), some, disclosure.Filter{Type: disclosure.OIR}))); diff != "" {
		t.Error(diff)
	}
	none := catalog.Facets{Types: []catalog.Facet{}, Years: []catalog.Facet{}, Categories: []catalog.Facet{}, Markets: []catalog.Facet{}, Sectors: []catalog.Facet{}}
	if diff := cmp.Diff(none, must(c.Snapshot().FacetsAmong(t.Context(), nil, disclosure.Filter{}))); diff != "" {
		t.Error(diff)
	}
}

// hash returns the SHA-256 of a made-up document.
func hash(number int64) string { return strings.Repeat(fmt.Sprintf("%02x", number), 32) }

func TestFacetsObeyTheirContext(t *testing.T) {
	s := load(t, simulated(5000)).Snapshot()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Facets(canceled, disclosure.Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Facets: got the error %v, want that of the context", err)
	}
	if _, err := s.Months(canceled, disclosure.Filter{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Months: got the error %v, want that of the context", err)
	}
}

// Days and months are those of Madrid, which is an hour ahead.
func TestDaysAndMonths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		for i, at := range []string{"1999-10-31T22:59:59Z", "1999-10-31T23:00:00Z", "1999-11-30T22:59:59Z", "1999-12-31T22:59:59Z", "1999-12-31T23:00:00Z", "2000-02-01T00:00:00Z"} {
			r := newReport(disclosure.Types[i%3], int64(i+1), at, bodegas)
			r.NIF = "A69000016"
			log.append(published(r))
		}
		s := load(t, log).Snapshot() // it is midnight of 1 January 2000 in UTC
		none := catalog.Counts{}
		for _, test := range []struct {
			filter disclosure.Filter
			last   int
			want   []catalog.Monthly
		}{
			{disclosure.Filter{}, 3, []catalog.Monthly{
				{Month: "1999-11", Total: 2, Counts: catalog.Counts{HR: 1, OIR: 1}},
				{Month: "1999-12", Total: 1, Counts: catalog.Counts{IP: 1}},
				{Month: "2000-01", Total: 1, Counts: catalog.Counts{HR: 1}},
			}},
			{disclosure.Filter{Issuer: "A69000016", Type: disclosure.OIR, From: day(t, "1999-12-01")}, 3, []catalog.Monthly{{Month: "1999-11", Counts: none}, {Month: "1999-12", Counts: none}, {Month: "2000-01", Counts: none}}},
			{disclosure.Filter{}, -1, []catalog.Monthly{{Month: "2000-01", Total: 1, Counts: catalog.Counts{HR: 1}}}},
		} {
			if diff := cmp.Diff(test.want, must(s.Months(t.Context(), test.filter, test.last))); diff != "" {
				t.Errorf("the last %d months of %+v: %s", test.last, test.filter, diff)
			}
		}
		if got := must(s.Months(t.Context(), disclosure.Filter{}, 1<<40)); len(got) != 600 || got[0].Month != "1950-02" {
			t.Errorf("got %d months from %s on, want 600 from 1950-02 on", len(got), got[0].Month)
		}
		want := []catalog.Daily{{Date: "1999-12-31", Total: 1, Counts: catalog.Counts{IP: 1}}, {Date: "2000-01-01", Total: 1, Counts: catalog.Counts{HR: 1}}}
		if diff := cmp.Diff(want, s.Days(2)); diff != "" {
			t.Error(diff)
		}
		for last, want := range map[int]int{-5: 1, 0: 1, 366: 366, 1 << 40: 366} {
			if got := len(s.Days(last)); got != want {
				t.Errorf("Days(%d) returned %d days, want %d", last, got, want)
			}
		}
	})
}

// BenchmarkFacets350k counts all reports, those of a common word, and those of an issuer.
func BenchmarkFacets350k(b *testing.B) {
	s := loaded(b, simulated(350_000)).Snapshot()
	issuer := reports(s, disclosure.Filter{}, 1, 1).Reports[0].IssuerID()
	for name, f := range map[string]disclosure.Filter{"all": {}, "word": {Search: "dividendo"}, "others": {NoSecuritisation: true}, "issuer": {Issuer: issuer}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Facets(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("months", func(b *testing.B) {
		for b.Loop() {
			must(s.Months(b.Context(), disclosure.Filter{Issuer: issuer}, 36))
		}
	})
	middle := reports(s, disclosure.Filter{Issuer: issuer}, 1, 1<<30).Reports
	b.Run("neighbours", func(b *testing.B) {
		for b.Loop() {
			s.Before(middle[len(middle)/2], 5)
			s.After(middle[len(middle)/2], 5)
		}
	})
	b.Run("names", func(b *testing.B) {
		for b.Loop() {
			s.CategoryNames()
		}
	})
	b.Run("days", func(b *testing.B) {
		for b.Loop() {
			s.Days(366)
		}
	})
}
