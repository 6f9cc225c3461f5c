package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// document stores a document with these pages for a report.
func (s *service) document(id string, pages ...string) disclosure.Report {
	s.t.Helper()
	report := querytest.Document(s.t, s.store, id, pages...)
	s.append(store.Batch{Aside: []disclosure.Report{report}})
	return report
}

func (s *service) key() http.Header { return s.credentials(access.ReadReports)[0] }

func TestDocument(t *testing.T) {
	s := start(t, "demo", market())
	report := s.document("oir-40374", "La Junta aprobó el dividendo.\n\nSe pagará en mayo.", "", "Segunda €ñ😀 página.")
	var got map[string]any
	s.getWith(http.StatusOK, "/api/v1/reports/OIR-40374/document", s.key()).decode(&got)
	delete(got, "attribution")
	page := func(n int, text string) map[string]any {
		return map[string]any{"page": float64(n), "text": text, "method": "text"}
	}
	want := map[string]any{
		"id": "oir-40374", "sha256": report.Document.SHA256, "type": "pdf", "bytes": float64(report.Document.Bytes), "pages": 3.0, "language": "es", "method": "text",
		"notes": []any{}, "outline": []any{map[string]any{"title": "Principio", "page": 1.0, "level": 1.0}},
		"text":   []any{page(1, "La Junta aprobó el dividendo.\n\nSe pagará en mayo."), page(2, ""), page(3, "Segunda €ñ😀 página.")},
		"offset": 0.0, "next_offset": nil, "total_chars": 68.0, "token_estimate": 21.0,
		"text_ready_at": report.TextReadyAt.In(disclosure.Madrid).Format(time.RFC3339Nano),
		"pdf_url":       "https://regulator.example/webservices/verdocumento/ver?t=%7bd0c%7d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var detail struct {
		Document    map[string]any
		TextReadyAt time.Time `json:"text_ready_at"`
	}
	s.get(http.StatusOK, "/api/v1/reports/oir-40374").decode(&detail)
	if d := detail.Document; d["status"] != "ready" || d["reason"] != nil || d["sha256"] != report.Document.SHA256 || d["pages"] != 3.0 || !detail.TextReadyAt.Equal(report.TextReadyAt) {
		t.Errorf("%+v", detail)
	}
}

// A client that follows the next links gets the whole text in either format.
func TestDocumentInPieces(t *testing.T) {
	s := start(t, "demo", market())
	pages := []string{strings.Repeat("Árbol ñandú 😀. ", 40), "corta", "", strings.Repeat("€", 333)}
	s.document("oir-40374", pages...)
	whole := strings.Join(pages, "")
	for _, accept := range []string{"application/json", "text/plain"} {
		header := s.key()
		header.Set("Accept", accept)
		target, got := "/api/v1/reports/oir-40374/document?max_chars=100", ""
		for rounds := 0; target != ""; rounds++ {
			if rounds > 20 {
				t.Fatal("the pages do not end")
			}
			a := s.getWith(http.StatusOK, target, header)
			next := ""
			if link, ok := strings.CutSuffix(a.header.Get("Link"), `>; rel="next"`); ok {
				next = strings.TrimPrefix(link, "<"+baseURL)
			}
			if accept == "text/plain" {
				if a.header.Get("Content-Type") != "text/plain; charset=utf-8" {
					t.Fatal(a.header)
				}
				got += strings.ReplaceAll(strings.TrimSuffix(string(a.body), "\n"), "\n\n", "")
			} else {
				var piece struct {
					Text       []struct{ Text string }
					NextOffset *int `json:"next_offset"`
					TotalChars int  `json:"total_chars"`
				}
				a.decode(&piece)
				for _, p := range piece.Text {
					got += p.Text
				}
				if (piece.NextOffset == nil) != (next == "") || piece.NextOffset != nil && !strings.Contains(next, "offset="+strconv.Itoa(*piece.NextOffset)) ||
					piece.TotalChars != len([]rune(whole)) {
					t.Fatalf("%+v and %q", piece, next)
				}
			}
			target = next
		}
		if got != whole {
			t.Errorf("as %s:\n%q\nwant\n%q", accept, got, whole)
		}
	}
	a := s.getWith(http.StatusOK, "/api/v1/reports/oir-40374/document?offset=1000000", s.key())
	if !strings.Contains(string(a.body), `"text":[],"offset":1000000,"next_offset":null`) {
		t.Errorf("past the end: %s", a.body)
	}
}

