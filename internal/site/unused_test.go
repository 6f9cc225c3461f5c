package site

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/calendar"
	"pregon/internal/query"
	"pregon/internal/site/render"
	"pregon/internal/site/sitetest"
	"pregon/internal/source/health"
)

// tables are the texts of the layout, of charts and of the public pages. The console
// uses some of the layout.
var tables = allTexts()

func allTexts() render.Texts {
	all, err := render.CommonTexts()
	if err != nil {
		panic(err)
	}
	maps.Copy(all, render.MustReadTexts(files))
	return all
}

var pages = sitetest.Pages{
	Code: []string{
		"*.go", "templates/*.html",
		"assets/*.js",
		"chart/*.go", "chart/templates/*.html",
		"render/*.go", "render/templates/*.html", "render/assets/*.js",
	},
	Style: []string{"../text/look/*.css", "style/*.css", "assets/*.css", "chart/style/*.css", "render/style/*.css"},
	Texts: tables,
	Outside: map[string][]string{
		"type.":                 names(disclosure.Types),
		"kinds.":                names(disclosure.Kinds),
		"kind.":                 names(disclosure.Kinds),
		"state.":                append(names(health.States), "off", "about"),
		"status.is.":            append(names(health.States), "off"),
		"status.about.":         append(names(health.States), "off"),
		"status.surface.":       {"ok", "stale", "unread", "failing"},
		"surface.":              append(slices.Concat(names(health.Surfaces), health.Registers), health.Service),
		"reason.":               names(health.Codes),
		"error.":                nil, // a status without a text has that of error.other
		"unknown.":              {"category", "market", "sector", "issuer", "fact", "kind"},
		"dev.tag.":              nil, // a tag without a text has its own name
		"class.":                names(disclosure.EUClasses),
		"method.":               {"extractive", "facts", "selected", "model"},
		"report.scanned.":       {"ocr", "mixed"},
		"factkind.":             names(disclosure.FactKinds()),
		"field.":                fieldNames(),
		"filter.without.":       {"none", query.WithoutRoutine, query.WithoutSecuritisation},
		"filter.days.":          {"1", "7", "30", "365"},
		"calendarkind.":         names(calendar.Kinds),
		"register.title.":       registerKinds(""),
		"register.tab.":         registerKinds(""),
		"register.description.": registerKinds(""),
		"register.lead.":        registerKinds(""),
		"register.count.":       append(registerKinds(".one"), registerKinds(".other")...),
		"positionstate.":        {"past", "ended", "closed", "rectified", "annulled"},
		"side.":                 names(disclosure.Sides),
		"relation.":             {"manager", "associated"},
		"month.":                numbers(1, 12),
		"weekday.":              numbers(0, 6),
	},
	Known: func(key string) bool { _, ok := tables[key]; return ok },
}

// names returns values of another package as they are in keys.
func names[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// registerKinds returns the kinds of positions that have a page as they are in keys, with
// what follows them.
func registerKinds(end string) (out []string) {
	for _, r := range registers {
		out = append(out, string(r.kind)+end)
	}
	return out
}

// fieldNames returns the fields of facts and of their rows as they are in keys.
func fieldNames() []string {
	out := append([]string{"capital.amount"}, rowColumns...)
	for _, kind := range disclosure.FactKinds() {
		out = append(out, kind.Fields()...)
	}
	return out
}

// numbers returns numbers as they are in keys.
func numbers(first, last int) (out []string) {
	for n := first; n <= last; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out
}

func TestTextsAreUsed(t *testing.T)     { pages.TextsAreUsed(t) }
func TestTextsExist(t *testing.T)       { pages.TextsExist(t) }
func TestClassesAreUsed(t *testing.T)   { pages.ClassesAreUsed(t) }
func TestTemplatesAreUsed(t *testing.T) { pages.TemplatesAreUsed(t) }
