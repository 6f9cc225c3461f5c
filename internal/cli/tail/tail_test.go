package tail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/fault"
)

func TestEvent(t *testing.T) {
	const report = `{"id":"ip-3401","type":"IP","company_name":"OTRA","title":"Uno\u001b[2Jdos","published_at":"2026-04-22T12:00:00+02:00","event":"report.updated","changed":["title"]}`
	for name, test := range map[string]struct {
		printer Printer
		want    string
	}{
		"plain":  {Printer{}, "2026-04-22 12:00:00  IP   ip-3401     OTRA                              Uno\ufffd[2Jdos (report.updated title)\n"},
		"colour": {Printer{Colors: true}, "\x1b[2m2026-04-22 12:00:00\x1b[0m  \x1b[1;31mIP \x1b[0m  ip-3401     OTRA                              Uno\ufffd[2Jdos\x1b[2m (report.updated title)\x1b[0m\n"},
		"json":   {Printer{JSON: true, Colors: true}, report + "\n"},
	} {
		var out bytes.Buffer
		test.printer.Out = &out
		if err := test.printer.Event([]byte(report)); err != nil || out.String() != test.want {
			t.Errorf("%s: got %q, %v\nwant %q", name, out.String(), err, test.want)
		}
	}
}

// A line of a position says who holds or dealt and how much, as far as that is known.
func TestEventOfPosition(t *testing.T) {
	const common = `"occurred_at":"2026-02-10T18:00:00+01:00","event":"position.published","changed":[],"issuer_name":"BODEGA"`
	for event, want := range map[string]string{
		`{"id":"short-1","holder":"Alfa\u001b LLP","percent":"0.6",` + common + `}`:                          "Alfa\ufffd LLP  0.6 %",
		`{"id":"holding-1","holder":"Beta, S.L.","percent_total":"5.033",` + common + `}`:                    "Beta, S.L.  5.033 %",
		`{"id":"dealing-1","person":"Elena Ruiz","amount":"2500","currency":"EUR",` + common + `}`:           "Elena Ruiz  2500 EUR",
		`{"id":"dealing-2","person":null,"person_erased":true,"amount":null,"currency":null,` + common + `}`: "",
	} {
		var out bytes.Buffer
		p := Printer{Out: &out}
		if err := p.Event([]byte(event)); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.HasSuffix(got, "BODEGA                            "+want+" (position.published)\n") {
			t.Errorf("%s: got %q, want %q", event, got, want)
		}
	}
}

// TestServiceBehind: a replica that lags answers with an earlier cursor. The changes
// since are not printed again.
func TestServiceBehind(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answers := []string{
		`{"data":[{"seq":5}],"next_after":5,"newest":5,"next":"e-5","ahead":false,"reset":null}`,
		`{"data":[],"next_after":3,"newest":3,"next":"e-3","ahead":true,"reset":null}`,
		`{"data":[{"seq":6}],"next_after":6,"newest":6,"next":"e-6","ahead":false,"reset":null}`,
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(asked) == len(answers) {
			cancel()
			return
		}
		_, _ = io.WriteString(w, answers[len(asked)])
		asked = append(asked, r.URL.Query().Get("after"))
	}))
	var out, complaints bytes.Buffer
	p := Printer{Out: &out, Err: &complaints, JSON: true}
	err := p.Service(ctx, server.URL, "", url.Values{}, "e-4")
	server.Close() // waits for its handlers
	if ctx.Err() == nil {
		t.Fatal(err)
	}
	if want := []string{"e-4", "e-5", "e-5"}; !slices.Equal(asked, want) {
		t.Errorf("cursors: got %q, want %q", asked, want)
	}
	if got, want := out.String(), "{\"seq\":5}\n{\"seq\":6}\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// TestServiceUnavailable: after 503 the same cursor is sent again, when the service says.
