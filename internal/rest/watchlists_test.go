package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/auth/access"
)

const watchlists = "/api/v1/account/watchlists"

type watchlistDoc struct {
	ID, Name       string
	Key            *string
	Order, Entries int
	Issuers        []struct{ ID, Name, Ticker string }
	Filters        []struct {
		Name   string
		Filter map[string]string
	}
	Share *struct{ Secret, URL string }
	Feed  *struct{ Secret, Atom, JSON, Calendar string }
}

// ids returns the ids of the issuers.
func (l watchlistDoc) ids() string {
	ids := make([]string, len(l.Issuers))
	for i, one := range l.Issuers {
		ids[i] = one.ID
	}
	return strings.Join(ids, " ")
}

// listOf makes a list and returns it with its path.
func (s *service) listOf(who http.Header, body string) (made watchlistDoc, path string) {
	s.t.Helper()
	a := s.call("POST", watchlists, who, body, 201, &made)
	path = watchlists + "/" + made.ID
	if got := a.header.Get("Location"); got != path {
		s.t.Errorf("Location: %q, want %q", got, path)
	}
	return made, path
}

func TestWatchlists(t *testing.T) {
	s := start(t, "demo", market())
	mine, others := s.credentials(access.ReadReports)[0], s.credentials(access.ReadReports)[0]
	made, path := s.listOf(mine, `{"name":"Banks","issuers":["BVB","A69000016"],"filters":[{"name":"Dividends","filter":{"search":"dividendo"}}]}`)
	if made.ids() != "A69000016" || made.Issuers[0].Name == "" || made.Issuers[0].Ticker != "BVB" || made.Entries != 2 ||
		made.Order != 1 || made.Share != nil || made.Feed != nil {
		t.Errorf("%+v", made)
	}
	if made.Filters[0].Name != "Dividends" || made.Filters[0].Filter["search"] != "dividendo" {
		t.Errorf("%+v", made.Filters)
	}
	second, _ := s.listOf(mine, `{"name":"Empty","order":1}`)
	if second.Order != 1 {
		t.Errorf("%+v", second)
	}
	var list struct {
		Data   []watchlistDoc
		Limits map[string]int
	}
	a := s.call("GET", watchlists, mine, "", 200, &list)
	if len(list.Data) != 2 || list.Data[1].ID != made.ID || list.Data[1].Order != 2 || list.Limits["entries"] != 500 {
		t.Errorf("%+v", list)
	}
	if a.header.Get("Cache-Control") != "private, no-cache" || a.header.Get("Etag") == "" {
		t.Errorf("%v", a.header)
	}
	for _, what := range []string{
		"GET ", "DELETE ", "PATCH ", "POST /entries", "DELETE /entries?issuer=x", "POST /share", "DELETE /share",
		"POST /feed", "DELETE /feed",
	} {
		method, rest, _ := strings.Cut(what, " ")
		s.call(method, path+rest, others, `{}`, 404, nil)
	}
	var got watchlistDoc
	s.call("PATCH", path, mine, `{"name":"Renamed","order":1}`, 200, &got)
	if got.Name != "Renamed" || got.Order != 1 || got.Entries != 2 {
		t.Errorf("%+v", got)
	}
	s.call("PATCH", path, mine, `{"issuers":[],"filters":[]}`, 200, &got)
	if got.Entries != 0 || got.Name != "Renamed" {
		t.Errorf("%+v", got)
	}
	s.call("DELETE", path, mine, "", 204, nil)
	s.call("GET", path, mine, "", 404, nil)
}

// The star adds and removes one issuer, by any name of it, as often as it is pressed.
func TestWatchlistEntries(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	_, path := s.listOf(mine, `{"name":"Mine"}`)
	var got watchlistDoc
	for range 2 {
		s.call("POST", path+"/entries", mine, `{"issuer":"BVB"}`, 200, &got)
		if got.ids() != "A69000016" {
			t.Errorf("%+v", got)
		}
	}
	for range 2 {
		s.call("DELETE", path+"/entries?issuer=BVB", mine, "", 200, &got)
		if got.Entries != 0 {
			t.Errorf("%+v", got)
		}
	}
	s.call("DELETE", path+"/entries?issuer=nothing", mine, "", 200, nil)
	s.call("DELETE", path+"/entries", mine, "", 400, nil)
	a := s.call("POST", path+"/entries", mine, `{"issuer":"Nadie y Compañía Inexistente"}`, 400, nil)
	if !strings.Contains(string(a.body), `"issuer"`) {
		t.Errorf("%s", a.body)
	}
	s.call("POST", path+"/entries", mine, `{"issuer":""}`, 400, nil)
	s.call("POST", path+"/entries", mine, `{"issuer":"`+strings.Repeat("x", 201)+`"}`, 400, nil)
}

