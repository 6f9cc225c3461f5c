package disclosure

import (
	_ "embed"
	"strings"

	"pregon/internal/text"
)

// categoryLines has a line for each category: its name, a tab, its English name.
//
//go:embed categories.txt
var categoryLines string

// Categories are the names of the regulator's categories that are known without a
// report. The regulator does not publish them, and may have others.
var Categories, englishCategories = readCategories(categoryLines)

// readCategories returns the names of the categories, and their English names by the
// folded name.
func readCategories(lines string) (names []string, english map[string]string) {
	english = map[string]string{}
	for line := range strings.Lines(lines) {
		name, translation, _ := strings.Cut(strings.TrimSpace(line), "\t")
		names = append(names, name)
		english[text.Fold(name)] = translation
	}
	return names, english
}

// untranslated ends the name of a category that has no English name.
const untranslated = " (es)"

// CategoryEN returns the English name of a category, which may be spelled in any way.
// If it is not known, it returns the Spanish name with the mark " (es)".
func CategoryEN(name string) (english string, known bool) {
	if english, known = englishCategories[text.Fold(name)]; known {
		return english, true
	}
	return name + untranslated, false
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