func TestDocumentForms(t *testing.T) {
	s := start(t, "demo", market())
	s.document("oir-40374", "# Un <b>título</b>", "Fin.")
	for accept, want := range map[string]string{
		"":                                      "application/json",
		"*/*":                                   "application/json",
		"text/html, */*;q=0.8":                  "application/json",
		"application/xml":                       "application/json",
		"text/plain":                            "text/plain; charset=utf-8",
		"TEXT/PLAIN; charset=utf-8":             "text/plain; charset=utf-8",
		"text/markdown, text/plain;q=0.9":       "text/markdown; charset=utf-8",
		"text/markdown;q=0.1, application/json": "application/json",
		"text/plain;q=0.5, text/markdown;q=0.7": "text/markdown; charset=utf-8",
		"text/plain;q=0, application/json;q=nonsense": "application/json",
	} {
		header := s.key()
		header.Set("Accept", accept)
		a := s.getWith(http.StatusOK, "/api/v1/reports/oir-40374/document", header)
		if got := a.header.Get("Content-Type"); got != want {
			t.Errorf("Accept: %s is answered with %s, want %s", accept, got, want)
		}
		if vary := strings.Join(a.header.Values("Vary"), ", "); !strings.Contains(vary, "Accept,") && !strings.HasSuffix(vary, ", Accept") {
			t.Errorf("Vary is %s", vary)
		}
	}
	header := s.key()
	header.Set("Accept", "text/markdown")
	a := s.getWith(http.StatusOK, "/api/v1/reports/oir-40374/document", header)
	for _, want := range []string{"# \\[Simulación\\] Pago", "BODEGAS DE VALDEBRISA, S.A. · OIR 40374 · 22/04/2026 10:00 · <https://", "## Página 1\n\n\\# Un \\<b\\>título\\</b\\>\n", "## Página 2\n\nFin.\n"} {
		if !strings.Contains(string(a.body), want) {
			t.Errorf("%s\nhas no %q", a.body, want)
		}
	}
}

func TestDocumentNotThere(t *testing.T) {
	b := market()
	history := newReport(disclosure.OIR, 50, "2026-04-22T12:00:00Z")
	history.PDFURL = "https://regulator.example/webservices/verdocumento/ver?t=1"
	history.Backfilled = true
	broken := newReport(disclosure.OIR, 51, "2026-04-22T12:00:00Z")
	broken.PDFURL = history.PDFURL
	broken.Document = disclosure.Document{Status: disclosure.DocumentFailed, Reason: "The document cannot be read: it is encrypted.", Link: broken.PDFURL}
	again := newReport(disclosure.OIR, 52, "2026-04-22T12:00:00Z")
	again.PDFURL = history.PDFURL
	again.Document = disclosure.Document{Status: disclosure.DocumentPending, Reason: "The regulator did not give the document. It is tried again."}
	moved := broken
	moved.ID, moved.Number, moved.PDFURL = "", 53, "https://regulator.example/webservices/verdocumento/ver?t=2"
	listed := newReport(disclosure.OIR, 54, "2026-04-22T12:00:00Z")
	listed.EnrichedAt = listed.PublishedAt
	b.Reports = append(b.Reports, history, broken, again, moved, listed)
	s := start(t, "demo", b)
	type want struct {
		status       int
		state, words string
	}
	for id, w := range map[string]want{
		"oir-40374": {202, "pending", "waits for its turn"},
		"ip-3123":   {202, "pending", "has not been read yet"},
		"oir-50":    {404, "none", "was not asked for"},
		"oir-51":    {404, "failed", "it is encrypted"},
		"oir-52":    {202, "pending", "It is tried again"},
		"oir-53":    {202, "pending", "waits for its turn"}, // its link changed
		"oir-54":    {404, "none", "has no document of its own"},
	} {
		a := s.getWith(w.status, "/api/v1/reports/"+id+"/document", s.key())
		if !strings.Contains(string(a.body), w.words) {
			t.Errorf("%s: %s", id, a.body)
		}
		if code := `"code":"document_` + w.state + `"`; w.status == 404 && !strings.Contains(string(a.body), code) {
			t.Errorf("%s: %s has no %s", id, a.body, code)
		}
		if wait, err := strconv.Atoi(a.header.Get("Retry-After")); w.status == 202 && (err != nil || wait < 1 || a.header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s: %v", id, a.header)
		}
		var detail struct {
			Document struct{ Status, Reason string }
		}
		s.get(http.StatusOK, "/api/v1/reports/"+id).decode(&detail)
		if d := detail.Document; d.Status != w.state || !strings.Contains(d.Reason, w.words) {
			t.Errorf("%s: %+v", id, d)
		}
	}
	s.getWith(http.StatusNotFound, "/api/v1/reports/oir-999/document", s.key())
}

