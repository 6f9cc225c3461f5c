package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/rest/resttest"
)

// An English market term finds Spanish reports, and the header says how.
func TestWidenedSearch(t *testing.T) {
	s := start(t, "demo", categorized())
	key := s.credentials(access.ReadReports | access.ReadIssuers)[0]
	const header = "Pregon-Widened"
	const buyback = `buyback="recompra|acciones propias"`
	english, spanish := s.get(http.StatusOK, "/api/v1/reports?search=buyback"), s.get(http.StatusOK, "/api/v1/reports?search=recompra")
	if english.ids() == "" || english.ids() != spanish.ids() {
		t.Errorf("buyback finds %q, want %q", english.ids(), spanish.ids())
	}
	if english.header.Get("ETag") == spanish.header.Get("ETag") {
		t.Error("answers with different headers have the same tag")
	}
	for _, path := range []string{"/api/v1/reports", "/api/v1/reports.csv", "/api/v1/changes", "/api/v1/changes.csv", "/api/v1/search/documents"} {
		for search, want := range map[string]string{
			"buyback":         buyback,
			"rights+issue":    `rights issue="suscripci%C3%B3n preferente"`,
			"recompra":        "",
			"%22buyback%22":   "",
			"junta+-buyback":  "",
			"buyback+results": buyback + `, results="resultados"`,
		} {
			if got := s.getWith(http.StatusOK, path+"?search="+search, key).header.Get(header); got != want {
				t.Errorf("%s of %s: the header is %q, want %q", path, search, got, want)
			}
		}
	}
	if got := s.get(http.StatusOK, "/api/v1/issuers?search=buyback").header.Get(header); got != "" {
		t.Errorf("issuers have the header %q", got)
	}
	if got := s.do(http.MethodHead, "/api/v1/stream?search=buyback", key).header.Get(header); got != buyback {
		t.Errorf("the header of a stream is %q, want %q", got, buyback)
	}
	terms := "buyback takeover agm egm results dividends prospectus delisting rating board ceo merger bonds insolvency nav fund debt loans coupons ipo"
	many := s.get(http.StatusOK, "/api/v1/reports?search="+strings.ReplaceAll(terms, " ", "+")).header.Get(header)
	if len(many) > 1024 || len(many) < 600 || !strings.HasSuffix(many, `"`) {
		t.Errorf("the header of many terms has %d bytes: %s", len(many), many)
	}
}

// The document declares the header wherever a search is widened.
func TestWidenedIsDocumented(t *testing.T) {
	var documented []string
	for _, item := range resttest.Document().Paths.Map() {
		for _, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				if response.Value.Headers["Pregon-Widened"] != nil {
					documented = append(documented, operation.OperationID)
				}
			}
		}
	}
	slices.Sort(documented)
	if want := []string{"getChanges", "getFacts", "getReportCounts", "getReports", "searchDocuments", "streamEvents"}; !slices.Equal(documented, want) {
		t.Errorf("the header is documented for %q, want %q", documented, want)
	}
}
