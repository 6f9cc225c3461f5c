package regulator_test

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
)

const agent = "pregon/test (+https://pregon.example/contact)"

// fake is a regulator that answers by path, without the query.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // guarded by mu: paths and queries
	pages map[string]http.HandlerFunc
}

func newFake(t *testing.T, pages map[string]http.HandlerFunc) (*fake, *regulator.Client, *throttle.Queue) {
	t.Helper()
	f := &fake{pages: pages}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	queue := throttle.New(0)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := regulator.New(regulator.Options{Origin: f.URL, UserAgent: agent, Queue: queue, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return f, c, queue
}

// ServeHTTP answers 500 to requests without Accept, as the site does.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.RequestURI)
	f.mu.Unlock()
	h := f.pages[r.URL.Path]
	switch {
	case r.Header.Get("Accept") == "" || r.Header.Get("User-Agent") != agent || r.Header.Get("Accept-Language") != "es":
		http.Error(w, "Error", http.StatusInternalServerError)
	case h == nil:
		http.Redirect(w, r, "/portal/error?errorcode=CVFE", http.StatusFound)
	default:
		h(w, r)
	}
}

func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

func send(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
}

func sendTo(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusMovedPermanently)
	}
}

const (
	oirFeed = "/portal/Otra-Informacion-Relevante/RSS.asmx/GetNoticiasCNMV"
	oirList = "/portal/otra-informacion-relevante/resultado-oir"
	ipList  = "/portal/informacion-privilegiada/resultado-ip"
	hrList  = "/portal/hr/resultadobusquedahr"
	hrFeed  = "/portal/hr/hechosrelevantes.asmx/GetNoticiasCNMV"
)

func TestNew(t *testing.T) {
	for _, test := range []struct {
		origin, agent string
		ok            bool
	}{
		{"https://www.cnmv.es", agent, true},
		{"http://127.0.0.1:8080/", agent, true},
		{"https://www.cnmv.es/portal", agent, false},
		{"https://www.cnmv.es?x=1", agent, false},
		{"https://user@www.cnmv.es", agent, false},
		{"ftp://www.cnmv.es", agent, false},
		{"www.cnmv.es", agent, false},
		{"https://", agent, false},
		{"", agent, false},
		{"https://www.cnmv.es", " ", false},
		{"https://www.cnmv.es", "a\r\nb: c", false},
	} {
		_, err := regulator.New(regulator.Options{Origin: test.origin, UserAgent: test.agent, Queue: throttle.New(0)})
		if (err == nil) != test.ok {
			t.Errorf("%q as %q: %v", test.origin, test.agent, err)
		}
	}
	if _, err := regulator.New(regulator.Options{Origin: "https://www.cnmv.es", UserAgent: agent}); err == nil {
		t.Error("a client without a queue")
	}
}

