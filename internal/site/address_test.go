package site_test

import (
	"net/http"
	"testing"

	"pregon/internal/query/querytest"
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
	has(t, s.get(http.StatusOK, "/reports/oir-40374"), `href="mailto:?subject=BODEGAS%20DE%20VALDEBRISA%2c%20S.A.&amp;body=https%3a%2f%2fpregon.example%2freports%2foir-40374"`)
}
