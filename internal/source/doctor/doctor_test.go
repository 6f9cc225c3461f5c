package doctor_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/extract/xls"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
	"pregon/internal/source/doctor"
	"pregon/internal/source/exchange"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/test/longtest"
)

const agent = "pregon/test (+https://pregon.example/contact)"

// testMarket is shared by all tests, since creating it is slow.
var testMarket = sync.OnceValue(func() *market.Market { return market.New(1) })

// site is a simulated site without a network, so that its time can be simulated too.
type site struct {
	t      *testing.T
	server *simserver.Server
	change func(*http.Request, *http.Response) // changes an answer, if not nil
	offset time.Duration                       // of the clock of its Date

	asked []string // paths and queries, in order
	times []time.Time
}

// newSite returns a site with some reports of today. It must run in a bubble.
func newSite(t *testing.T) *site {
	t.Helper()
	time.Sleep(time.Until(time.Date(2026, 11, 17, 11, 0, 0, 0, time.UTC)))
	server, err := simserver.Open(simserver.Options{Market: testMarket(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for _, series := range []disclosure.Type{disclosure.IP, disclosure.OIR, disclosure.HR, disclosure.OIR} {
		time.Sleep(10 * time.Minute)
		if _, err := server.Publish(archive.Draft{Type: series}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(10 * time.Minute)
	return &site{t: t, server: server}
}

// arm arms a fault of the simulator.
func (s *site) arm(body string) {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/_sim/fault", strings.NewReader(body))
	w := httptest.NewRecorder()
	if s.server.ServeHTTP(w, r); w.Code != http.StatusOK {
		s.t.Fatal(w.Body)
	}
}

// RoundTrip implements http.RoundTripper.
func (s *site) RoundTrip(req *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, req.URL.RequestURI())
	s.times = append(s.times, time.Now())
	if got := req.Header.Get("User-Agent"); got != agent {
		s.t.Errorf("got user agent %q", got)
	}
	w := httptest.NewRecorder()
	r := req.Clone(req.Context())
	r.RequestURI = req.URL.RequestURI()
	cut := s.serve(w, r)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	res := w.Result()
	res.Header.Set("Date", time.Now().Add(s.offset).UTC().Format(http.TimeFormat))
	if s.change != nil {
		s.change(req, res)
	}
	if cut && w.Body.Len() == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if cut {
		res.Body = io.NopCloser(io.MultiReader(res.Body, failing{}))
	}
	return res, nil
}

// serve reports whether the answer was cut off.
func (s *site) serve(w http.ResponseWriter, r *http.Request) (cut bool) {
	defer func() {
		if v := recover(); v != nil {
			if v != http.ErrAbortHandler {
				panic(v)
			}
			cut = true
		}
	}()
	s.server.ServeHTTP(w, r)
	return false
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// examine reads all surfaces of a tape.
func examine(t *testing.T, tape *doctor.Tape, now time.Time) []doctor.Check {
	t.Helper()
	const origin = "http://127.0.0.1:1"
	source, err := regulator.New(regulator.Options{
		Origin: origin, UserAgent: agent, Queue: throttle.New(250 * time.Millisecond), Transport: tape.For(doctor.Regulator),
	})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := exchange.New(exchange.Options{Origin: origin, UserAgent: agent, Gap: time.Second, Transport: tape.For(doctor.Exchange)})
	if err != nil {
		t.Fatal(err)
	}
	var done []doctor.Check
	checks, err := doctor.Run(t.Context(), doctor.Options{
		Regulator: source, Exchange: listed, Tape: tape, Now: func() time.Time { return now },
		ReadWorkbook: func(_ context.Context, body []byte) (xls.Book, error) { return xls.Read(body) },
		Done:         func(c doctor.Check) { done = append(done, c) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != len(checks) {
		t.Errorf("got %d reported checks of %d", len(done), len(checks))
	}
	return checks
}

func printed(checks []doctor.Check) string {
	var b bytes.Buffer
	for _, c := range checks {
		c.Print(&b)
	}
	return b.String()
}

// A healthy site has no findings, and is asked once for every page, at the pace of
// the service.
func TestHealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		checks := examine(t, doctor.Record(s), time.Now())
		for _, c := range checks {
			if c.Verdict != doctor.OK || c.Loses || len(c.Findings) > 0 || c.Found == "" {
				t.Errorf("%s is not ok", c.Name)
			}
		}
		if conclusion, ready := doctor.Conclude(checks); !ready || conclusion != "ready" {
			t.Errorf("got conclusion %q", conclusion)
		}
		t.Logf("\n%s", printed(checks))
		if want := 39; len(s.asked) != want {
			t.Errorf("got %d requests, want %d: %s", len(s.asked), want, strings.Join(s.asked, "\n"))
		}
		once := slices.Compact(slices.Sorted(slices.Values(s.asked)))
		if len(once) != len(s.asked) {
			t.Errorf("a page was requested twice: %s", strings.Join(s.asked, "\n"))
		}
		for n := 1; n < len(s.times); n++ {
			first := strings.HasPrefix(s.asked[n], "/Market/") && !strings.HasPrefix(s.asked[n-1], "/Market/") // another site
			if gap := s.times[n].Sub(s.times[n-1]); gap < 250*time.Millisecond && !first {
				t.Errorf("request %d came %v after another", n, gap)
			}
		}
	})
}

// A broken surface is named, with the line where the page is broken, and no other.
func TestBroken(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	const none = -1 // the finding has no line
	for _, test := range []struct {
		fault   string
		surface string // whose check is not ok
		verdict doctor.Verdict
		loses   bool
		line    int // none, or 1 for any
		text    string
	}{
		{`{"kind":"error500","surface":"feed","type":"ip"}`, "feed-ip", doctor.Failed, true, none, "status 500"},
		{`{"kind":"error403","surface":"feed","type":"hr"}`, "feed-hr", doctor.Failed, true, none, "status 403"},
		{`{"kind":"errorpage","surface":"feed","type":"oir"}`, "feed-oir", doctor.Failed, true, none, "could not complete"},
		{`{"kind":"markup","surface":"feed","type":"oir"}`, "feed-oir", doctor.Failed, true, none, "not have a channel"},
		{`{"kind":"stall","surface":"feed","type":"oir","by":"1h"}`, "feed-oir", doctor.Failed, true, none, "took too long"},
		{`{"kind":"endless","surface":"feed","type":"oir"}`, "feed-oir", doctor.Failed, true, none, "took too long"},
		{`{"kind":"huge","surface":"feed","type":"ip"}`, "feed-ip", doctor.Failed, true, none, "larger than 2 MB"},
		{`{"kind":"silent","surface":"feed","type":"oir"}`, "feed-oir", doctor.Warning, false, none, "which the list shows"},
		{`{"kind":"skew","surface":"feed","type":"oir","by":"3h"}`, "feed-oir", doctor.Warning, false, 1, "in the future"}, // the page has another time

		{`{"kind":"error500","surface":"list","type":"oir"}`, "list-oir", doctor.Failed, true, none, "status 500"},
		{`{"kind":"errorpage","surface":"list","type":"ip"}`, "list-ip", doctor.Failed, true, none, "could not complete"},
		{`{"kind":"markup","surface":"list","type":"oir"}`, "list-oir", doctor.Failed, true, 1, "have an unknown format"},
		{`{"kind":"truncate","surface":"list","type":"oir"}`, "list-oir", doctor.Failed, true, none, "ended before the answer did"},
		{`{"kind":"redirectloop","surface":"list","type":"ip"}`, "list-ip", doctor.Failed, true, none, "redirects in a circle"},
		{`{"kind":"reset","surface":"list","type":"ip"}`, "list-ip", doctor.Failed, true, none, "connection"},
		{`{"kind":"huge","surface":"list","type":"oir"}`, "list-oir", doctor.Failed, true, none, "larger than 8 MB"},
		{`{"kind":"error403","surface":"hr"}`, "list-hr/utimos-hechos-relevantes-iic", doctor.Failed, true, none, "status 403"},

		{`{"kind":"error500","surface":"permalink","type":"hr"}`, "permalink-hr", doctor.Failed, true, none, "status 500"},
		{`{"kind":"markup","surface":"permalink","type":"oir"}`, "permalink-oir", doctor.Failed, true, 1, "have an unknown format"},

		{`{"kind":"error500","surface":"document"}`, "document", doctor.Failed, false, none, "status 500"},
		{`{"kind":"error500","surface":"register"}`, "registers/managers", doctor.Failed, false, none, "status 500"},
		{`{"kind":"truncate","surface":"register"}`, "registers/managers", doctor.Failed, false, none, "ended before"},
		{`{"kind":"markup","surface":"register"}`, "registers/fi-3", doctor.Failed, false, 1, "have an unknown format"},
		{`{"kind":"error500","surface":"positions","times":1}`, "registers/dealings", doctor.Failed, false, none, "status 500"},
		{`{"kind":"markup","surface":"positions","times":1}`, "registers/dealings", doctor.Failed, false, 1, "have an unknown format"},
		{`{"kind":"error500","surface":"shorts"}`, "registers/shorts", doctor.Failed, false, none, "status 500"},
		{`{"kind":"errorpage","surface":"shorts"}`, "registers/shorts", doctor.Failed, false, none, "could not complete"},
		{`{"kind":"half","surface":"shorts"}`, "registers/shorts", doctor.Failed, false, none, "it is cut off or corrupt"},
		{`{"kind":"stale","surface":"shorts"}`, "registers/shorts", doctor.Warning, false, none, "days ago"},
		{`{"kind":"truncate","surface":"shorts"}`, "registers/shorts", doctor.Failed, false, none, "ended before"},
		{`{"kind":"error403","surface":"exchange"}`, "exchange", doctor.Failed, false, none, "status 403"},
		{`{"kind":"stall","surface":"exchange","by":"1h"}`, "exchange", doctor.Failed, false, none, "does not answer"},
	} {
		t.Run(test.surface+" "+test.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.arm(test.fault)
				checks := examine(t, doctor.Record(s), time.Now())
				if conclusion, ready := doctor.Conclude(checks); ready == test.loses || test.loses && !strings.Contains(conclusion, test.surface+" (") {
					t.Errorf("got conclusion %q", conclusion)
				}
				checkNamed(t, checks, test.surface)
				n := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == test.surface })
				c := checks[n]
				k := slices.IndexFunc(c.Findings, func(f doctor.Finding) bool { return strings.Contains(f.Text, test.text) })
				if c.Verdict != test.verdict || k < 0 || (test.line == none) != (c.Findings[k].Line == 0) {
					t.Errorf("got %s", printed(checks[n:n+1]))
				}
			})
		})
	}
}

