package simserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/archive"
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
)

// testMarket is shared, since it is immutable.
var testMarket = sync.OnceValue(func() *market.Market { return market.New(1) })

// early is a Tuesday at noon, soon after the register began, so that the
// history is short.
var early = time.Date(2020, 11, 10, 11, 0, 0, 0, time.UTC)

// clock is a clock that tests advance.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
}

// site is a simulated site on a real connection.
type site struct {
	*testing.T
	*simserver.Server
	clock  *clock
	origin string
	http   *http.Client
}

func open(t *testing.T, at time.Time, file string) *site {
	t.Helper()
	c := &clock{at: at}
	s, err := simserver.Open(simserver.Options{Market: testMarket(), Seed: 1, File: file, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	client := &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		h.Close()
	})
	return &site{t, s, c, h.URL, client}
}

// reply is a complete answer.
type reply struct {
	*http.Response
	body string
	err  error // of reading the body
}

func (s *site) do(method, path, body string, headers ...string) reply {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.origin+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	res, err := s.http.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	var all bytes.Buffer
	_, err = all.ReadFrom(io.LimitReader(res.Body, 80<<20))
	if res.Header.Get("Pregon-Source") != "demo" {
		s.Errorf("%s is not marked as simulated", path)
	}
	return reply{res, all.String(), err}
}

// get expects an answer of status 200.
func (s *site) get(path string, headers ...string) string {
	s.Helper()
	r := s.do(http.MethodGet, path, "", headers...)
	if r.err != nil || r.StatusCode != http.StatusOK {
		s.Fatalf("%s: %v, %+v", path, r.err, r.Response)
	}
	return r.body
}