func TestSearchInDocuments(t *testing.T) {
	s := start(t, "demo", market())
	s.document("oir-40374", "La Junta General aprobó repartir un dividendo.", "Los dividendos se pagarán el 3 de mayo.")
	s.document("ip-3123", "Los resultados crecen un 3 %. No habrá dividendo este año.")
	s.document("hr-256057", "El fondo cambia de depositario.")
	for text, want := range map[string]string{
		"dividendos":                          "oir-40374 ip-3123",
		"dividendos&type=IP":                  "ip-3123",
		"dividendos&issuer=A69000016":         "oir-40374",
		"dividendos&from=2026-04-22":          "oir-40374",
		"dividendos&limit=1&page=2":           "ip-3123",
		"dividendos&page=3":                   "",
		`"junta general"`:                     "oir-40374",
		`"general junta"`:                     "",
		"junta mayo":                          "oir-40374", // on two pages
		"dividendo -junta":                    "ip-3123",
		"depositari":                          "hr-256057",
		"FÓNDO":                               "hr-256057",
		"bodegas":                             "", // in the title, not in the document
		"dividendo&kind=fund":                 "",
		"dividendo&category=Sobre+dividendos": "oir-40374",
	} {
		values, _ := url.ParseQuery("search=" + text)
		var list struct {
			Data  []struct{ ID string }
			Total int
		}
		s.getWith(http.StatusOK, "/api/v1/reports?in=document&"+values.Encode(), s.key()).decode(&list)
		var ids []string
		for _, r := range list.Data {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s finds %q, want %q", text, got, want)
		}
		var hits struct {
			Data []struct {
				Report   struct{ ID string }
				Snippets []document.Snippet
			}
			Total int
		}
		s.getWith(http.StatusOK, "/api/v1/search/documents?"+values.Encode(), s.key()).decode(&hits)
		ids = nil
		for _, h := range hits.Data {
			ids = append(ids, h.Report.ID)
			if len(h.Snippets) == 0 || len(h.Snippets[0].Marks) == 0 {
				t.Errorf("%s shows no place in %s", text, h.Report.ID)
			}
		}
		if got := strings.Join(ids, " "); got != want || hits.Total != list.Total {
			t.Errorf("%s shows %q of %d, want %q of %d", text, got, hits.Total, want, list.Total)
		}
	}
	for _, bad := range []string{"/api/v1/reports?in=document", "/api/v1/reports?in=document&search=-nada", "/api/v1/search/documents", "/api/v1/search/documents?search=...", "/api/v1/reports?in=title&search=x", "/api/v1/search/documents?search=" + strings.Repeat("a", 200), "/api/v1/reports?in=document&search=" + numbers(33), "/api/v1/reports?in=document&search=%22" + numbers(33) + "%22"} {
		s.getWith(http.StatusBadRequest, bad, s.key())
	}
	for _, path := range []string{"/api/v1/search/documents", "/api/v1/search/documents?in=document", "/api/v1/reports?in=document"} {
		if doc := s.getWith(http.StatusBadRequest, path, s.key()).problem(); len(doc.Errors) != 1 || doc.Errors[0].Parameter != "search" {
			t.Errorf("%s: %+v", path, doc.Errors)
		}
	}
}

// A search in documents needs credentials, however the parameter is encoded.
func TestSearchInDocumentsNeedsCredentials(t *testing.T) {
	s := start(t, "demo", market())
	s.document("ip-3123", "Los resultados crecen un 3 %.")
	for _, target := range []string{"?in=document&search=resultados", "?search=resultados&%69n=document", "?search=resultados&i%6E=document", "?in=&in=document&search=resultados", "?in=%64ocument&search=x"} {
		s.getWith(http.StatusUnauthorized, "/api/v1/reports"+target, nil)
	}
	s.getWith(http.StatusForbidden, "/api/v1/reports?in=document&search=resultados", s.credentials(access.ReadIssuers)[0])
	s.getWith(http.StatusOK, "/api/v1/reports?in=&search=resultados", nil)
}

// numbers returns n words.
func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("+p" + strconv.Itoa(i))
	}
	return b.String()[1:]
}

// A request canceled by its client is not a server error.
func TestCanceledRequestIsNoError(t *testing.T) {
	s := start(t, "demo", market())
	s.document("oir-40374", "El dividendo se pagará en mayo.")
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	for _, target := range []string{"/api/v1/search/documents?search=dividendo", "/api/v1/reports/oir-40374/document", "/api/v1/stream"} {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		r.Header = s.key()
		w := httptest.NewRecorder()
		s.mux.ServeHTTP(w, r)
		if w.Code >= 500 || w.Body.Len() > 0 && w.Code != http.StatusOK {
			t.Errorf("%s: %d, %s", target, w.Code, w.Body)
		}
	}
	if s.log.Len() > 0 {
		t.Errorf("logged: %s", &s.log)
	}
}
