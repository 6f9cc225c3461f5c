package simserver_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"pregon/internal/sim/archive"
	"pregon/internal/test/waittest"
)

func (s *site) arm(body string) {
	s.Helper()
	if r := s.do(http.MethodPost, "/_sim/fault", body); r.err != nil || r.StatusCode != http.StatusOK {
		s.Fatalf("%s: %v %s", body, r.err, r.body)
	}
}

func (s *site) armed() int {
	s.Helper()
	var out struct{ Faults []struct{ Kind string } }
	if err := json.Unmarshal([]byte(s.get("/_sim/fault")), &out); err != nil {
		s.Fatal(err)
	}
	return len(out.Faults)
}

func TestFaultsAreAimed(t *testing.T) {
	s := open(t, early, "")
	entity := "/portal/hr/resultadobusquedahr?nif=" + testMarket().Issuers()[200].NIF
	paths := map[string]string{
		"feed": oirFeed, "list": oirList + "?dias=3", "permalink": oirList + "?nreg=40", "hr": entity,
		"document": "/portal/aldia/detalleifialdia?nReg=2020000001", "register": "/portal/consultas/mostrarlistados?id=3",
		"exchange": "/Market/v1/EQ/ListedCompanies", "shorts": shortsPath,
	}
	for aim := range paths {
		s.arm(`{"kind":"error500","surface":"` + aim + `"}`)
		for surface, path := range paths {
			want := http.StatusOK
			if surface == aim {
				want = http.StatusInternalServerError
			}
			if r := s.do("GET", path, ""); r.StatusCode != want {
				t.Errorf("aimed at %s, %s answers %d", aim, surface, r.StatusCode)
			}
		}
		if r := s.do(http.MethodDelete, "/_sim/fault", ""); r.body != "{\"cleared\":1}\n" || s.armed() != 0 {
			t.Errorf("%s", r.body)
		}
	}
	s.arm(`{"kind":"error403","type":"oir"}`)
	if a, b := s.do("GET", oirFeed, "").StatusCode, s.do("GET", ipFeed, "").StatusCode; a != 403 || b != 200 {
		t.Errorf("a fault of OIR: %d, %d", a, b)
	}
}

func TestFaultsEnd(t *testing.T) {
	s := open(t, early, "")
	s.arm(`{"kind":"error500","times":2}`)
	for n, want := range []int{500, 500, 200} {
		if got := s.do("GET", oirFeed, "").StatusCode; got != want {
			t.Errorf("answer %d is %d", n, got)
		}
	}
	s.arm(`{"kind":"error500","for":"30s"}`)
	for _, after := range []time.Duration{29 * time.Second, 30 * time.Second} {
		s.clock.set(early.Add(after))
		over := after == 30*time.Second
		if got := s.do("GET", oirFeed, "").StatusCode; (got == 200) != over || (s.armed() == 0) != over {
			t.Errorf("after %v: %d", after, got)
		}
	}
	s.arm(`{"kind":"error500","share":0.5}`)
	failed := 0
	for range 60 {
		if s.do("GET", oirFeed, "").StatusCode == 500 {
			failed++
		}
	}
	if failed < 15 || failed > 45 {
		t.Errorf("%d of 60 answers failed", failed)
	}
}

func TestFaultsRefused(t *testing.T) {
	s := open(t, early, "")
	for _, body := range []string{
		``, `{"kind":"flood"}`, `{"kind":"stall","surface":"cellar"}`, `{"kind":"stall","type":"x"}`, `{"kind":"stall","for":"soon"}`,
		`{"kind":"stall","for":"-1s"}`, `{"kind":"stall","share":2}`, `{"kind":"stall","times":-1}`, `{"kind":"stall","by":"x"}`, `{"kind":"stall","more":1}`,
	} {
		if r := s.do("POST", "/_sim/fault", body); r.StatusCode != http.StatusBadRequest || !strings.Contains(r.body, `"error":`) {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.body)
		}
	}
	if s.armed() != 0 {
		t.Error("a refused fault is armed")
	}
}

