package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSuggestions(t *testing.T) {
	s := start(t, "demo", market())
	type item struct {
		Kind   string
		Text   string
		ID     *string
		Ticker *string
		Total  *int
	}
	ask := func(q string) []string {
		var list struct{ Data []item }
		s.get(http.StatusOK, "/api/v1/suggest"+q).decode(&list)
		got := []string{}
		for _, i := range list.Data {
			if (i.Kind == "issuer") != (i.ID != nil) || (i.Kind == "category") != (i.Total != nil) {
				t.Errorf("%s: %+v", q, i)
			}
			got = append(got, i.Kind+" "+i.Text)
		}
		return got
	}
	const bodegas, aceros = "issuer BODEGAS DE VALDEBRISA, S.A.", "issuer ACEROS DE NAVALBRUMA, S.A."
	for q, want := range map[string][]string{
		"":              {},
		"?q=":           {},
		"?q=%20.":       {},
		"?q=bode":       {bodegas},
		"?q=BVB":        {bodegas},
		"?q=bodgeas":    {bodegas}, // one error is forgiven
		"?q=zzzzzzzz":   {},
		"?q=de&limit=1": {aceros},
	} {
		if diff := cmp.Diff(want, ask(q)); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
	// Categories come after issuers, and leave room for them.
	if got := ask("?q=sobre"); len(got) == 0 || got[0][:8] != "category" {
		t.Errorf("a word of a category suggests %v", got)
	}
	s.get(http.StatusBadRequest, "/api/v1/suggest?q=a&limit=51")
	s.get(http.StatusBadRequest, "/api/v1/suggest?q=a&q=b")
}