func TestServiceUnavailable(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("after"))
		switch len(asked) {
		case 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"detail":"This server does not have the change e-4 yet."}`)
		case 2:
			_, _ = io.WriteString(w, `{"data":[{"seq":5}],"next_after":5,"newest":5,"next":"e-5","ahead":false,"reset":null}`)
		default:
			cancel()
		}
	}))
	var out, complaints bytes.Buffer
	p := Printer{Out: &out, Err: &complaints, JSON: true}
	err := p.Service(ctx, server.URL, "", url.Values{}, "e-4")
	server.Close() // waits for its handlers
	if ctx.Err() == nil {
		t.Fatal(err)
	}
	if want := []string{"e-4", "e-4", "e-5"}; !slices.Equal(asked, want) {
		t.Errorf("cursors: got %q, want %q", asked, want)
	}
	if got, want := out.String(), "{\"seq\":5}\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if !strings.Contains(complaints.String(), "does not have the change e-4 yet") {
		t.Errorf("the reason is not printed: %q", complaints.String())
	}
}

// TestServiceRefuses: a cursor that the service refuses ends the command with its reason.
func TestServiceRefuses(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"detail":"after is ahead of all changes."}`)
	}))
	defer server.Close()
	p := Printer{Out: io.Discard, Err: io.Discard}
	err := p.Service(t.Context(), server.URL, "", url.Values{}, "e-99")
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "after is ahead of all changes") || asked != 1 {
		t.Errorf("after %d requests: got %v, want the reason after one", asked, err)
	}
}

func TestPause(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "86400": longestPause, "-1": 0, "soon": 0, "99999999999999999999": 0,
	} {
		resp := &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {header}}}
		f, ok := errors.AsType[*fault.Error]((&service{}).refused(resp, nil))
		if !ok || f.Kind != fault.Unavailable || f.RetryAfter != want {
			t.Errorf("Retry-After %q: got %+v, want %v", header, f, want)
		}
	}
}

// On a terminal the parts of lines are below each other and none is wider than it, and an
// id leads to the page of its report, or to the document if no service is known.
func TestColumns(t *testing.T) {
	const (
		long  = `{"id":"oir-44077","type":"OIR","company_name":"DEHESABRIL ARRENDAMIENTOS 2, FONDO DE TITULIZACIÓN","title":"Sustitución de la entidad en la que se mantiene la cuenta de tesorería del Fondo y otros acuerdos de interés","published_at":"2026-04-22T12:00:00+02:00","event":"report.corrected","changed":["title"],"pdf_url":"https://regulator.example/ver?t=%7bA%7d"}`
		short = `{"id":"ip-3401","type":"IP","company_name":"OTRA","title":"Uno","published_at":"2026-04-22T12:00:00+02:00","event":"report.published"}`
	)
	for name, test := range map[string]struct {
		printer Printer
		width   int
		want    string
	}{
		"wide": {
			Printer{Site: "https://pregon.example/"},
			140,
			"2026-04-22 12:00:00  OIR  \x1b]8;;https://pregon.example/reports/oir-44077\x1b\\oir-44077\x1b]8;;\x1b\\   DEHESABRIL ARRENDAMIENTOS 2, FO…  Sustitución de la entidad en la que se man… (report.corrected title)\n" +
				"2026-04-22 12:00:00  IP   \x1b]8;;https://pregon.example/reports/ip-3401\x1b\\ip-3401\x1b]8;;\x1b\\     OTRA                              Uno\n",
		},
		"narrow": {
			Printer{},
			80,
			"12:00:00  OIR  \x1b]8;;https://regulator.example/ver?t=%7bA%7d\x1b\\oir-44077\x1b]8;;\x1b\\   DEHESABRIL ARRENDAMIENT…  Sustitución de la e… (report.corrected title)\n" +
				"12:00:00  IP   ip-3401     OTRA                      Uno\n",
		},
	} {
		var out bytes.Buffer
		test.printer.Out = &out
		test.printer.Terminal = func() int { return test.width }
		for _, event := range []string{long, short} {
			if err := test.printer.Event([]byte(event)); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != test.want {
			t.Errorf("%s: got %q\nwant %q", name, out.String(), test.want)
		}
	}
}

// An address that comes from outside cannot control the terminal.
func TestHyperlinkRefuses(t *testing.T) {
	for _, address := range []string{"", "javascript:alert(1)", "https://a.example/\x1b\\x", "https://a.example/\u009c", "file:///etc/passwd", "://"} {
		if got := hyperlink(address, "id"); got != "id" {
			t.Errorf("%q: got %q", address, got)
		}
	}
}
