package site

import (
	"fmt"
	"html/template"
	"net/http/httptest"
	"testing"

	"pregon/internal/catalog"
	"pregon/internal/site/render"
)

func TestWeeks(t *testing.T) {
	pages, err := render.New(render.Options{Pages: files, Funcs: template.FuncMap{"prose": prose, "inlines": inlines}})
	if err != nil {
		t.Fatal(err)
	}
	e := edition{pages.Edition(httptest.NewRequest("GET", "/?lang=en", nil))}
	var days []catalog.Daily
	for d := parseDay("2026-06-25"); d <= parseDay("2026-07-06"); d++ { // from a Thursday to a Monday
		days = append(days, catalog.Daily{Date: d.String(), Total: 1, Counts: catalog.Counts{IP: 1}})
	}
	var got []string
	for _, w := range e.weekSlots(days) {
		got = append(got, w.Title+" "+w.Label)
	}
	want := `["week of 25 Jun: 4 (IP 4) " "week of 29 Jun: 7 (IP 7) Jul" "week of 6 Jul: 1 (IP 1) "]`
	if fmt.Sprintf("%q", got) != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