// Each surface makes one request to its address.
func TestSurfaces(t *testing.T) {
	empty := []byte(`<html><ul id="listaElementosPrimernivel"></ul><a href="/error?errorcode=CVFE">x</a></html>`)
	f, c, _ := newFake(t, map[string]http.HandlerFunc{
		oirFeed: send(read(t, "feed-oir.xml")),
		hrFeed:  send(read(t, "feed-hr.xml")),
		"/portal/informacion-privilegiada/RSS.asmx/GetNoticiasCNMV": send(read(t, "feed-empty.xml")),
		oirList:                             send(read(t, "list-oir.html")),
		ipList:                              send(empty),
		hrList:                              send(read(t, "hr-entity.html")),
		regulator.HRFunds:                   send(empty),
		regulator.HRVentureCapital:          send(empty),
		"/portal/consultas/listadoentidad":  send(read(t, "funds.html")),
		"/portal/consultas/mostrarlistados": send(read(t, "funds.html")),
		"/portal/publicaciones/descarga-informacion-individual": send(read(t, "opendata.html")),
		"/webservices/verdocumento/ver":                         send(archive(t, "FONDREGISTRO.xml", string(read(t, "fondregistro.xml")))),
	})
	from, _ := disclosure.ParseDay("2026-09-01")
	to, _ := disclosure.ParseDay("2026-09-21")
	ctx := t.Context()
	for _, test := range []struct {
		asked string
		ask   func() (int, error)
		found int
	}{
		{oirFeed, func() (int, error) { f, err := c.Feed(ctx, disclosure.OIR, [32]byte{}); return len(f.Rows), err }, 2},
		{"/portal/informacion-privilegiada/RSS.asmx/GetNoticiasCNMV", func() (int, error) {
			f, err := c.Feed(ctx, disclosure.IP, [32]byte{})
			return len(f.Rows), err
		}, 0},
		{oirList + "?fechaDesde=01/09/2026&fechaHasta=21/09/2026&page=1", func() (int, error) {
			l, err := c.List(ctx, disclosure.OIR, from, to, 1)
			return len(l.Rows), err
		}, 3},
		{ipList + "?fechaDesde=21/09/2026&fechaHasta=21/09/2026&page=0", func() (int, error) {
			l, err := c.List(ctx, disclosure.IP, to, to, 0)
			return len(l.Rows), err
		}, 0},
		{hrFeed, func() (int, error) { f, err := c.Feed(ctx, disclosure.HR, [32]byte{}); return len(f.Rows), err }, 2},
		{hrList + "?division=2&nif=V-69001239&page=1", func() (int, error) {
			l, err := c.EntityHR(ctx, regulator.Funds, "V-69001239", 1)
			return len(l.Rows), err
		}, 1},
		{hrList + "?division=2&nreg=312456&th=H", func() (int, error) { r, err := c.Permalink(ctx, disclosure.HR, 312456); return one(r), err }, 1},
		{hrList + "?division=3&nreg=312456&th=H", func() (int, error) { r, err := c.IssuersHR(ctx, 312456); return one(r), err }, 1},
		{regulator.HRFunds, func() (int, error) { l, err := c.LatestHR(ctx, regulator.HRFunds); return len(l.Rows), err }, 0},
		{regulator.HRVentureCapital, func() (int, error) { l, err := c.LatestHR(ctx, regulator.HRVentureCapital); return len(l.Rows), err }, 0},
		{"/portal/consultas/listadoentidad?id=2&tipoent=0", func() (int, error) { e, err := c.Managers(ctx); return len(e.Entities), err }, 2},
		{"/portal/consultas/mostrarlistados?id=17&page=0", func() (int, error) {
			e, err := c.Funds(ctx, regulator.FundRegisters[1], 0)
			return len(e.Entities), err
		}, 2},
		{"/portal/publicaciones/descarga-informacion-individual?ejercicio=2026&lang=es", func() (int, error) {
			p, err := c.OpenData(ctx, 2026)
			return len(p), err
		}, 2},
		{"/webservices/verdocumento/ver?e=a%2b", func() (int, error) {
			r, _, err := c.FundRecords(ctx, regulator.FundArchive{Link: "https://www.cnmv.es/webservices/verdocumento/ver?e=a%2b"})
			return len(r), err
		}, 2},
	} {
		before := len(f.requests())
		found, err := test.ask()
		if err != nil || found != test.found {
			t.Errorf("%s: %d found, want %d; error %v", test.asked, found, test.found, err)
		}
		if asked := f.requests()[before:]; !slices.Equal(asked, []string{test.asked}) {
			t.Errorf("asked %q, want %q", asked, test.asked)
		}
	}
}

// one returns 1 for a report that was read.
func one(r regulator.Row) int {
	if r.Number == 0 {
		return 0
	}
	return 1
}

func TestInvalidArguments(t *testing.T) {
	f, c, _ := newFake(t, nil)
	ctx := t.Context()
	_, feed := c.Feed(ctx, "XX", [32]byte{})
	_, list := c.List(ctx, disclosure.HR, 1, 2, 0)
	_, permalink := c.Permalink(ctx, "XX", 1)
	_, latest := c.LatestHR(ctx, "/portal/home")
	_, entity := c.EntityHR(ctx, regulator.Funds, " ", 0)
	for _, err := range []error{feed, list, permalink, latest, entity} {
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("error %v, want Invalid", err)
		}
	}
	if asked := f.requests(); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
}

