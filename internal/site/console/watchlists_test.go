package console_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// newList makes a list and returns its page.
func (b *browser) newList(name string) string {
	b.t.Helper()
	to := b.post(http.StatusSeeOther, "/account/watchlists", url.Values{"name": {name}}).Header().Get("Location")
	path, _, _ := strings.Cut(to, "?")
	if !strings.HasPrefix(path, "/account/watchlists/wl_") {
		b.t.Fatalf("a new list leads to %q", to)
	}
	return path
}

// A person makes, fills, renames, orders and deletes lists.
func TestWatchlists(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	has(t, b.get(http.StatusOK, "/account/watchlists"), "Todavía no tiene ninguna lista")
	first, second := b.newList(hostile[:60]), b.newList("Bancos")
	w := b.post(http.StatusBadRequest, "/account/watchlists", url.Values{"name": {" "}})
	has(t, w, `id="name-wrong"`)

	b.post(http.StatusSeeOther, second+"/issuers", url.Values{"issuer": {"bvb"}})
	w = b.get(http.StatusOK, second)
	checkPage(t, w, second)
	has(t, w, "BODEGAS DE VALDEBRISA, S.A.", `value="A69000016"`)
	w = b.post(http.StatusBadRequest, second+"/issuers", url.Values{"issuer": {"Bodegas de Nadie"}})
	has(t, w, `id="issuer-wrong"`)
	b.post(http.StatusSeeOther, second+"/remove", url.Values{"issuer": {"A69000016"}})
	lacks(t, b.get(http.StatusOK, second), "BODEGAS DE VALDEBRISA")

	b.post(http.StatusSeeOther, second, url.Values{"name": {"Bodegas"}})
	b.post(http.StatusSeeOther, second+"/move", url.Values{"place": {"1"}})
	page := b.get(http.StatusOK, "/account/watchlists").Body.String()
	if strings.Index(page, second) > strings.Index(page, first) {
		t.Error("the second list was not moved up")
	}
	has(t, b.get(http.StatusOK, second), "<h1>Bodegas</h1>")
	b.post(http.StatusNotFound, second+"/move", url.Values{"place": {"x"}})
	b.post(http.StatusSeeOther, second+"/delete", nil)
	b.get(http.StatusNotFound, second)

	b.person("bea", false)
	b.get(http.StatusNotFound, first)
	b.post(http.StatusNotFound, first+"/delete", nil)
	b.get(http.StatusNotFound, first+"/csv")
	b.person("ana", false)
	b.get(http.StatusOK, first)
}

// A search of a page is saved in a list, or in a new one, and is removed.
func TestSavedSearches(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	const asked = "type=OIR&search=obra"
	has(t, b.get(http.StatusOK, "/account/watchlists/save?"+asked), "Otra información relevante", "“obra”", `<option value="">Lista nueva`)
	has(t, b.get(http.StatusOK, "/account/watchlists/save"), "No hay ninguna condición")
	to := b.post(http.StatusSeeOther, "/account/watchlists/save", url.Values{"search": {asked}, "name": {"Obras"}}).Header().Get("Location")
	list, _, _ := strings.Cut(to, "?")
	id := strings.TrimPrefix(list, "/account/watchlists/")
	b.post(http.StatusSeeOther, "/account/watchlists/save", url.Values{"search": {"type=IP"}, "list": {id}})
	w := b.get(http.StatusOK, list)
	checkPage(t, w, list)
	has(t, w, "<h1>Obras</h1>", `href="/?search=obra&amp;type=OIR"`, `href="/?type=IP"`)
	b.post(http.StatusSeeOther, list+"/remove", url.Values{"search": {"type=IP"}})
	w = b.get(http.StatusOK, list)
	lacks(t, w, `href="/?type=IP"`)
	has(t, w, `href="/?search=obra&amp;type=OIR"`)
	w = b.post(http.StatusBadRequest, "/account/watchlists/save", url.Values{"search": {"type=XX"}, "list": {id}})
	has(t, w, `class="notice refusal"`)
}

// Searches that are saved and removed at the same time in several tabs are all saved and
// removed.
func TestSavedSearchesAtOnce(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	list := b.newList("Obras")
	id := strings.TrimPrefix(list, "/account/watchlists/")
	const tabs = 8
	inTabs := func(path string, form func(n int) url.Values) {
		token := b.token()
		var all sync.WaitGroup
		for n := range tabs {
			tab := *b
			tab.cookies = maps.Clone(b.cookies)
			all.Go(func() {
				sent := form(n)
				sent.Set("form_token", token)
				if w := tab.request(path, sent); w.Code != http.StatusSeeOther {
					t.Errorf("tab %d: got %d\n%s", n, w.Code, w.Body)
				}
			})
		}
		all.Wait()
	}
	search := func(n int) string { return fmt.Sprintf("search=obra%d", n) }
	inTabs("/account/watchlists/save", func(n int) url.Values {
		return url.Values{"search": {search(n)}, "list": {id}}
	})
	w := b.get(http.StatusOK, list)
	for n := range tabs {
		has(t, w, `href="/?`+search(n)+`"`)
	}
	inTabs(list+"/remove", func(n int) url.Values { return url.Values{"search": {search(n)}} })
	lacks(t, b.get(http.StatusOK, list), "search=obra")
}

