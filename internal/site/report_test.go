package site_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/query/querytest"
	"pregon/internal/store"
)

// The page of a report names its class of regulated information if it is certain.
func TestReportClass(t *testing.T) {
	t.Parallel()
	s := start(t, "", querytest.Market())
	has(t, s.get(http.StatusOK, "/reports/ip-3123"), "Clase de información regulada (UE)", "2.2 Información privilegiada")
	has(t, s.get(http.StatusOK, "/reports/ip-3123?lang=en"), "2.2 Inside information")
	if body := s.get(http.StatusOK, "/reports/oir-40374").Body.String(); strings.Contains(body, "Clase de información") {
		t.Error("a report of an unknown category has a class")
	}
}

// startWith serves the market with a report that has a document, after a change of both.
func startWith(t *testing.T, change func(report, document *disclosure.Report)) *service {
	t.Helper()
	b := querytest.Market()
	at := slices.IndexFunc(b.Reports, func(r disclosure.Report) bool { return r.Number == 40374 })
	change(&b.Reports[at], &disclosure.Report{})
	s := start(t, "demo", b)
	read := querytest.Document(t, s.store, "oir-40374", "Acuerdo del consejo")
	change(&disclosure.Report{}, &read)
	s.append(store.Batch{Aside: []disclosure.Report{read}})
	return s
}

// The PDF file of a report is shown beside the text if it is a file of this service. No page
// shows files of other sites in a frame.
func TestOriginalBeside(t *testing.T) {
	t.Parallel()
	const own = "/simulator/webservices/verdocumento/ver?t=1"
	for address, framed := range map[string]bool{
		baseURL + own:                         true,
		baseURL + "/other?t=1":                false,
		baseURL + ".evil.example" + own:       false,
		"https://www.cnmv.es" + own:           false,
		"https://evil.example/?u=" + baseURL:  false,
		baseURL + "@evil.example/simulator/x": false,
	} {
		s := startWith(t, func(report, document *disclosure.Report) {
			report.PDFURL = address
			document.Document.Type = "pdf"
		})
		w := s.get(http.StatusOK, "/reports/oir-40374")
		policy := w.Header().Get("Content-Security-Policy")
		if got := strings.Contains(w.Body.String(), "<iframe"); got != framed {
			t.Errorf("%s: a frame: %t", address, got)
		}
		if got := strings.HasSuffix(policy, "; frame-src 'self'"); got != framed {
			t.Errorf("%s: %s", address, policy)
		}
		if framed && !strings.Contains(w.Body.String(), `<iframe src="`+own) {
			t.Errorf("%s: the frame has another address:\n%s", address, w.Body)
		}
	}
}

// A text by OCR has a badge, and seconds are shown only where they are known.
func TestReportMarks(t *testing.T) {
	t.Parallel()
	for from, clock := range map[disclosure.Surface]string{
		disclosure.FromFeed: "15:04:05 MST",
		disclosure.FromList: "15:04 MST",
	} {
		var published string
		s := startWith(t, func(report, document *disclosure.Report) {
			if !report.PublishedAt.IsZero() {
				published = ", " + report.PublishedAt.In(disclosure.Madrid).Format(clock) + "</time>"
			}
			report.TimeFrom = from
			document.Document.Method = "ocr"
		})
		has(t, s.get(http.StatusOK, "/reports/oir-40374"), published, ">Texto por OCR</a>")
		has(t, s.get(http.StatusOK, "/reports/oir-40374?lang=en"), published, ">Text by OCR</a>",
			`title="This text is in Spanish, as it was filed">ES</abbr>`)
		if strings.Contains(s.get(http.StatusOK, "/reports/oir-40374").Body.String(), ">ES</abbr>") {
			t.Error("a Spanish page marks Spanish texts")
		}
		has(t, s.get(http.StatusOK, "/"), strings.TrimSuffix(published, "</time>")+`">`)
		stages := strings.Contains(s.get(http.StatusOK, "/reports/oir-40374").Body.String(), `">+`)
		if stages != (from == disclosure.FromFeed) {
			t.Errorf("time from %s: the stages have durations: %t", from, stages)
		}
	}
}
