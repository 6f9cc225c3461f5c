package catalog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// narrow returns a filter that also selects a value of a dimension.
func narrow(t *testing.T, f disclosure.Filter, by catalog.Dimension, value string) disclosure.Filter {
	t.Helper()
	switch by {
	case catalog.ByIssuer:
		f.Issuer = value
	case catalog.ByType:
		f.Type = disclosure.Type(value)
	case catalog.ByCategory:
		f.Category = value
	case catalog.ByDay:
		f.From, f.To = day(t, value), day(t, value)
	case catalog.ByMonth:
		first := day(t, value+"-01")
		f.From = max(f.From, first)
		f.To = disclosure.DayOf(first.Start().AddDate(0, 1, -1))
	case catalog.ByMarket:
		f.Market = value
	case catalog.BySector:
		f.Sector = value
	case catalog.ByKind:
		f.Kind = disclosure.Kind(value)
	}
	return f
}

// Every count is the total of the list that its value selects, and pages are parts of one
// list.
func TestCountsAreTotalsOfLists(t *testing.T) {
	c := catalog.New(simulated(6000), quiet)
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := c.Snapshot()
	for _, f := range []disclosure.Filter{
		{},
		{Search: "dividendo"},
		{Market: "sibe", Type: disclosure.OIR},
		{From: day(t, "2026-03-07"), To: day(t, "2026-04-02")},
	} {
		for _, by := range catalog.Dimensions {
			if f.From != 0 && by.InTime() {
				continue // narrow replaces the days
			}
			all := must(s.Count(t.Context(), f, by, 1, 100_000))
			if want := reports(s, f, 1, 1).Total; all.Total != want || all.Values != len(all.Counts) || want == 0 {
				t.Errorf("%+v by %s: a total of %d and %d values, want %d and %d", f, by, all.Total, all.Values, want,
					len(all.Counts))
			}
			checked := 0
			for i, one := range all.Counts {
				if i > 0 && !by.InTime() && one.Total > all.Counts[i-1].Total ||
					i > 0 && by.InTime() && one.Value >= all.Counts[i-1].Value {
					t.Errorf("%+v by %s: %v after %v", f, by, one, all.Counts[i-1])
				}
				if one.Value == "" || checked == 40 {
					continue
				}
				checked++
				if want := reports(s, narrow(t, f, by, one.Value), 1, 1).Total; one.Total != want || one.Name == "" {
					t.Errorf("%+v by %s: %+v, want %d", f, by, one, want)
				}
			}
			if checked == 0 && by != catalog.BySector { // its issuers have none
				t.Errorf("%+v by %s: no value", f, by)
			}
			second := must(s.Count(t.Context(), f, by, 2, 3))
			wanted := all.Counts[min(3, len(all.Counts)):min(6, len(all.Counts))]
			if len(wanted) == 0 {
				wanted = nil
			}
			if diff := cmp.Diff(wanted, second.Counts); diff != "" || second.Values != all.Values {
				t.Errorf("%+v by %s: the second page: %s", f, by, diff)
			}
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Count(canceled, disclosure.Filter{}, catalog.ByDay, 1, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("a count for a caller who left: %v", err)
	}
}

// Companies without a NIF count under their name, however it is spelt; an issuer counts
// under all of its identifiers; a report counts in each of its categories once.
func TestCountSpellings(t *testing.T) {
	log := newMemoryLog()
	log.append(listed(disclosure.Issuer{ID: "A69000016", Name: bodegas, Market: "BME Growth"}))
	with := func(number int64, at, company, nif, category string) {
		r := newReport(disclosure.OIR, number, at, company)
		r.NIF, r.Category = nif, category
		log.append(published(r))
	}
	with(1, "2025-12-31T22:59:59Z", "Otra, S.A.", "", "Sobre resultados - SOBRE RESULTADOS")
	with(2, "2025-12-31T23:00:00Z", "OTRA, S.A.", "", "Otros - Sobre resultados")
	with(3, "2026-03-29T00:30:00Z", bodegas, "", "Otros")
	with(4, "2026-03-29T21:30:00Z", "BODEGAS", "A69000016", "Otros")
	with(5, "2026-03-29T22:30:00Z", "TERCERA, S.A.", "A69000024", "")
	s := load(t, log).Snapshot()
	for _, test := range []struct {
		by   catalog.Dimension
		want []catalog.Count
	}{
		{catalog.ByIssuer, []catalog.Count{
			{Value: "", Name: "OTRA, S.A.", Total: 2},
			{Value: "A69000016", Name: bodegas, Total: 2},
			{Value: "A69000024", Name: "TERCERA, S.A.", Total: 1},
		}},
		{catalog.ByCategory, []catalog.Count{
			{Value: "Otros", Name: "Otros", Total: 3},
			{Value: "Sobre resultados", Name: "Sobre resultados", Total: 2},
		}},
		{catalog.ByDay, []catalog.Count{ // the clocks go forward on 2026-03-29
			{Value: "2026-03-30", Name: "2026-03-30", Total: 1},
			{Value: "2026-03-29", Name: "2026-03-29", Total: 2},
			{Value: "2026-01-01", Name: "2026-01-01", Total: 1},
			{Value: "2025-12-31", Name: "2025-12-31", Total: 1},
		}},
		{catalog.ByMonth, []catalog.Count{
			{Value: "2026-03", Name: "2026-03", Total: 3},
			{Value: "2026-01", Name: "2026-01", Total: 1},
			{Value: "2025-12", Name: "2025-12", Total: 1},
		}},
		{catalog.ByMarket, []catalog.Count{{Value: "BME Growth", Name: "BME Growth", Total: 2}}},
	} {
		got := must(s.Count(t.Context(), disclosure.Filter{}, test.by, 1, 50))
		most := test.want[0]
		for _, c := range test.want {
			if c.Total > most.Total {
				most = c
			}
		}
		want := catalog.Counted{Total: 5, Values: len(test.want), Counts: test.want, Most: most}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %s: %s", test.by, diff)
		}
	}
}

// A count of all reports of the market does not decode them.
func BenchmarkCount(b *testing.B) {
	c := catalog.New(simulated(60_000), quiet)
	if err := c.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	s := c.Snapshot()
	for _, by := range catalog.Dimensions {
		b.Run(string(by), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Count(b.Context(), disclosure.Filter{}, by, 1, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