func TestSpoiltPages(t *testing.T) {
	s := open(t, early, "")
	list := oirList + "?fechaDesde=01/10/2020&fechaHasta=31/10/2020"
	s.arm(`{"kind":"errorpage","times":2}`)
	for _, path := range []string{oirFeed, list} {
		if page := s.get(path); strings.Contains(page, "Channel") || strings.Contains(page, "listaElementosPrimernivel") {
			t.Errorf("%s has no error page", path)
		}
	}
	s.arm(`{"kind":"markup","times":2}`)
	if page := s.get(list); strings.Contains(page, "elementoPrimerNivel") || !strings.Contains(page, "_filaRegistro") {
		t.Error("the markup of the list is unchanged")
	}
	if feed := s.get(oirFeed); strings.Contains(feed, "<Channel>") || !strings.Contains(feed, "<Canal>") {
		t.Error("the markup of the feed is unchanged")
	}
	s.arm(`{"kind":"truncate","times":4}`)
	for n, path := range []string{list, list, oirFeed, oirFeed} {
		r := s.do("GET", path, "")
		if !errors.Is(r.err, io.ErrUnexpectedEOF) || (r.ContentLength > 0) != (n%2 == 0) {
			t.Errorf("%s: %v, length %d", path, r.err, r.ContentLength)
		}
		if strings.Contains(r.body, "</html>") || strings.Contains(r.body, "</rss>") || !strings.Contains(r.body, "elementoPrimerNivel") && !strings.Contains(r.body, "<item>") {
			t.Errorf("%s was not truncated inside a row", path)
		}
	}
	s.arm(`{"kind":"redirectloop","times":1}`)
	if r := s.do("GET", list, ""); r.StatusCode != 302 || r.Header.Get("Location") != list {
		t.Errorf("%d %q", r.StatusCode, r.Header.Get("Location"))
	}
	s.arm(`{"kind":"huge","times":1}`)
	if r := s.do("GET", list, ""); r.err != nil || len(r.body) < 50<<20 || !strings.Contains(r.body[50<<20:], "elementoPrimerNivel") {
		t.Errorf("%v, %d bytes", r.err, len(r.body))
	}
}

func TestSpoiltContent(t *testing.T) {
	s := open(t, early, "")
	list := oirList + "?fechaDesde=01/10/2020&fechaHasta=07/10/2020"
	normal := s.get(list)
	s.arm(`{"kind":"runaway","times":4}`)
	pages := []string{s.get(list), s.get(list + "&page=700"), s.get(list + "&page=999")}
	for n, page := range pages {
		if strings.Count(page, "_elementoPrimerNivel") != 10 || !strings.Contains(page, " de 1000</span>") {
			t.Errorf("page %d has not ten rows and more to come", n)
		}
	}
	rows := func(page string) string {
		return page[strings.Index(page, "<ul id=\"listaElementos"):strings.Index(page, "<div class=\"paginacion\"")]
	}
	if rows(pages[0]) != rows(normal) || rows(pages[1]) != rows(pages[2]) {
		t.Error("the last page does not repeat itself")
	}
	if r := s.do("GET", list+"&page=1000", ""); r.Header.Get("Location") != "/portal/error?errorcode=HE" {
		t.Error("the thousandth page is answered")
	}
	one := s.publish(`{"type":"oir"}`)
	s.arm(`{"kind":"skew","by":"90m","times":2}`)
	if feed := s.get(oirFeed); !strings.Contains(feed, "<pubDate>Tue, 10 Nov 2020 12:30:00 GMT") || !strings.Contains(feed, "<b>13:30  10/11/2020") {
		t.Error("the feed is not skewed")
	}
	if page := s.get(oirList + "?nreg=" + one.Number); !strings.Contains(page, "13:30") || !strings.Contains(page, "2020-11-10T13:30:00Z") {
		t.Error("the page is not skewed")
	}
	s.clock.set(early.Add(50 * time.Second))
	two := s.publish(`{"type":"oir"}`)
	s.clock.set(early.Add(61 * time.Second))
	s.arm(`{"kind":"feedcut","times":1}`)
	s.get(oirList + "?dias=1") // has no feed to cut
	if feed := s.get(oirFeed); strings.Count(feed, "<item>") != 1 || !strings.Contains(feed, "nreg="+two.Number) {
		t.Error("the feed is not cut")
	}
	if feed := s.get(oirFeed); strings.Count(feed, "<item>") < 2 {
		t.Error("the feed stays cut")
	}
}

