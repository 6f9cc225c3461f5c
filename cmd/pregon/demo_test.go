package main_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pregon/internal/sim/pages"
	"pregon/internal/test/longtest"
)

// webAddress finds absolute addresses in the body of an answer.
var webAddress = regexp.MustCompile(`https?://[^\s"'<>()\\]+`)

// linksIn returns the addresses of the simulated market in answers about reports. All
// addresses must be of the service.
func linksIn(t *testing.T, s *service, answers ...[]byte) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, body := range answers {
		for _, link := range webAddress.FindAllString(string(body), -1) {
			if !strings.HasPrefix(link, s.url+"/") {
				t.Errorf("%s is not of the service, in\n%.2000s", link, body)
			}
			if strings.HasPrefix(link, s.url+pages.Prefix+"/") {
				found[link] = true
			}
		}
	}
	return found
}

// browse requests an address as a browser does, and returns the answer.
func browse(t *testing.T, method, address string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,application/xhtml+xml")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// worksInBrowser checks that a link of a report leads to a document or a page.
func worksInBrowser(t *testing.T, link string) {
	t.Helper()
	resp, body := browse(t, http.MethodGet, link)
	kind := resp.Header.Get("Content-Type")
	switch isDocument := strings.Contains(link, "/verdocumento/"); {
	case resp.StatusCode != http.StatusOK || resp.Header.Get("X-Content-Type-Options") != "nosniff":
		t.Errorf("%s: got status %d, %v", link, resp.StatusCode, resp.Header)
	case isDocument && !slices.Contains([]string{"application/pdf", "application/xhtml+xml", "application/zip"}, kind):
		t.Errorf("%s is %s, want a document", link, kind)
	case isDocument && kind == "application/pdf" && !strings.HasPrefix(body, "%PDF-"):
		t.Errorf("%s is no PDF file: %.20q", link, body)
	case !isDocument && (!strings.HasPrefix(kind, "text/html") || !strings.Contains(body, "Mercado simulado.")):
		t.Errorf("%s is %s, want a page that says that the market is simulated:\n%.1000s", link, kind, body)
	}
}

// TestDemoLinks follows every link of reports that the surfaces of the demo show.
func TestDemoLinks(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	store := engines["sqlite"](t)
	s := startReplica(t, store, "--source", "demo", "--rate", "60/min")
	n := &newcomer{t: t, url: s.url, key: pregon(t, store, "keys", "create", "--plan", "enterprise")}
	n.settle()
	answers := n.reportAnswers()
	for name, bodies := range answers {
		t.Run(name, func(t *testing.T) {
			links := linksIn(t, s, bodies...)
			if len(links) == 0 {
				t.Errorf("there is no link in\n%.2000s", bodies[0])
			}
			for link := range links {
				worksInBrowser(t, link)
			}
		})
	}
	details := slices.Collect(maps.Keys(linksIn(t, s, answers["details"]...)))
	if len(details) < 60 { // 40 reports have a page each, and most a document
		t.Errorf("the details of 40 reports have %d links", len(details))
	}

	// The links follow the address of the service. Pages are not counted against the
	// limit of anonymous callers, and nothing else of the simulator can be reached.
	if err := s.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s = startReplica(t, store, "--source", "demo", "--rate", "0", "--anonymous-limit", "3")
	for _, link := range details[:10] {
		worksInBrowser(t, s.url+strings.TrimPrefix(link, n.url))
	}
	for path, want := range map[string]int{
		"GET /simulator/_sim/fault": http.StatusNotFound, "POST /simulator/_sim/publish": http.StatusMethodNotAllowed,
		"GET /simulator/%2e%2e/_sim/fault": http.StatusNotFound, "GET /simulator/?api_key=x": http.StatusBadRequest, "GET /simulator": http.StatusOK,
	} {
		method, path, _ := strings.Cut(path, " ")
		if resp, _ := browse(t, method, s.url+path); resp.StatusCode != want || resp.Header.Get("RateLimit") != "" {
			t.Errorf("%s %s: got %d and RateLimit %q, want %d", method, path, resp.StatusCode, resp.Header.Get("RateLimit"), want)
		}
	}
	var r apiReport
	if _, err := fetch(s.url, "/api/v1/reports/"+n.report, &r); err != nil {
		t.Fatal(err) // the pages used the limit up
	}
	if !strings.HasPrefix(r.PDFURL, s.url+pages.Prefix+"/") || !strings.HasPrefix(r.SourceURL, s.url+pages.Prefix+"/") {
		t.Errorf("after a start at %s the links are %s and %s", s.url, r.PDFURL, r.SourceURL)
	}
	worksInBrowser(t, r.PDFURL)
}

// reportAnswers returns the answers of every surface that shows links of reports.
func (n *newcomer) reportAnswers() map[string][][]byte {
	n.t.Helper()
	get := func(path, accept string) []byte {
		n.t.Helper()
		answer := n.ask(http.MethodGet, path, nil, http.Header{"X-Api-Key": {n.key}, "Accept": {accept}})
		if answer.Status != http.StatusOK {
			n.t.Fatalf("%s: got status %d", path, answer.Status)
		}
		return answer.Body
	}
	tool := func(name string, arguments map[string]any) []byte {
		n.t.Helper()
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments}})
		if err != nil {
			n.t.Fatal(err)
		}
		answer := n.ask(http.MethodPost, "/api/mcp", body, http.Header{
			"X-Api-Key": {n.key}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		})
		if answer.Status != http.StatusOK {
			n.t.Fatalf("%s: got status %d", name, answer.Status)
		}
		return answer.Body
	}
	list := get("/api/v1/reports?limit=40", "application/json")
	var listed struct{ Data []apiReport }
	if err := json.Unmarshal(list, &listed); err != nil {
		n.t.Fatal(err)
	}
	var details [][]byte
	issuer := "" // that just filed a document
	for _, r := range listed.Data {
		detail := get("/api/v1/reports/"+r.ID, "application/json")
		details = append(details, detail)
		var by struct {
			ID string `json:"issuer_id"`
		}
		if err := json.Unmarshal(detail, &by); err != nil {
			n.t.Fatal(err)
		}
		if issuer == "" && r.PDFURL != "" {
			issuer = by.ID
		}
	}
	document := "/api/v1/reports/" + n.report + "/document"
	return map[string][][]byte{
		"list": {list}, "details": details, "changes": {get("/api/v1/changes?limit=50&after=0&events=report.backfilled", "application/json")},
		"document": {get(document, "application/json")}, "markdown": {get(document, "text/markdown")},
		"issuer":         {get("/api/v1/issuers/"+issuer, "application/json")},
		"search_reports": {tool("search_reports", map[string]any{"limit": 20})},
		"get_report":     {tool("get_report", map[string]any{"id": n.report})},
		"read_document":  {tool("read_document", map[string]any{"id": n.report})},
		"get_issuer":     {tool("get_issuer", map[string]any{"id": issuer})},
	}
}

// TestNoSimulator checks that only the demo has the pages of the simulator.
func TestNoSimulator(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	for name, args := range map[string][]string{
		"none": {"--source", "none"},
		"cnmv": {"--source", "cnmv", "--regulator-url", "http://127.0.0.1:1", "--exchange-url", "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := startProgram([]string{"PREGON_STORE=" + engines["sqlite"](t)}, t.TempDir(), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.cmd.Process.Kill() })
			for _, path := range []string{"", "/", "/webservices/verdocumento/ver?t=x", "/Portal/Otra-Informacion-Relevante/Resultado-OIR.aspx?nreg=1"} {
				if resp, body := browse(t, http.MethodGet, s.url+pages.Prefix+path); resp.StatusCode != http.StatusNotFound || strings.Contains(body, "simulado") {
					t.Errorf("%s: got status %d and\n%s", path, resp.StatusCode, body)
				}
			}
		})
	}
}
