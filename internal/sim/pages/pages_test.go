package pages_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/pages"
)

// early is soon after the market began, so that its history is short.
var early = time.Date(2020, 11, 10, 11, 0, 0, 0, time.UTC)

// testMarket is shared, since it is immutable.
var testMarket = sync.OnceValue(func() *market.Market { return market.New(1) })

type site struct {
	*testing.T
	*archive.Archive
	pages *pages.Site
}

func open(t *testing.T) *site {
	t.Helper()
	a, err := archive.Open(testMarket(), 1, "", func() time.Time { return early })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return &site{t, a, pages.New(a)}
}

func (s *site) get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func (s *site) publish(d archive.Draft) *archive.Report {
	s.Helper()
	r, err := s.Publish(d)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// follow requests a link, which must work, and returns the answer.
func (s *site) follow(path string) *httptest.ResponseRecorder {
	s.Helper()
	w := s.get(path)
	body, kind := w.Body.String(), w.Header().Get("Content-Type")
	switch {
	case w.Code != http.StatusOK:
		s.Fatalf("%s: got status %d", path, w.Code)
	case kind == "application/pdf" && !strings.HasPrefix(body, "%PDF-"):
		s.Errorf("%s is not a PDF file: %.20q", path, body)
	case !strings.HasPrefix(kind, "text/html"):
	case !strings.Contains(body, "<strong>Mercado simulado.</strong>"):
		s.Errorf("%s does not say that the market is simulated:\n%s", path, body)
	case strings.Contains(body, "regulator.example"):
		s.Errorf("%s has a link that leads nowhere:\n%s", path, body)
	}
	return w
}

// TestReports follows links of the reports of the history, of each form the first.
func TestReports(t *testing.T) {
	const most = 50
	s := open(t)
	forms, kinds := map[string]int{}, map[string]int{}
	first := func(link, separator string) bool {
		form, _, _ := strings.Cut(link, separator)
		forms[form]++
		return forms[form] <= most
	}
	for day := market.Epoch; day <= disclosure.DayOf(early); day++ {
		for _, f := range s.Settled(disclosure.Types, day) {
			r := f.Read()
			if first(r.SourceURL, "?") {
				w := s.follow(pages.Link(r.SourceURL))
				if body := html.UnescapeString(w.Body.String()); !strings.Contains(body, r.Title) {
					t.Errorf("%s is not on its page %s:\n%s", r.ID, r.SourceURL, body)
				}
			}
			if r.PDFURL != "" && first(r.PDFURL, "=") {
				kinds[s.follow(pages.Link(r.PDFURL)).Header().Get("Content-Type")]++
			}
		}
	}
	if len(forms) != 9 { // pages of three series, four to which rows without a document lead, and documents of two forms
		t.Errorf("links lead to %v", forms)
	}
	for _, kind := range []string{"application/pdf", "application/xhtml+xml", "application/zip"} {
		if kinds[kind] == 0 {
			t.Errorf("no document is %s: %v", kind, kinds)
		}
	}
}

var href = regexp.MustCompile(`href="([^"]*)"`)

// TestCrawl follows the links on pages.
func TestCrawl(t *testing.T) {
	s := open(t)
	queue, seen := []string{pages.Prefix + "/"}, map[string]bool{"/": true} // the front page of the service
	for len(queue) > 0 && len(seen) < 200 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		w := s.follow(path)
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		for _, m := range href.FindAllStringSubmatch(w.Body.String(), -1) {
			queue = append(queue, html.UnescapeString(m[1]))
		}
	}
	for _, part := range []string{"/datosentidad", "/verdocumento/", "/resultado-oir", "/resultado-ip", "/resultadobusquedahr"} {
		if !strings.Contains(strings.ToLower(fmt.Sprint(seen)), part) {
			t.Errorf("no link contains %s", part)
		}
	}
}

