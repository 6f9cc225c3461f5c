package search_test

import (
	"slices"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// Categories are selected by words in Spanish and English, and by words that people use.
func TestCategoryWords(t *testing.T) {
	for asked, want := range map[string][]string{
		"recompra":              {"Programas de recompra de acciones, estabilización y autocartera"},
		"buyback":               {"Programas de recompra de acciones, estabilización y autocartera"},
		"board changes":         {"Sobre gobierno corporativo"},
		"cambios consejo":       {"Sobre gobierno corporativo"},
		"suspension of trading": {"Sobre suspensiones, levantamientos y exclusiones de negociación"},
		"credit ratings":        {"Sobre calificaciones crediticias"},
		"takeover bids": {
			"Ofertas públicas de adquisición de acciones",
			"Sobre ofertas públicas de adquisición de acciones",
		},
		"capital increases in kind": nil,
	} {
		f := search.NewNameFilter(asked, true)
		var got []string
		for _, name := range disclosure.Categories {
			if f.MatchAny(search.NewCategories([]string{name})) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: selects %q, want %q", asked, got, want)
		}
	}
	whole := search.NewNameFilter("credit ratings", false)
	if whole.MatchAny(search.NewCategories(disclosure.Categories)) {
		t.Error("a filter of a whole name selects a category by its English words")
	}
}

// The number and the accents of words do not matter, whatever the regulator calls a
// category.
func TestCategoryInSingularOrPlural(t *testing.T) {
	categories := search.NewCategories([]string{"Ampliaciones y reducciones de capital"})
	for _, asked := range []string{"ampliación de capital", "AMPLIACIONES DE CAPITAL", "reduccion capital"} {
		f := search.NewNameFilter(asked, true)
		if !f.MatchAny(categories) {
			t.Errorf("%s selects no category", asked)
		}
	}
	if f := search.NewNameFilter("ampliación de negocio", true); f.MatchAny(categories) {
		t.Error("words that the category does not have select it")
	}
}

// What is similar to an English name is found too.
func TestCategoryLikeness(t *testing.T) {
	const category = "Sobre calificaciones crediticias"
	if got := search.CategoryLikeness("credit ratinsg", category); got < 0.5 {
		t.Errorf("a typing error in an English name: %v", got)
	}
	if got := search.CategoryLikeness("zzzz", category); got > 0.2 {
		t.Errorf("another word: %v", got)
	}
}

func TestHasOperators(t *testing.T) {
	for asked, want := range map[string]bool{
		`"Banco Ficticio"`:   true,
		"«Banco Ficticio»":   true,
		"banco -ficticio":    true,
		"-banco":             true,
		"Banco Ficticio":     false,
		"buy-backs ficticio": false,
		"":                   false,
	} {
		if search.HasOperators(asked) != want {
			t.Errorf("%q: got %v", asked, !want)
		}
	}
}