func TestFeedSeenBefore(t *testing.T) {
	body := read(t, "feed-oir.xml")
	pages := map[string]http.HandlerFunc{oirFeed: send(body)}
	_, c, queue := newFake(t, pages)
	first, err := c.Feed(t.Context(), disclosure.OIR, [32]byte{})
	if err != nil || first.Same || first.Digest != sha256.Sum256(body) || time.Since(first.Received) > time.Minute {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := c.Feed(t.Context(), disclosure.OIR, first.Digest)
	if err != nil || !second.Same || second.Rows != nil {
		t.Errorf("%+v, %v", second, err)
	}
	pages[oirFeed] = send(body[:len(body)-10])
	third, err := c.For(throttle.Backfill).Feed(t.Context(), disclosure.OIR, first.Digest)
	wantMarkup(t, err, "too early")
	if third.Digest != [32]byte{} || len(third.Rows) != 2 {
		t.Errorf("a cut feed has the digest %x and %d rows", third.Digest, len(third.Rows))
	}
	if n := queue.Granted(throttle.Feeds); n != 3 {
		t.Errorf("%d turns of feeds, want 3", n)
	}
}

// Rows of an entity's page have neither its name nor its NIF.
func TestEntityHR(t *testing.T) {
	_, c, _ := newFake(t, map[string]http.HandlerFunc{hrList: send(read(t, "hr-entity.html"))})
	for division, address := range map[regulator.Division]string{
		regulator.Funds:   "https://www.cnmv.es/Portal/HR/ResultadoBusquedaHR.aspx?division=2&nreg=312456&th=H",
		regulator.Issuers: "https://www.cnmv.es/Portal/HR/ResultadoBusquedaHR.aspx?division=3&nreg=312456&th=H",
	} {
		list, err := c.EntityHR(t.Context(), division, "V-69001239", 0)
		if err != nil {
			t.Fatal(err)
		}
		row := list.Rows[0]
		if row.Name != "FONDO IMAGINARIO RENTA FIJA, FI" || row.NIF != "V-69001239" || row.Number != 312456 || row.Type != disclosure.HR ||
			row.SourceURL != address ||
			row.PDFURL != "https://www.cnmv.es/webservices/verdocumento/ver?t=%7bab%7d" {
			t.Errorf("%+v", row)
		}
	}
}

func TestRedirects(t *testing.T) {
	page := read(t, "permalink-oir.html")
	for _, test := range []struct {
		name  string
		pages map[string]http.HandlerFunc
		turns uint64
		fails string // part of the error
	}{
		{"none", map[string]http.HandlerFunc{oirList: send(page)}, 1, ""},
		{"to another path", map[string]http.HandlerFunc{oirList: sendTo("/a.aspx?nreg=50374"), "/a.aspx": sendTo("b"), "/b": send(page)}, 3, ""},
		{"to a name of the site", map[string]http.HandlerFunc{oirList: sendTo("https://internet.cnmv.es/a?b=1"), "/a": send(page)}, 2, ""},
		{"five", map[string]http.HandlerFunc{
			oirList: sendTo("/1"), "/1": sendTo("/2"), "/2": sendTo("/3"), "/3": sendTo("/4"), "/4": sendTo("/5"), "/5": send(page),
		}, 6, ""},
		{"six", map[string]http.HandlerFunc{
			oirList: sendTo("/1"), "/1": sendTo("/2"), "/2": sendTo("/3"), "/3": sendTo("/4"), "/4": sendTo("/5"), "/5": sendTo("/6"), "/6": send(page),
		}, 6, "too often"},
		{"a circle", map[string]http.HandlerFunc{oirList: sendTo("/1"), "/1": sendTo("/2"), "/2": sendTo("http://cnmv.es/1")}, 3, "circle"},
		{"to itself", map[string]http.HandlerFunc{oirList: sendTo("?nreg=50374")}, 1, "circle"},
		{"to another host", map[string]http.HandlerFunc{oirList: sendTo("https://example.org/a")}, 1, "another host"},
		{"to another host, no scheme", map[string]http.HandlerFunc{oirList: sendTo("//example.org/a")}, 1, "another host"},
		{"to a file", map[string]http.HandlerFunc{oirList: sendTo("file:///etc/passwd")}, 1, "another host"},
		{"to nowhere", map[string]http.HandlerFunc{oirList: sendTo("http://%zz/")}, 1, "could not be understood"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, c, queue := newFake(t, test.pages)
			row, err := c.For(throttle.Permalinks).Permalink(t.Context(), disclosure.OIR, 50374)
			if test.fails == "" && (err != nil || row.Number != 50374) {
				t.Errorf("row %v, error %v", row, err)
			}
			if test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails) || !strings.Contains(err.Error(), oirList)) {
				t.Errorf("error %v, want one of %s with %q", err, oirList, test.fails)
			}
			if _, shown := errors.AsType[*regulator.TransportError](err); test.fails != "" && !shown {
				t.Errorf("%T cannot be shown: %v", err, err)
			}
			if test.fails != "" && strings.Contains(err.Error(), "example.org") {
				t.Errorf("the error names a host: %v", err)
			}
			if n := queue.Granted(throttle.Permalinks); n != test.turns {
				t.Errorf("%d turns, want %d", n, test.turns)
			}
		})
	}
}

