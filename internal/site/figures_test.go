package site

import (
	"fmt"
	"html/template"
	"net/http/httptest"
	"net/url"
	"testing"

	"pregon/internal/catalog"
	"pregon/internal/site/render"
)

// testPages returns the texts and templates of the pages.
func testPages(t *testing.T) *render.Renderer {
	t.Helper()
	pages, err := render.New(render.Options{Pages: files, Funcs: template.FuncMap{"prose": prose, "inlines": inlines}})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestWeeks(t *testing.T) {
	r := httptest.NewRequest("GET", "/?lang=en", nil)
	q := &request{Request: r, values: url.Values{}, edition: edition{testPages(t).Edition(r)}}
	var days []catalog.Daily
	for d := parseDay("2026-06-25"); d <= parseDay("2026-07-06"); d++ { // from a Thursday to a Monday
		days = append(days, catalog.Daily{Date: d.String(), Total: 1, Counts: catalog.Counts{IP: 1}})
	}
	var got []string
	for _, w := range q.weekSlots(days) {
		got = append(got, w.Title+" "+w.Label)
	}
	want := `["week of 25 Jun: 4 (IP 4) " "week of 29 Jun: 7 (IP 7) Jul" "week of 6 Jul: 1 (IP 1) "]`
	if fmt.Sprintf("%q", got) != want {
		t.Errorf("got %q, want %s", got, want)
	}
}