// publish publishes over HTTP.
func (s *site) publish(body string) (out struct {
	ID, Number  string
	PublishedAt time.Time `json:"published_at"`
},
) {
	s.Helper()
	r := s.do(http.MethodPost, "/_sim/publish", body)
	if r.err != nil || r.StatusCode != http.StatusOK {
		s.Fatalf("publishing %s: %v %s", body, r.err, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &out); err != nil {
		s.Fatal(err)
	}
	return out
}

// truth is a line of /_sim/filings, a published report.
type truth struct {
	ID          string    `json:"id"`
	Type        string    `json:"type"`
	Number      string    `json:"number"`
	CompanyName string    `json:"company_name"`
	NIF         string    `json:"nif"`
	Title       string    `json:"title"`
	Category    string    `json:"category"`
	PublishedAt time.Time `json:"published_at"`
	PDFURL      string    `json:"pdf_url"`
	SourceURL   string    `json:"source_url"`
	Corrects    string    `json:"corrects"`
	Related     []struct {
		ID, Number, Text string
		PublishedAt      time.Time `json:"published_at"`
	} `json:"related"`
}

func (s *site) reports(query string) (out []truth) {
	s.Helper()
	for line := range strings.Lines(s.get("/_sim/filings?" + query)) {
		var one truth
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			s.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

const (
	oirList = "/portal/otra-informacion-relevante/resultado-oir"
	ipList  = "/portal/informacion-privilegiada/resultado-ip"
	oirFeed = "/portal/Otra-Informacion-Relevante/RSS.asmx/GetNoticiasCNMV"
	ipFeed  = "/portal/informacion-privilegiada/RSS.asmx/GetNoticiasCNMV"
)

func TestPathsAndRedirects(t *testing.T) {
	s := open(t, early, "")
	for _, c := range []struct {
		path, location string
		status         int
	}{
		{
			"/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=7&lang=es",
			"/Portal/Otra-Informacion-Relevante/Resultado-OIR?nreg=7&lang=es", 301,
		},
		{"/portal/x.ASPX", "/portal/x", 301},
		{"//elsewhere.example/x.aspx", "/elsewhere.example/x", 301},
		{"/portal/RSS/", "/portal/error?errorcode=CVFE", 302},
		{"/", "/portal/error?errorcode=CVFE", 302},
		{"/portal/error?errorcode=CVFE", "", 403},
		{"/portal/error?errorcode=HE", "", 400},
		{"/portal/hr/resultadobusquedahr", "/portal/error?errorcode=HE", 302},
		{"/portal/consultas/ifa/listadoifa?id=0", "/portal/error?errorcode=HE", 302},
		{oirList + "?fechaDesde=2020-10-01", "/portal/error?errorcode=HE", 302},
		{oirList + "?page=-1", "/portal/error?errorcode=HE", 302},
		{"/webservices/verdocumento/ver?t=%7b00000000-0000-4000-8000-000000000000%7d", "/portal/error?errorcode=CVFE", 302},
		{"/webservices/verdocumento/ver?e=bm8%3d", "/portal/error?errorcode=CVFE", 302},
		{strings.ToUpper(ipList), "", 200},
	} {
		r := s.do(http.MethodGet, c.path, "")
		if r.err != nil || r.StatusCode != c.status || r.Header.Get("Location") != c.location {
			t.Errorf("%s: %v, %d to %q", c.path, r.err, r.StatusCode, r.Header.Get("Location"))
		}
		if c.status >= 400 && !strings.Contains(r.body, "Verifique la ruta") {
			t.Errorf("%s: %s", c.path, r.body)
		}
	}
	// Without an Accept header the site fails. The Go client sends none.
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.origin+oirFeed, nil)
	res, err := s.http.Do(req)
	if err != nil || res.StatusCode != http.StatusInternalServerError {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
}

func TestPublishOverHTTP(t *testing.T) {
	s := open(t, early, "")
	empty := s.publish("")
	if !strings.Contains(empty.ID, "-"+empty.Number) || !empty.PublishedAt.Equal(early) {
		t.Errorf("%+v", empty)
	}
	issuer := testMarket().Issuers()[3]
	first := s.publish(`{"type":"oir","title":"  Un <asunto> & ‘otro’ &lt;   más  ","nif":"` +
		strings.ToLower(issuer.ID) + `","category":"Una  categoría  ","document":true}`)
	page := s.get(oirList + "?nreg=" + first.Number)
	if !strings.Contains(page, "<p id=\"ctl00_ContentPrincipal_wucRelacionRegistros_tituloDatos\" class=\"TituloDatos\">") ||
		!strings.Contains(page, "[Simulación] Un &lt;asunto&gt; & ‘otro’ &amp;lt; más</span>") ||
		strings.Contains(page, "lblInfoPaginacion") {
		t.Error(page[len(page)-3000:])
	}
	second := s.publish(`{"type":"OIR","corrects":` + first.Number + `}`)
	third := s.publish(`{"related":"` + first.ID + `","document":false}`)
	all := map[string]truth{}
	for _, f := range s.reports("type=oir&from=2020-11-10") {
		all[f.ID] = f
	}
	got := all[first.ID]
	if got.Title != "[Simulación] Un <asunto> & ‘otro’ &lt; más" ||
		got.NIF != issuer.NIF || got.Category != "Una categoría" || got.PDFURL == "" {
		t.Errorf("%+v", got)
	}
	for id, words := range map[string]string{second.ID: "Rectifica", third.ID: "Relacionado con"} {
		if f := all[id]; len(f.Related) != 1 || f.Related[0].ID != first.ID || f.CompanyName == "" ||
			f.Related[0].Text != words+" la comunicación nº "+first.Number+" del 10/11/2020 (12:00)" {
			t.Errorf("%+v", f)
		}
	}
	if all[second.ID].Corrects != first.ID || all[third.ID].PDFURL != "" {
		t.Errorf("%+v %+v", all[second.ID], all[third.ID])
	}
	if hr := s.publish(`{"type":"hr"}`); true {
		correction := s.publish(`{"type":"hr","corrects":"` + hr.ID + `"}`)
		facts := s.reports("type=hr&from=2020-11-10")
		if last := facts[len(facts)-1]; last.ID != correction.ID || last.Category != "Rectificación Hecho Relevante" || last.Corrects != hr.ID {
			t.Errorf("%+v", last)
		}
	}
}

func TestPublishNumbersAndTimes(t *testing.T) {
	s := open(t, early, "")
	next := func() string { return s.publish(`{"type":"ip","title":"uno"}`).Number }
	a := next()
	gap := s.publish(`{"type":"ip","number":"9000","title":"dos"}`)
	if b := next(); gap.ID != "ip-9000" || b != "9001" {
		t.Errorf("after %s and a gap to %s: got %s", a, gap.ID, b)
	}
	late := s.publish(`{"type":"ip","published_at":"2020-10-01T09:30:00+02:00"}`)
	page := s.get(ipList + "?fechaDesde=01/10/2020&fechaHasta=01/10/2020")
	if late.Number != "9002" || !strings.Contains(page, "Número de registro: 9002\r") {
		t.Errorf("a late registration %+v is not in the list", late)
	}
	again := s.publish(`{"type":"ip","number":9000,"title":"tres"}`)
	page = s.get(ipList + "?dias=0")
	if strings.Count(page, "Número de registro: 9000\r") != 2 || again.ID != gap.ID {
		t.Error("the list does not show the repeated number twice")
	}
	found := 0
	for _, f := range s.reports("type=ip&from=2020-11-10") {
		if f.ID == gap.ID {
			found++
			if f.Title != "[Simulación] tres" {
				t.Errorf("%+v", f)
			}
		}
	}
	if found != 1 {
		t.Errorf("reports with the repeated number: got %d, want 1", found)
	}
	shared := s.publish(`{"type":"oir","link":"../aldia/detalleifialdia.aspx?nReg=2020028165"}`)
	if f := s.reports("type=oir&from=2020-11-10"); f[len(f)-1].SourceURL !=
		"https://regulator.example/portal/aldia/detalleifialdia.aspx?nReg=2020028165" {
		t.Errorf("%s: %+v", shared.ID, f[len(f)-1])
	}
}

func TestPublishRefuses(t *testing.T) {
	s := open(t, early, "")
	for _, body := range []string{
		`{`, `[]`, `{"typ":"oir"}`, `{} {}`, `{"type":"xx"}`, `{"type":5}`, `{"nif":"A28000000"}`, `{"nif":"unknown"}`,
		`{"title":" "}`, `{"title":"a\u0000b"}`, `{"published_at":"ayer"}`, `{"published_at":"2019-01-01T00:00:00Z"}`,
		`{"published_at":"2020-11-20T00:00:00Z"}`,
		`{"number":-1}`, `{"number":"01"}`, `{"number":1.5}`, `{"number":true}`, `{"related":99999999}`,
		`{"related":"x"}`, `{"related":1,"corrects":1}`,
		`{"link":"javascript:alert(1)"}`, `{"link":"https://www.cnmv.es/x"}`, `{"title":"` + strings.Repeat("a", 70_000) + `"}`,
	} {
		r := s.do(http.MethodPost, "/_sim/publish", body)
		var why struct{ Error string }
		if err := json.Unmarshal([]byte(r.body), &why); err != nil || r.StatusCode != http.StatusBadRequest || why.Error == "" {
			t.Errorf("%.100s: %d %s", body, r.StatusCode, r.body)
		}
	}
	if len(s.reports("from=2020-11-11")) != 0 {
		t.Error("a rejected request published a report")
	}
}

func TestControlRefuses(t *testing.T) {
	s := open(t, early, "")
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/_sim/", 200},
		{"GET", "/_sim/nothing", 404},
		{"GET", "/_sim/publish", 405},
		{"DELETE", "/_sim/filings", 405},
		{"GET", "/_sim/filings?type=x", 400},
		{"GET", "/_sim/filings?from=1/1/2020", 400},
		{"POST", "/_sim/", 405},
	} {
		if r := s.do(c.method, c.path, ""); r.StatusCode != c.status {
			t.Errorf("%s %s: %d", c.method, c.path, r.StatusCode)
		}
	}
}

func TestPublishPicksFittingIssuers(t *testing.T) {
	s := open(t, early, "")
	byName := map[string]disclosure.Issuer{}
	for _, i := range testMarket().Issuers() {
		byName[i.ID] = i
	}
	types, related := map[disclosure.Type]int{}, 0
	for n := range 400 {
		s.clock.set(early.Add(time.Duration(n) * time.Second))
		r, err := s.Publish(archive.Draft{})
		if err != nil {
			t.Fatal(err)
		}
		types[r.Type]++
		related += len(r.Related)
		if i, ok := byName[r.IssuerKey()]; ok &&
			(r.Type == disclosure.HR) != (i.Kind == disclosure.Manager || strings.HasPrefix(i.ISINs[0], "ES04")) {
			t.Errorf("%s files %s", i.Name, r.ID)
		}
	}
	if related < 5 || related > 100 {
		t.Errorf("%d reports relate to others", related)
	}
	for _, f := range s.reports("type=hr&from=2020-11-10") {
		if (f.Category == "Rectificación Hecho Relevante") != (f.Corrects != "") {
			t.Errorf("%+v", f)
		}
	}
	for _, want := range disclosure.Types {
		if types[want] < 5 {
			t.Errorf("%v", types)
		}
	}
	for _, i := range testMarket().Issuers()[:200] {
		r, err := s.Publish(archive.Draft{NIF: i.NIF})
		if err != nil || r.NIF != i.NIF || r.CompanyName != i.Name {
			t.Errorf("%+v %v", r, err)
		}
	}
}

// TestControlRefusesPages checks that a web page in the browser of an operator cannot
// control the simulator.
func TestControlRefusesPages(t *testing.T) {
	s := open(t, early, "")
	for name, value := range map[string]string{"Host": "evil.example", "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
		r := httptest.NewRequest(http.MethodPost, "/_sim/fault", strings.NewReader(`{"kind":"stall"}`))
		r.Host = "127.0.0.1:8090"
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: %s is answered %d %s", name, value, w.Code, w.Body)
		}
	}
}