func TestBadAnswers(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	const missing = "<html><body>Verifique la ruta</body></html>"
	quoted := strings.Replace(string(read(t, "permalink-oir.html")), "La sociedad informa", "Verifique la ruta: la sociedad informa", 1)
	isMissing := func(err error) bool { return fault.KindOf(err) == fault.NotFound }
	isStatus := func(code int) func(error) bool {
		return func(err error) bool {
			e, ok := errors.AsType[*regulator.StatusError](err)
			return ok && e.Status == code && fault.KindOf(err) == fault.Internal
		}
	}
	isMarkup := func(err error) bool { _, ok := errors.AsType[*regulator.MarkupError](err); return ok }
	for _, test := range []struct {
		name string
		page http.HandlerFunc
		want func(error) bool
	}{
		{"not found, 403", status(403, missing), isMissing},
		{"not found, 200", status(200, missing), isMissing},
		{"not found by its code", status(200, `<form action="error.aspx?errorcode=CVFE">`), isMissing},
		{"not found by its address", sendTo("/portal/Error.aspx?ErrorCode=CVFE"), isMissing},
		{"an empty list", status(200, `<html><ul id="listaElementosPrimernivel"></ul></html>`), isMissing},
		{"a report that quotes the words", status(200, quoted), func(err error) bool { return err == nil }},
		{"forbidden", status(403, "<html>no</html>"), isStatus(403)},
		{"bad request", status(400, "errorcode=HE"), isStatus(400)},
		{"404", status(404, ""), isMissing},
		{"410", status(410, "<html>Gone</html>"), isMissing},
		{"500", status(500, "<html>Error</html>"), isStatus(500)},
		{"redirect to nothing", status(302, ""), isStatus(302)},
		{"error page with 200", status(200, "<html><h1>Se ha producido un error</h1></html>"), isMarkup},
		{"error page without a code", status(200, `<html><head><title>CNMV - Error</title></head><body>No ha sido posible completar su consulta</body></html>`), func(err error) bool {
			return fault.KindOf(err) == fault.Unavailable && !isMarkup(err)
		}},
		{"a report that quotes that page", status(200, strings.Replace(quoted, "Verifique la ruta", "No ha sido posible completar su consulta", 1)), func(err error) bool { return err == nil }},
		{"cut", status(200, quoted[:len(quoted)/2]), isMarkup},
		{"another report", status(200, strings.ReplaceAll(quoted, "50374", "50375")), isMarkup},
		{"no Accept", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") != "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" || r.Header.Get("Cookie") != "" {
				w.WriteHeader(500)
				return
			}
			_, _ = io.WriteString(w, quoted)
		}, func(err error) bool { return err == nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, c, _ := newFake(t, map[string]http.HandlerFunc{oirList: test.page})
			_, err := c.Permalink(t.Context(), disclosure.OIR, 50374)
			if !test.want(err) {
				t.Errorf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("the error reveals internals: %v", err)
			}
		})
	}
}

// A 404 means something only for a single report: lists and feeds always exist.
func TestListIsNotMissing(t *testing.T) {
	for _, code := range []int{404, 410} {
		gone := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
		_, c, _ := newFake(t, map[string]http.HandlerFunc{oirList: gone, oirFeed: gone})
		_, list := c.List(t.Context(), disclosure.OIR, 1, 2, 0)
		_, feed := c.Feed(t.Context(), disclosure.OIR, [32]byte{})
		for _, err := range []error{list, feed} {
			e, ok := errors.AsType[*regulator.StatusError](err)
			if !ok || e.Status != code || fault.KindOf(err) == fault.NotFound {
				t.Errorf("error %v, want the status %d", err, code)
			}
		}
	}
}