// A search in documents stays one, and leads to the page that has it. One for positions
// leads to no page, since none has its conditions.
func TestSavedSearchAddresses(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	const inDocuments, positions = "in=document&search=obra", "min_percent=0.5&position=short"
	has(t, b.get(http.StatusOK, "/account/watchlists/save?"+inDocuments), "En el texto de los documentos")
	to := b.post(http.StatusSeeOther, "/account/watchlists/save", url.Values{"search": {inDocuments}}).Header().Get("Location")
	list, _, _ := strings.Cut(to, "?")
	id := strings.TrimPrefix(list, "/account/watchlists/")
	b.post(http.StatusSeeOther, "/account/watchlists/save", url.Values{"search": {positions}, "list": {id}})
	w := b.get(http.StatusOK, list)
	checkPage(t, w, list)
	has(t, w, `href="/account/search?search=obra"`, "En el texto de los documentos", "Porcentaje mínimo: 0.5")
	lacks(t, w, `href="/?`)
}

// Links of a list are made and ended, and shown to the account only.
func TestListLinks(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	list := b.newList("Compartida")
	secret := regexp.MustCompile(`wl[sf]_\w+`)
	if found := secret.FindString(b.get(http.StatusOK, list).Body.String()); found != "" {
		t.Errorf("a new list has the link %s", found)
	}
	b.post(http.StatusSeeOther, list+"/link", url.Values{"link": {"share"}})
	has(t, b.get(http.StatusOK, list), "/following?watchlist=wls_")
	b.post(http.StatusSeeOther, list+"/link", url.Values{"link": {"feed"}})
	w := b.get(http.StatusOK, list)
	has(t, w, "/feed.atom?watchlist=wlf_", "/feed.json?watchlist=wlf_", "/api/v1/calendar.ics?watchlist=wlf_")
	before := regexp.MustCompile(`wlf_\w+`).FindString(w.Body.String())
	b.post(http.StatusSeeOther, list+"/link", url.Values{"link": {"feed"}})
	lacks(t, b.get(http.StatusOK, list), before)
	b.post(http.StatusSeeOther, list+"/link", url.Values{"link": {"unshare"}})
	b.post(http.StatusSeeOther, list+"/link", url.Values{"link": {"unfeed"}})
	if found := secret.FindString(b.get(http.StatusOK, list).Body.String()); found != "" {
		t.Errorf("the list still has the link %s", found)
	}
	b.post(http.StatusNotFound, list+"/link", url.Values{"link": {"x"}})
}

// A list is a file and is filled from lines, of which those that are not found are named.
func TestListFiles(t *testing.T) {
	t.Parallel()
	b := start(t).person("ana", false)
	list := b.newList("Archivo")
	w := b.post(http.StatusOK, list+"/import", url.Values{"lines": {"ticker\r\nBVB\r\nbvb\r\n" + hostile + "\r\n"}})
	checkPage(t, w, list+"/import")
	has(t, w, "Entradas añadidas: 1. Ya estaban: 1.", "Línea 4:", "BODEGAS DE VALDEBRISA")
	has(t, b.post(http.StatusBadRequest, list+"/import", url.Values{"lines": {" "}}), `class="notice refusal"`)
	w = b.get(http.StatusOK, list+"/csv")
	has(t, w, "id,name,ticker", "A69000016")
	if got := w.Header().Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("the type is %q", got)
	}
	if got := w.Header().Get("Cache-Control"); got != "private, no-store" {
		t.Errorf("Cache-Control is %q", got)
	}
}

// The script of the site learns who is signed in, presses stars, and moves the list of the
// browser into the account, each issuer once.
func TestFollowing(t *testing.T) {
	t.Parallel()
	b := start(t)
	if w := b.get(http.StatusNoContent, "/account/following"); w.Body.Len() != 0 {
		t.Errorf("without a session: %s", w.Body)
	}
	location(t, b.request("/account/following/list?watchlist=wl_x", nil), "/signin?next="+url.QueryEscape("/account/following/list?watchlist=wl_x"))
	b.person("ana", false)
	w := b.get(http.StatusOK, "/account/following")
	has(t, w, `data-token="`+b.token()+`"`)
	lacks(t, w, "data-issuers", "<html")
	w = b.post(http.StatusOK, "/account/following", url.Values{"add": {"A69000016,nobody,A69000024,A69000016"}})
	has(t, w, `data-issuers="A69000016 A69000024"`, ">Siguiendo</a>")
	w = b.post(http.StatusOK, "/account/following", url.Values{"add": {"A69000024"}})
	has(t, w, `data-issuers="A69000016 A69000024"`)
	has(t, b.post(http.StatusOK, "/account/following?lang=en", url.Values{"remove": {"A69000016"}}), `data-issuers="A69000024"`)
	b.newList("Otra")
	w = b.post(http.StatusOK, "/account/following", url.Values{"add": {"A69000016"}})
	has(t, w, `data-issuers="A69000024 A69000016"`, `data-issuers=""`)
	b.post(http.StatusOK, "/account/following", url.Values{"add": {"nobody"}})
	has(t, b.get(http.StatusOK, "/account/following/list?watchlist=wl_x"), "reports for "+b.by.ID)
}