// TestFeedsThatHide: an empty feed and a frozen one are valid; the list shows
// the hidden reports.
func TestFeedsThatHide(t *testing.T) {
	s := open(t, early, "")
	before := s.publish(`{"type":"oir"}`)
	s.arm(`{"kind":"silent"}`)
	hidden := s.publish(`{"type":"oir"}`)
	if list := s.get(oirList + "?dias=1"); !strings.Contains(list, hidden.Number) {
		t.Error("the list hides it too")
	}
	if feed := s.get(oirFeed); strings.Contains(feed, "<item>") || !strings.Contains(feed, "</Channel>") {
		t.Error("the feed is not silent")
	}
	s.do("DELETE", "/_sim/fault", "")
	s.arm(`{"kind":"frozen","times":1}`)
	late := s.publish(`{"type":"oir"}`)
	if feed := s.get(oirFeed); !strings.Contains(feed, "nreg="+before.Number) || !strings.Contains(feed, "nreg="+hidden.Number) || strings.Contains(feed, "nreg="+late.Number) {
		t.Error("the feed is not frozen")
	}
	if feed := s.get(oirFeed); !strings.Contains(feed, "nreg="+late.Number) {
		t.Error("the feed stays frozen")
	}
}

func TestBrokenConnections(t *testing.T) {
	s := open(t, early, "")
	s.arm(`{"kind":"reset","times":1}`)
	if r := s.do("POST", oirList, ""); !errors.Is(r.err, syscall.ECONNRESET) && !errors.Is(r.err, io.EOF) {
		t.Errorf("%v", r.err)
	}
	ask := func(within time.Duration) (*http.Response, error) {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		t.Cleanup(cancel)
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.origin+oirFeed, nil)
		req.Header.Set("Accept", "*/*")
		return s.http.Do(req)
	}
	s.arm(`{"kind":"stall","times":1}`)
	if res, err := ask(300 * time.Millisecond); err == nil {
		_ = res.Body.Close()
		t.Error("got a stalled answer, want none")
	}
	s.do("DELETE", "/_sim/fault", "") // in case it is still armed
	s.arm(`{"kind":"endless","times":1}`)
	res, err := ask(5 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // it comes in small pieces
		if n, err := io.CopyN(io.Discard, res.Body, 1<<10); err != nil {
			t.Errorf("an answer without an end ended after %d bytes: %v", n, err)
		}
	}
	_ = res.Body.Close()
	s.arm(`{"kind":"stall","by":"50ms","times":1}`)
	if begun := time.Now(); s.get(oirFeed) == "" || time.Since(begun) < 50*time.Millisecond {
		t.Error("no stall")
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	s := open(t, early, "")
	s.arm(`{"kind":"stall","surface":"feed"}`)
	s.arm(`{"kind":"endless","surface":"list"}`)
	ended := make(chan reply, 2)
	for _, path := range []string{oirFeed, oirList} {
		go func() { ended <- s.do("POST", path, "") }() // not repeated by the client
	}
	waittest.For(t, "both faults are applied", func() bool { return strings.Count(s.get("/_sim/fault"), `"struck":1`) == 2 })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := <-ended; r.err == nil {
			t.Error("an interrupted answer ended without an error")
		}
	}
	if _, err := s.Publish(archive.Draft{}); err != nil {
		t.Errorf("a market in memory: %v", err)
	}
}

func TestBomb(t *testing.T) {
	s := open(t, early, "")
	s.arm(`{"kind":"bomb","times":2}`)
	r := s.do("GET", oirList, "", "Accept-Encoding", "gzip")
	if r.Header.Get("Content-Encoding") != "gzip" || len(r.body) > 4<<20 {
		t.Fatalf("%d bytes, %q", len(r.body), r.Header.Get("Content-Encoding"))
	}
	z, err := gzip.NewReader(strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(z, 20<<20)); n != 20<<20 || err != nil {
		t.Errorf("unpacks to %d: %v", n, err)
	}
	if r := s.do("GET", oirList, "", "Accept-Encoding", "identity"); !strings.Contains(r.body, "listaElementosPrimernivel") {
		t.Error("the bomb affects a client without gzip")
	}
}