// Another page than the requested one is an error, returned with its rows.
func TestAnotherPage(t *testing.T) {
	list := read(t, "list-oir.html") // 2 of 20
	_, c, _ := newFake(t, map[string]http.HandlerFunc{
		oirList: send(list), hrList: send(list), ipList: send(read(t, "list-2020.html")),
		"/portal/consultas/mostrarlistados": send(read(t, "funds.html")), // 1 of 72
	})
	ctx := t.Context()
	for _, test := range []struct {
		name string
		ask  func() (rows, page int, err error)
		page int
		want string // nothing: no error
	}{
		{"list", func() (int, int, error) {
			l, err := c.List(ctx, disclosure.OIR, 1, 2, 3)
			return len(l.Rows), l.Page, err
		}, 1, "it shows page 2 instead of 4"},
		{"the right page", func() (int, int, error) {
			l, err := c.List(ctx, disclosure.OIR, 1, 2, 1)
			return len(l.Rows), l.Page, err
		}, 1, ""},
		{"no pager", func() (int, int, error) {
			l, err := c.List(ctx, disclosure.IP, 1, 2, 7)
			return len(l.Rows), l.Page, err
		}, 0, ""},
		{"HR", func() (int, int, error) {
			l, err := c.EntityHR(ctx, regulator.Funds, "V1", 0)
			return len(l.Rows), l.Page, err
		}, 1, "it shows page 2 instead of 1"},
		{"funds", func() (int, int, error) {
			e, err := c.Funds(ctx, regulator.FundRegisters[0], 2)
			return len(e.Entities), e.Page, err
		}, 0, "it shows page 1 instead of 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, page, err := test.ask()
			if test.want == "" && err != nil {
				t.Error(err)
			} else if test.want != "" {
				wantMarkup(t, err, test.want)
				wantWhole(t, err, true)
			}
			if rows == 0 || page != test.page {
				t.Errorf("%d rows of page %d", rows, page)
			}
		})
	}
}

// spaces sends a body of a size.
func spaces(w io.Writer, n int) {
	chunk := []byte(strings.Repeat(" ", 1<<16))
	for ; n > 0; n -= len(chunk) {
		if _, err := w.Write(chunk[:min(n, len(chunk))]); err != nil {
			return
		}
	}
}

func TestLargeAnswers(t *testing.T) {
	huge := func(w http.ResponseWriter, _ *http.Request) { spaces(w, 51<<20) }
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		spaces(z, 20<<20)
		_ = z.Close()
	}
	_, c, _ := newFake(t, map[string]http.HandlerFunc{
		oirList: huge, ipList: bomb, oirFeed: huge, "/verDoc.axd": huge,
	})
	ctx := t.Context()
	_, oir := c.List(ctx, disclosure.OIR, 1, 2, 0)
	_, ip := c.List(ctx, disclosure.IP, 1, 2, 0)
	_, feed := c.Feed(ctx, disclosure.OIR, [32]byte{})
	_, document := c.Document(ctx, "https://www.cnmv.es/verDoc.axd?t=1")
	for want, errs := range map[string][]error{"larger than 8 MB": {oir, ip}, "larger than 2 MB": {feed}, "larger than 50 MB": {document}} {
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
	}
}

func TestGzipAndLargeDocument(t *testing.T) {
	_, c, _ := newFake(t, map[string]http.HandlerFunc{
		oirList: func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				w.WriteHeader(500)
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(read(t, "list-oir.html"))
			_ = z.Close()
		},
		"/webservices/verdocumento/ver": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			spaces(w, regulator.MaxDocument)
		},
	})
	if list, err := c.List(t.Context(), disclosure.OIR, 1, 2, 1); err != nil || len(list.Rows) != 3 {
		t.Errorf("%d rows, error %v", len(list.Rows), err)
	}
	d, err := c.Document(t.Context(), "http://internet.cnmv.es/webservices/verdocumento/ver?t=%7b1%7d")
	if err != nil || len(d.Body) != regulator.MaxDocument || d.ContentType != "application/pdf" ||
		d.URL != "https://www.cnmv.es/webservices/verdocumento/ver?t=%7b1%7d" {
		t.Errorf("%d bytes of %s from %s, error %v", len(d.Body), d.ContentType, d.URL, err)
	}
}