// checkNamed checks that no surface but those of the same fault has a finding.
func checkNamed(t *testing.T, checks []doctor.Check, name string) {
	t.Helper()
	group, _, _ := strings.Cut(name, "/")
	if group == "list-hr" { // the fault is on all pages of HR
		group = "hr"
	}
	if name == "feed-oir" { // what feed and page say of a report is compared
		group = "permalink-oir"
	}
	if name == "document" { // the archive is a document too
		group = "archive"
	}
	for _, c := range checks {
		if c.Verdict != doctor.OK && c.Verdict != doctor.Skipped && c.Name != name && !strings.Contains(c.Name, group) {
			t.Errorf("%s is not ok: %v", c.Name, c.Findings)
		}
	}
}

// A page whose text is changed is read as far as possible, and the finding has the
// exact line.
func TestChangedPages(t *testing.T) {
	const oirList, oirFeed = "/resultado-oir?fecha", "/Otra-Informacion-Relevante/RSS.asmx"
	// at returns the offset of the n-th mark, from 1.
	at := func(body []byte, n int, mark string) int {
		from := 0
		for range n {
			from += bytes.Index(body[from:], []byte(mark)) + len(mark)
		}
		return from - len(mark)
	}
	inItem := func(body []byte, from, to string) ([]byte, int) {
		n := at(body, 3, "<item>")
		return append(body[:n:n], bytes.Replace(body[n:], []byte(from), []byte(to), 1)...), n
	}
	inRow := func(body []byte, from, to string) ([]byte, int) {
		n := bytes.LastIndexByte(body[:at(body, 3, "_elementoPrimerNivel\"")], '\n') + 1
		return append(body[:n:n], bytes.Replace(body[n:], []byte(from), []byte(to), 1)...), n
	}
	for name, test := range map[string]struct {
		path    string                          // of the page
		change  func(body []byte) ([]byte, int) // returns the offset of the line, or -1
		surface string
		verdict doctor.Verdict
		loses   bool
		text    string
	}{
		"a row without its date":   {oirList, func(b []byte) ([]byte, int) { return inRow(b, "/11/2026", "/13/2026") }, "list-oir", doctor.Warning, true, "has no date and time"},
		"a row without its number": {oirList, func(b []byte) ([]byte, int) { return inRow(b, "mero de registro", "mero") }, "list-oir", doctor.Warning, true, "row 3 has no registration number"},
		"a page that is cut off":   {oirList, func(b []byte) ([]byte, int) { n := at(b, 3, "_liHora"); return b[:n], n }, "list-oir", doctor.Failed, true, "ends too early"},
		"an empty list": {oirList, func(b []byte) ([]byte, int) {
			from := at(b, 1, "listaElementosPrimernivel\">") + len("listaElementosPrimernivel\">")
			return append(append(b[:from:from], "</ul>"...), b[bytes.Index(b[from:], []byte("<div class=\"paginacion\">"))+from:]...), -1
		}, "list-oir", doctor.Warning, true, "the list of 7 days is empty"},
		"a list without a list": {oirList, func(b []byte) ([]byte, int) {
			return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("listaElementosPrimernivel"), []byte("lista")), []byte("_elementoPrimerNivel"), []byte("_fila")), -1
		}, "list-oir", doctor.Failed, true, "it has no list"},
		"another encoding": {oirList, func(b []byte) ([]byte, int) {
			n := at(b, 3, "lang=\"es\">") + len("lang=\"es\">")
			return append(append(b[:n:n], 0xfa), b[n:]...), n
		}, "list-oir", doctor.Warning, true, "it is not UTF-8"},
		"a feed that is cut off": {oirFeed, func(b []byte) ([]byte, int) { n := at(b, 3, "<pubDate>"); return b[:n], n }, "feed-oir", doctor.Failed, true, "ends too early"},
		"an item without a number": {oirFeed, func(b []byte) ([]byte, int) {
			b, n := inItem(b, "nreg=", "id=")
			b, _ = inItem(b, "nreg=", "id=")
			return b, n
		}, "feed-oir", doctor.Warning, true, "item 3 has no registration number"},
		"JSON that is cut off":        {"/ListedCompanies", func(b []byte) ([]byte, int) { return b[:len(b)/2], 0 }, "exchange", doctor.Failed, false, "is not JSON"},
		"a share that cannot be read": {"/ListedCompanies", func(b []byte) ([]byte, int) { return bytes.Replace(b, []byte(`"isin":"ES`), []byte(`"isin":"`), 1), -1 }, "exchange", doctor.Warning, false, "row 1 of the list of SIBE"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, line := newSite(t), -1
				s.change = func(req *http.Request, res *http.Response) {
					if !strings.Contains(req.URL.RequestURI(), test.path) {
						return
					}
					body, err := io.ReadAll(res.Body)
					if err != nil {
						t.Fatal(err)
					}
					body, at := test.change(body)
					if at >= 0 {
						line = 1 + bytes.Count(body[:at], []byte{'\n'})
					}
					res.Body = io.NopCloser(bytes.NewReader(body))
				}
				checks := examine(t, doctor.Record(s), time.Now())
				checkNamed(t, checks, test.surface)
				n := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == test.surface })
				c := checks[n]
				k := slices.IndexFunc(c.Findings, func(f doctor.Finding) bool { return strings.Contains(f.Text, test.text) })
				if c.Verdict != test.verdict || c.Loses != test.loses || k < 0 || c.Findings[k].Line != max(line, 0) {
					t.Errorf("want line %d: %s", line, printed(checks[n:n+1]))
				}
				if conclusion, ready := doctor.Conclude(checks); ready == test.loses || !ready && !strings.Contains(conclusion, test.text) {
					t.Errorf("got conclusion %q", conclusion)
				}
			})
		})
	}
}

