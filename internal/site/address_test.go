package site_test

import (
	"cmp"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// A page has one address for search engines in each language, and every language
// names the others by those addresses.
func TestAddresses(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	const es, en = `"https://pregon.example/issuers/A69000016?type=IP"`, `"https://pregon.example/issuers/A69000016?type=IP&amp;lang=en"`
	for target, canonical := range map[string]string{
		"/issuers/A69000016?type=IP&utm_source=x&lang=es": es, "/issuers/A69000016?lang=en&x=1&x=2&type=IP": en, "/issuers/A69000016?type=IP&lang=en&lang=es": en,
	} {
		has(t, s.get(http.StatusOK, target), `rel="canonical" href=`+canonical, `hreflang="es" href=`+es, `hreflang="en" href=`+en, `hreflang="x-default" href=`+es)
	}
	has(t, s.get(http.StatusOK, "/reports/oir-40374"), `href="mailto:?subject=Bodegas%20de%20Valdebrisa%2c%20S.A.&amp;body=https%3a%2f%2fpregon.example%2freports%2foir-40374"`)
}

// Links to a part of a page lead to a part that exists.
func TestAnchors(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	s.append(store.Batch{Aside: []disclosure.Report{querytest.Document(t, s.store, "oir-40374", "Acuerdo del consejo")}})
	anchored := regexp.MustCompile(`href="([^"#:]*)#([^"]+)"`)
	found := 0
	for _, target := range pages("oir-40374", "A69000016") {
		for _, m := range anchored.FindAllStringSubmatch(html.UnescapeString(s.get(http.StatusOK, target).Body.String()), -1) {
			found++
			if to := cmp.Or(m[1], target); !strings.Contains(s.get(http.StatusOK, to).Body.String(), `id="`+m[2]+`"`) {
				t.Errorf("%s links to %s, which has no part %q", target, to, m[2])
			}
		}
	}
	if found == 0 {
		t.Error("no page has such a link")
	}
}
