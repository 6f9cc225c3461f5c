package catalog_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/text"
)

// The known names are plain, and differ from each other.
func TestKnownNames(t *testing.T) {
	for _, list := range [][]string{disclosure.Categories, disclosure.Markets} {
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
	if names, similar := s.SimilarMarkets("nasdaq", 9); similar || len(names) != len(disclosure.Markets) {
		t.Errorf("nasdaq is like %q, %v", names, similar)
	}
}