func TestDocumentElsewhere(t *testing.T) {
	f, c, _ := newFake(t, nil)
	for _, link := range []string{"https://example.org/verDoc.axd", "//example.org/verDoc.axd", "file:///verDoc.axd", "verDoc.axd", "", "http://www.cnmv.es.example.org/ver", "https://www.cnmv.es:8443/ver", ":"} {
		if _, err := c.Document(t.Context(), link); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: error %v, want Invalid", link, err)
		}
	}
	if asked := f.requests(); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
}

func TestSlowAnswers(t *testing.T) {
	endless := func(gap time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, "<html>"); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(gap):
				}
			}
		}
	}
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, test := range []struct {
		name          string
		page          http.HandlerFunc
		within, stall time.Duration
		want          string
	}{
		{"endless", endless(time.Millisecond), 100 * time.Millisecond, time.Minute, "took too long"},
		{"stalled", endless(time.Minute), time.Minute, 50 * time.Millisecond, "stalled"},
		{"silent", silent, 50 * time.Millisecond, time.Minute, "took too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, c, _ := newFake(t, map[string]http.HandlerFunc{oirList: test.page})
			c.Hurry(test.within, test.stall)
			_, err := c.List(t.Context(), disclosure.OIR, 1, 2, 0)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// A slow body that keeps arriving does not stall.
func TestSlowIsNoStall(t *testing.T) {
	page := read(t, "list-oir.html")
	synctest.Test(t, func(t *testing.T) {
		c, _ := newClient(t, "https://www.cnmv.es", roundTripper(func(*http.Request) (*http.Response, error) {
			body, w := io.Pipe()
			go func() {
				for part := range slices.Chunk(page, 1+len(page)/10) {
					_, _ = w.Write(part)
					time.Sleep(900 * time.Millisecond)
				}
				_ = w.Close()
			}()
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: body}, nil
		}))
		c.Hurry(time.Minute, time.Second)
		if _, err := c.List(t.Context(), disclosure.OIR, 1, 2, 1); err != nil {
			t.Error(err)
		}
	})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, c, _ := newFake(t, map[string]http.HandlerFunc{oirList: func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}})
	if _, err := c.List(ctx, disclosure.OIR, 1, 2, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want Canceled", err)
	}
	if _, err := c.List(ctx, disclosure.OIR, 1, 2, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v in the queue, want Canceled", err)
	}
}

func TestUnreachable(t *testing.T) {
	f, c, _ := newFake(t, nil)
	f.Close()
	_, err := c.Managers(t.Context())
	if err == nil || !strings.Contains(err.Error(), "/portal/consultas/listadoentidad") || strings.Contains(err.Error(), "Get ") {
		t.Errorf("error %v", err)
	}
}

// Links of a simulation have the address of the simulation, never the requested host.
func TestSimulated(t *testing.T) {
	var f *fake
	page := strings.Replace(string(read(t, "permalink-oir.html")), "https://www.cnmv.es/webservices", "ORIGIN/webservices", 1)
	f, c, _ := newFake(t, map[string]http.HandlerFunc{
		ipList: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.NewReplacer("ORIGIN", f.URL).Replace(page))
		},
		oirList: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Pregon-Source", "demo")
			fmt.Fprint(w, strings.NewReplacer("ORIGIN", f.URL).Replace(page))
		},
		"/webservices/verdocumento/ver": send([]byte("%PDF")),
	})
	const document = "/webservices/verdocumento/ver?e=a%2bB%2fc%3d"
	if _, err := c.Document(t.Context(), "https://regulator.example"+document); err != nil {
		t.Errorf("a simulated document, before the source has said what it is: %v", err)
	}
	row, err := c.Permalink(t.Context(), disclosure.IP, 50374)
	if err != nil || row.PDFURL != "https://www.cnmv.es"+document || c.Simulated() {
		t.Errorf("real: %+v, %v, simulated %v", row, err, c.Simulated())
	}
	row, err = c.For(throttle.Permalinks).Permalink(t.Context(), disclosure.OIR, 50374)
	if err != nil || row.PDFURL != "https://regulator.example"+document || !c.Simulated() ||
		row.SourceURL != "https://regulator.example/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=50374" {
		t.Errorf("simulated: %+v, %v, simulated %v", row, err, c.Simulated())
	}
	d, err := c.For(throttle.Documents).Document(t.Context(), row.PDFURL)
	if err != nil || string(d.Body) != "%PDF" || d.URL != row.PDFURL {
		t.Errorf("%+v, %v", d, err)
	}
}
