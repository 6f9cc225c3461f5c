package disclosure_test

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
)

// TestEnglishCategories: every category has an English name of its own.
func TestEnglishCategories(t *testing.T) {
	if !slices.IsSorted(disclosure.Categories) {
		t.Error("categories.txt is not sorted")
	}
	spanish := map[string]string{}
	for _, name := range disclosure.Categories {
		english, known := disclosure.CategoryEN(name)
		folded := strings.ToLower(english)
		switch other := spanish[folded]; {
		case !known || strings.TrimSpace(english) == "" || english == name:
			t.Errorf("%q has no English name: add a tab and the name to its line in categories.txt", name)
		case other != "":
			t.Errorf("%q and %q have the same English name %q", name, other, english)
		case strings.TrimSpace(name) != name || strings.TrimSpace(english) != english:
			t.Errorf("%q, %q: needless space", name, english)
		}
		spanish[folded] = name
	}
}

func TestCategoryEN(t *testing.T) {
	tests := []struct {
		name, english string
		known         bool
	}{
		{"Sobre resultados", "Results", true},
		{"SOBRE  RESULTADOS ", "Results", true},
		{"Sobre suspensiones, levantamientos y exclusiones de negociacion", "Trading suspensions, resumptions and delistings", true},
		{"Sobre dividendos", "Sobre dividendos (es)", false},
		{"resultados", "resultados (es)", false}, // words of a name are no name
		{"", " (es)", false},
	}
	for _, test := range tests {
		english, known := disclosure.CategoryEN(test.name)
		if english != test.english || known != test.known {
			t.Errorf("%q: %q, %t", test.name, english, known)
		}
	}
	got := disclosure.CategoriesEN([]string{"Fusión de IIC", "Sobre dividendos"})
	if want := []string{"Fund merger", "Sobre dividendos (es)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A category is found by its English name, in any spelling.
func TestCategoryOf(t *testing.T) {
	for _, name := range disclosure.Categories {
		english, _ := disclosure.CategoryEN(name)
		if got, known := disclosure.CategoryOf(strings.ToUpper(english)); !known || got != name {
			t.Errorf("%q is the category %q, want %q", english, got, name)
		}
	}
	for _, other := range []string{"", "governance", "Sobre gobierno corporativo"} {
		if got, known := disclosure.CategoryOf(other); known {
			t.Errorf("%q is the category %q", other, got)
		}
	}
}
