package disclosure

import (
	_ "embed"
	"strings"

	"pregon/internal/text"
)

// categoryLines has a line for each category: its name, its English name, its class of
// regulated information if that is certain, and other words that people use for it,
// with a tab between them.
//
//go:embed categories.txt
var categoryLines string

// Categories are the names of the regulator's categories that are known without a
// report. The regulator does not publish them, and may have others.
var Categories, knownCategories = readCategories(categoryLines)

// knownCategory is what the program knows of a category.
type knownCategory struct {
	english string
	class   EUClass // of other relevant information in it, or ""
	others  string  // words that people use for it
}

// readCategories returns the names of the categories, and what is known of them by the
// folded name.
func readCategories(lines string) (names []string, known map[string]knownCategory) {
	known = map[string]knownCategory{}
	for line := range strings.Lines(lines) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		english, rest, _ := strings.Cut(rest, "\t")
		class, others, _ := strings.Cut(rest, "\t")
		names = append(names, name)
		known[text.Fold(name)] = knownCategory{english, EUClass(class), others}
	}
	return names, known
}

// untranslated ends the name of a category that has no English name.
const untranslated = " (es)"

// CategoryEN returns the English name of a category, which may be spelled in any way.
// If it is not known, it returns the Spanish name with the mark " (es)".
func CategoryEN(name string) (english string, known bool) {
	if category, found := knownCategories[text.Fold(name)]; found {
		return category.english, true
	}
	return name + untranslated, false
}

// CategoryOf returns the category that has an English name.
func CategoryOf(english string) (name string, known bool) {
	folded := text.Fold(english)
	for _, name := range Categories {
		if folded != "" && text.Fold(knownCategories[text.Fold(name)].english) == folded {
			return name, true
		}
	}
	return "", false
}

// CategoryTerms returns the English name of a category and other words by which people ask
// for it, or "" if they are not known.
func CategoryTerms(name string) string {
	category := knownCategories[text.Fold(name)]
	return strings.TrimSpace(category.english + " " + category.others)
}

// CategoriesEN returns the English names of categories: see CategoryEN.
func CategoriesEN(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i], _ = CategoryEN(name)
	}
	return out
}

// Markets are the markets of companies, in the order in which the market of a company
// is chosen if its shares are in several.
var Markets = []string{"SIBE", "Floor", "Latibex", "BME Growth", "BME Scaleup"}

// Sectors are some of the regulator's sectors of issuers, as it writes them. It does not
// publish all of them.
var Sectors = []string{
	"FINANCIACIÓN Y SEGUROS/BANCOS",
	"CONSTRUCCIÓN",
	"MEDIOS DE COMUNICACIÓN",
	"TRANSPORTES Y COMUNICACIONES/COMUNICACIONES",
}