// TestMissing requests what is not of the pages, such as the control of the simulator
// and the surfaces for its clients.
func TestMissing(t *testing.T) {
	s := open(t)
	page := s.publish(archive.Draft{Document: archive.Document{Form: "page"}})
	for _, path := range []string{
		"/_sim/", "/_sim/publish", "/_sim/fault", "/_sim/filings", "/nada", "/portal/", "/portal/../_sim/", "//", "/https://www.cnmv.es/",
		"/portal/otra-informacion-relevante/rss.asmx/getnoticiascnmv", "/market/v1/eq/listedcompanies", "/portal/error",
		"/portal/otra-informacion-relevante/resultado-oir", "/portal/otra-informacion-relevante/resultado-oir?nreg=99999999",
		"/portal/otra-informacion-relevante/resultado-oir?nreg=x", "/portal/consultas/datosentidad?nif=A00000000",
		"/portal/aldia/detalleifialdia.aspx?nReg=2020999999", "/portal/aldia/detalleifialdia.aspx?nReg=", "/portal/aldia/detalleifialdia.aspx?nReg=-1",
		"/portal/consultas/ifa/listadoifa.aspx?id=0&nif=", "/webservices/verdocumento/ver", "/webservices/verdocumento/ver?e=x", "/webservices/verdocumento/ver?t=%7bx%7d",
		strings.TrimPrefix(pages.Link(page.PDFURL), pages.Prefix),
	} {
		w := s.get(pages.Prefix + path)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "Esta página no existe") || !strings.Contains(w.Body.String(), "Mercado simulado.") {
			t.Errorf("%s: got status %d and\n%s", path, w.Code, w.Body)
		}
	}
	for _, link := range []string{"", "https://regulator.example", "https://regulator.example.evil.test/x", "https://www.cnmv.es/x", "javascript:alert(1)"} {
		if got := pages.Link(link); got != "" {
			t.Errorf("Link(%q): got %q, want none", link, got)
		}
	}
}

// TestHostile checks that the text of a report is only text, and that a document can
// run nothing.
func TestHostile(t *testing.T) {
	s := open(t)
	f := s.publish(archive.Draft{
		Type: disclosure.OIR, Title: `<script>alert(1)</script>" onload="x`, Category: `<img src=x>`,
		Text: "<script>alert(1)</script>", Document: archive.Document{Form: "xhtml"},
	})
	for _, path := range []string{pages.Link(f.SourceURL), pages.Prefix + "/"} {
		w := s.get(path)
		if body := w.Body.String(); strings.Contains(body, "<script") || strings.Contains(body, "<img") || !strings.Contains(body, "&lt;script&gt;") {
			t.Errorf("%s has the text as markup:\n%s", path, body)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-", "X-Robots-Tag": "noindex", "Cache-Control": "no-cache", "Referrer-Policy": "no-referrer",
		} {
			if got := w.Header().Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
	w := s.get(pages.Link(f.PDFURL))
	if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.HasSuffix(policy, "sandbox; frame-ancestors 'none'") {
		t.Errorf("the policy of a document is %q", policy)
	}
	if strings.Contains(w.Body.String(), "<script>") || w.Header().Get("Content-Disposition") != `inline; filename="`+f.ID+`.xhtml"` {
		t.Errorf("got %v and\n%s", w.Header(), w.Body)
	}
	word := s.publish(archive.Draft{Document: archive.Document{Form: "word"}})
	if w := s.get(pages.Link(word.PDFURL)); w.Header().Get("Content-Disposition") != `attachment; filename="`+word.ID+`.doc"` {
		t.Errorf("a file that browsers do not show is sent with %v", w.Header())
	}
}

// TestConditional checks that an unchanged document is not sent again.
func TestConditional(t *testing.T) {
	s := open(t)
	path := pages.Link(s.publish(archive.Draft{Text: "Un documento."}).PDFURL)
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("If-None-Match", s.get(path).Header().Get("ETag"))
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	if w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("got status %d and %d bytes, want 304", w.Code, w.Body.Len())
	}
}
