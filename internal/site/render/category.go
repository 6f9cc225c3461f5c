package render

import (
	"cmp"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/text"
)

// Category returns the name of a category in the language of the edition.
func (e Edition) Category(name string) string {
	if e.Language != English {
		return name
	}
	english, _ := disclosure.CategoryEN(name)
	return english
}

// CategoryCondition returns what a filter has as its category in the language of the
// edition. That may be words of a name, which are shown as they are.
func (e Edition) CategoryCondition(value string) string {
	if english, known := disclosure.CategoryEN(value); known && e.Language == English {
		return english
	}
	return value
}

// Sector returns the name of a sector in the language of the edition. The register writes most of
// them in capitals and without accents. A name that is not known stays Spanish, and is marked on
// English pages as that of a category is.
func (e Edition) Sector(name string) string {
	_, english := query.SectorNames(name)
	worded := e.SectorCondition(name)
	if e.Language == English && english == "" && name != "" {
		worded += " (es)"
	}
	return worded
}

// SectorCondition returns what a filter has as its sector in the language of the edition. That may
// be words of several names, which stay Spanish.
func (e Edition) SectorCondition(value string) string {
	spanish, english := query.SectorNames(value)
	if e.Language == English && english != "" {
		return english
	}
	if spanish == "" && value == strings.ToUpper(value) {
		sentence := text.Sentence(strings.ReplaceAll(strings.ToLower(value), "/", ": "))
		spanish = strings.TrimSuffix(sentence, ".")
	}
	return cmp.Or(spanish, value)
}