// The errors of a request name every issuer that is not known, up to twenty.
func TestUnknownIssuersOfWatchlist(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprint("Desconocida ", i))
	}
	a := s.call("POST", watchlists, mine, `{"name":"x","issuers":[`+strings.Join(names, ",")+`]}`, 400, nil)
	if body := string(a.body); !strings.Contains(body, "Desconocida 19") || strings.Contains(body, "Desconocida 20") {
		t.Errorf("%s", a.body)
	}
	s.call("POST", watchlists, mine, `{"name":"x","filters":[{"filter":{"type":"no such"}}]}`, 400, nil)
	s.call("POST", watchlists, mine, `{"name":"x","filters":[{"filter":{}}]}`, 400, nil)
	s.call("POST", watchlists, mine, `{"name":"x","filters":[{"filter":{"watchlist":"wl_1"}}]}`, 400, nil)
	s.call("POST", watchlists, mine, `{"name":"x","unknown":1}`, 400, nil)
}

// A request with as many entries as a list may have fits the bound of bodies.
func TestFullWatchlist(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	filters := make([]string, 50)
	for i := range filters {
		filters[i] = fmt.Sprintf(`{"name":%q,"filter":{"search":%q}}`, strings.Repeat("ñ", 100), fmt.Sprint(strings.Repeat("ñ", 380), i))
	}
	made, path := s.listOf(mine, `{"name":"Full","issuers":["A69000016"],"filters":[`+strings.Join(filters, ",")+`]}`)
	if made.Entries != 51 {
		t.Errorf("%d entries", made.Entries)
	}
	body := `{"filters":[` + strings.Join(slices.Concat(filters, filters[:1]), ",") + `]}`
	s.call("PATCH", path, mine, body, 400, nil)
}

// A link is made and ended. An application sees the list without it.
func TestWatchlistLinks(t *testing.T) {
	s := start(t, "demo", market())
	mine := s.credentials(access.ReadReports)[0]
	_, path := s.listOf(mine, `{"name":"Mine","issuers":["A69000016"]}`)
	var got watchlistDoc
	s.call("POST", path+"/share", mine, "", 200, &got)
	if got.Share == nil || got.Share.URL != baseURL+"/following?watchlist="+got.Share.Secret {
		t.Fatalf("%+v", got.Share)
	}
	s.call("POST", path+"/feed", mine, "", 200, &got)
	first := got.Feed.Secret
	if got.Feed.Atom != baseURL+"/feed.atom?watchlist="+first || got.Feed.Calendar != baseURL+"/api/v1/calendar.ics?watchlist="+first {
		t.Errorf("%+v", got.Feed)
	}
	s.call("POST", path+"/feed", mine, "", 200, &got)
	if got.Feed.Secret == first || got.Share == nil {
		t.Errorf("%+v", got)
	}
	got = watchlistDoc{}
	s.call("DELETE", path+"/share", mine, "", 200, &got)
	if got.Share != nil || got.Feed == nil {
		t.Errorf("%+v", got)
	}
	got = watchlistDoc{}
	s.call("DELETE", path+"/feed", mine, "", 200, &got)
	if got.Share != nil || got.Feed != nil {
		t.Errorf("%+v", got)
	}
}

// A key reaches the lists that were made with it and with keys below it, as it does
// webhooks.
func TestWatchlistsOfKeys(t *testing.T) {
	s := start(t, "demo", market())
	first := s.person("Ana", false)
	child, doc := first.make(`{"name":"child"}`)
	sibling, _ := first.make(`{"name":"sibling"}`)
	var own, below watchlistDoc
	first.call("POST", "/watchlists", `{"name":"of the account"}`, 201, &own)
	child.call("POST", "/watchlists", `{"name":"of the child"}`, 201, &below)
	if below.Key == nil || *below.Key != doc.ID || below.Order != 1 {
		t.Errorf("%+v", below)
	}
	child.call("GET", "/watchlists/"+own.ID, "", 404, nil)
	sibling.call("GET", "/watchlists/"+below.ID, "", 404, nil)
	sibling.call("POST", "/watchlists/"+below.ID+"/share", "", 404, nil)
	first.call("PATCH", "/watchlists/"+below.ID, `{"name":"renamed"}`, 200, nil)
	var list struct{ Data []watchlistDoc }
	for who, want := range map[caller]int{first: 2, child: 1, sibling: 0} {
		who.call("GET", "/watchlists", "", 200, &list)
		if len(list.Data) != want {
			t.Errorf("%d lists, want %d", len(list.Data), want)
		}
	}
}
