package site

import (
	"net/http/httptest"
	"strings"
	"testing"

	"pregon/internal/catalog"
)

// The pace is worded as a multiple of the usual, or as a part of it.
func TestPaceText(t *testing.T) {
	pages := testPages(t)
	for _, test := range []struct {
		pace             catalog.Pace
		english, spanish string
	}{
		{catalog.Pace{Today: 187, Usual: 11}, "17 times the usual. Disclosures so far: 187. Usual by this time: 11.", "17 veces lo habitual. "},
		{catalog.Pace{Today: 3, Usual: 2}, "1.5 times the usual. Disclosures so far: 3. Usual by this time: 2.0.", "1,5 veces lo habitual. "},
		{catalog.Pace{Today: 4, Usual: 2}, "2 times the usual. ", "2 veces lo habitual. "},
		{catalog.Pace{Today: 11, Usual: 11.25}, "As usual. ", "Como es habitual. "},
		{catalog.Pace{Today: 2, Usual: 5}, "40% of the usual. ", "El 40 % de lo habitual. "},
		{catalog.Pace{Today: 0, Usual: 5}, "0% of the usual. ", "El 0 % de lo habitual. "},
		{catalog.Pace{Today: 3, Usual: 0.04}, "Disclosures so far: 3. Usual by this time: 0.0.", "Comunicaciones hasta ahora: 3. "},
		{catalog.Pace{Today: 3}, "Disclosures so far: 3. Usual by this time: 0.0.", "Comunicaciones hasta ahora: 3. "},
	} {
		for language, want := range map[string]string{"en": test.english, "es": test.spanish} {
			e := edition{pages.Edition(httptest.NewRequest("GET", "/?lang="+language, nil))}
			if got := e.paceText(test.pace); !strings.HasPrefix(got, want) {
				t.Errorf("%+v: got %q, want %q", test.pace, got, want)
			}
		}
	}
}