// The clock of the machine is compared with that of the source.
func TestSkew(t *testing.T) {
	for _, offset := range []time.Duration{0, -10 * time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			s.offset = -offset
			tape := doctor.Record(s)
			examine(t, tape, time.Now())
			if skew, known := tape.Skew(); !known || (skew-offset).Abs() > time.Second {
				t.Errorf("got %v, %v, want %v", skew, known, offset)
			}
		})
	}
}

// Some reports have no tax number. It is a finding only if the newest three have none.
func TestNoTaxNumber(t *testing.T) {
	link := regexp.MustCompile(`(?i)nif=[a-z0-9-]+`)
	for _, test := range []struct {
		without int // pages
		read    int
		want    doctor.Verdict
	}{
		{0, 1, doctor.OK},
		{1, 2, doctor.OK},
		{2, 3, doctor.OK},
		{3, 3, doctor.Warning},
		{10, 3, doctor.Warning},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			pages := 0
			s.change = func(req *http.Request, res *http.Response) {
				if !strings.Contains(req.URL.RequestURI(), "/resultado-oir?nreg=") {
					return
				}
				pages++
				if pages > test.without {
					return
				}
				body, err := io.ReadAll(res.Body)
				if err != nil {
					t.Fatal(err)
				}
				if !link.Match(body) {
					t.Errorf("page %d has no tax number that can be removed", pages)
				}
				res.Body = io.NopCloser(bytes.NewReader(link.ReplaceAll(body, []byte("nif="))))
			}
			checks := examine(t, doctor.Record(s), time.Now())
			n := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == "permalink-oir" })
			if got := checks[n]; got.Verdict != test.want || pages != test.read {
				t.Errorf("%d pages without: got %v after %d pages, want %v after %d: %s", test.without,
					got.Verdict, pages, test.want, test.read, printed(checks[n:n+1]))
			}
			if _, ready := doctor.Conclude(checks); !ready {
				t.Errorf("%d pages without: not ready", test.without)
			}
		})
	}
}
