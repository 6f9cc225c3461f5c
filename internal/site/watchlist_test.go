package site_test

import (
	"net/http"
	"strings"
	"testing"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/query/querytest"
)

// lists are watchlists by the secret of a link.
type lists map[string]*disclosure.Entries

func (l lists) Entries(id string) *disclosure.Entries { return l["wls_"+id] }

func (l lists) NameOf(string) (string, bool) { return "Bancos & más", true }

func (l lists) Resolve(_ access.Principal, value string) (string, *disclosure.Entries, error) {
	if l[value] == nil {
		return "", nil, fault.New(fault.NotFound, "This link does not exist, or was ended.")
	}
	return strings.TrimPrefix(value, "wls_"), l[value], nil
}

// Pages and feeds of a watchlist are for their reader alone. What is shown is the list as it is
// now, and its secret is no text of a page.
func TestPagesOfWatchlist(t *testing.T) {
	t.Parallel()
	s := start(t, "demo", querytest.Market())
	s.append(querytest.Positions())
	const secret = "wls_0123456789abcdef"
	known := lists{secret: {Issuers: []string{"A69000016"}}}
	s.query.Watchlists = known
	const bodegas = "BODEGAS DE VALDEBRISA"
	for _, page := range []string{
		"/", "/search", "/live", "/calendar", "/feed.atom", "/feed.json", "/shorts", "/dealings", "/holdings", "/own-shares",
		"/shorts/feed.atom", "/shorts?view=largest",
	} {
		mark := "?"
		if strings.Contains(page, "?") {
			mark = "&"
		}
		target := page + mark + "watchlist=" + secret
		known[secret] = &disclosure.Entries{Issuers: []string{"A69000016"}}
		w := s.get(http.StatusOK, target)
		if w.Header().Get("Cache-Control") != "private, no-store" || w.Header().Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s: %v", target, w.Header())
		}
		if page != "/calendar" && !strings.Contains(strings.ToUpper(w.Body.String()), bodegas) {
			t.Errorf("%s does not have the reports of the list:\n%s", target, w.Body)
		}
		if page != "/live" && !strings.Contains(w.Body.String(), "Bancos &amp; más") && !strings.Contains(w.Body.String(), `"Pregón · Bancos & más"`) {
			t.Errorf("%s does not have the name of the list:\n%s", target, w.Body)
		}
		for _, quoted := range []string{">" + secret, " " + secret, secret + "<"} {
			if page != "/calendar" && strings.Contains(w.Body.String(), quoted) { // its address is to be copied
				t.Errorf("%s shows the secret", target)
			}
		}
		known[secret] = &disclosure.Entries{}
		if strings.Contains(s.get(http.StatusOK, target).Body.String(), `"/reports/oir-40374`) {
			t.Errorf("%s has what the list had before", target)
		}
		delete(known, secret)
		if refused := s.get(http.StatusNotFound, target).Body.String(); strings.Contains(refused, secret+"<") {
			t.Errorf("%s repeats the secret: %s", target, refused)
		}
		if got := s.get(http.StatusOK, page).Header().Get("Cache-Control"); !strings.HasPrefix(got, "public") {
			t.Errorf("%s without a list: %s", page, got)
		}
	}
}
