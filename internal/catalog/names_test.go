package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
	"pregon/internal/text"
)

// The known names are plain, and differ from each other.
func TestKnownNames(t *testing.T) {
	for _, list := range [][]string{disclosure.Categories, disclosure.Markets, disclosure.Sectors} {
		seen := map[string]bool{"": true}
		for _, name := range list {
			if folded := text.Fold(name); seen[folded] {
				t.Errorf("%q is there twice, or empty", name)
			} else {
				seen[folded] = true
			}
		}
	}
	if !slices.IsSorted(disclosure.Categories) {
		t.Error("the categories are not sorted")
	}
}

// A name is known if a report or the directory has it, or without any.
func TestKnows(t *testing.T) {
	s := load(t, simulated(200)).Snapshot()
	for value, want := range map[string][2]bool{ // as a whole name, as words
		"Sobre resultados": {true, true},
		"recompra":         {false, true},
		"de":               {false, true},
		"recom":            {false, false},
		"***":              {false, false},
		"":                 {false, false},
	} {
		got := [2]bool{
			s.KnowsCategory(disclosure.Filter{Category: value}),
			s.KnowsCategory(disclosure.Filter{Category: value, CategoryWords: true}),
		}
		if got != want {
			t.Errorf("category %q: %v, want %v", value, got, want)
		}
	}
	for value, want := range map[string][2]bool{
		"bme growth": {true, true},
		"BME":        {false, true},
		"nasdaq":     {false, false},
	} {
		got := [2]bool{
			s.KnowsMarket(disclosure.Filter{Market: value}),
			s.KnowsMarket(disclosure.Filter{Market: value, MarketWords: true}),
		}
		if got != want {
			t.Errorf("market %q: %v, want %v", value, got, want)
		}
	}
	if names, similar := s.SimilarCategories("resultdos", 3); !similar || !slices.Equal(names, []string{"Sobre resultados"}) {
		t.Errorf("resultdos is like %q, %v", names, similar)
	}
	for value, want := range map[string][2]bool{
		"construccion":                    {true, true}, // the directory of the test does not have any
		"banks":                           {false, true},
		"bancos":                          {false, true},
		"FINANCIACION Y SEGUROS / BANCOS": {true, true},
		"ban":                             {false, false},
		"-":                               {false, false},
	} {
		got := [2]bool{
			s.KnowsSector(disclosure.Filter{Sector: value}),
			s.KnowsSector(disclosure.Filter{Sector: value, SectorWords: true}),
		}
		if got != want {
			t.Errorf("sector %q: %v, want %v", value, got, want)
		}
	}
	for _, value := range []string{"bnaks", "bncos"} {
		if names, similar := s.SimilarSectors(value, 1); !similar || !slices.Equal(names, disclosure.Sectors[:1]) {
			t.Errorf("%s is like %q, %v", value, names, similar)
		}
	}
	if names, similar := s.SimilarMarkets("nasdaq", 9); similar || len(names) != len(disclosure.Markets) {
		t.Errorf("nasdaq is like %q, %v", names, similar)
	}
}

// BenchmarkNames20k lists reports by the name of a category, and by words of names.
func BenchmarkNames20k(b *testing.B) {
	s := loaded(b, simulated(20_000)).Snapshot()
	for name, f := range map[string]disclosure.Filter{
		"whole category": {Category: "Sobre resultados"},
		"words of one":   {Category: "recompra", CategoryWords: true},
		"words of many":  {Category: "sobre", CategoryWords: true},
		"whole market":   {Market: "SIBE"},
		"word of market": {Market: "bme", MarketWords: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				reports(s, f, 1, 10)
			}
		})
	}
	b.Run("known words", func(b *testing.B) {
		for b.Loop() {
			s.KnowsCategory(disclosure.Filter{Category: "recompra"})
			s.KnowsCategory(disclosure.Filter{Category: "recompra", CategoryWords: true})
		}
	})
	b.Run("similar", func(b *testing.B) {
		value := strings.Repeat("resultdo ", 22) // as long as a name may be
		for b.Loop() {
			s.SimilarCategories(value, 5)
		}
	})
	r := newReport(disclosure.OIR, 1, "2026-04-22T08:00:00Z", bodegas)
	r.Category = "Programas de recompra de acciones, estabilización y autocartera"
	change := s.Directory().Analyze(&r)
	for name, f := range map[string]disclosure.Filter{
		"match whole": {Category: r.Category},
		"match words": {Category: "recompra", CategoryWords: true},
	} {
		matcher := search.Compile(f)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if !matcher.Match(change) {
					b.Fatal("not matched")
				}
			}
		})
	}
	b.Run("analyse", func(b *testing.B) {
		for b.Loop() {
			s.Directory().Analyze(&r)
		}
	})
}
