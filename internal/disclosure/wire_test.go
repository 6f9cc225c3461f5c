package disclosure_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

func TestAppendReport(t *testing.T) {
	r := newReport()
	r.Title = "Con \"comillas\", \\barra\\, \t y salto\n, ñ y 日本"
	got := string(disclosure.AppendReport(nil, &r, ""))
	const want = `{"id":"oir-40374","company_name":"EJEMPLAR FICTICIA, S.A.","ticker":null,"type":"OIR",` +
		`"title":"Con \"comillas\", \\barra\\, \t y salto\n, ñ y 日本","summary":null,` +
		`"published_at":"2026-04-22T10:00:33+02:00","cnmv_registration_number":"40374","pdf_url":null}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r.Summary, r.PDFURL = "Breve.", "https://regulator.example/d?a=1&b=<2>"
	var back map[string]any
	if err := json.Unmarshal(disclosure.AppendReport(nil, &r, "EJF"), &back); err != nil {
		t.Fatal(err)
	}
	if back["ticker"] != "EJF" || back["summary"] != r.Summary || back["pdf_url"] != r.PDFURL {
		t.Errorf("unexpected JSON: %v", back)
	}
}

func TestAppendIssuer(t *testing.T) {
	got := string(disclosure.AppendIssuer(nil, &disclosure.Issuer{ID: "brl-000356", Name: "X", NIF: "BRL-000356"}))
	if want := `{"id":"brl-000356","name":"X","cif":null,"ticker":null,"market":null}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = string(disclosure.AppendIssuer(nil, &disclosure.Issuer{ID: "A69001238", Name: "X", NIF: "A-69001238", Ticker: "X", Market: "SIBE"}))
	if want := `{"id":"A69001238","name":"X","cif":"A69001238","ticker":"X","market":"SIBE"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzAppendReport(f *testing.F) {
	f.Add("a\"\\\n\x00\x1f\x7f", "ñ\u2028\xff\xc3", int64(1))
	f.Fuzz(func(t *testing.T, title, company string, at int64) {
		r := disclosure.Report{Type: "IP", Title: title, CompanyName: company, PublishedAt: time.UnixMilli(at % 4e12).UTC()}
		var back struct {
			Title       string    `json:"title"`
			CompanyName string    `json:"company_name"`
			PublishedAt time.Time `json:"published_at"`
		}
		if err := json.Unmarshal(disclosure.AppendReport(nil, &r, ""), &back); err != nil {
			t.Fatal(err)
		}
		valid := func(s string) string { // as encoding/json would have it
			var out string
			enc, _ := json.Marshal(s)
			_ = json.Unmarshal(enc, &out)
			return out
		}
		if back.Title != valid(title) || back.CompanyName != valid(company) || !back.PublishedAt.Equal(r.PublishedAt) {
			t.Errorf("%q %q %v came back as %q %q %v", title, company, r.PublishedAt, back.Title, back.CompanyName, back.PublishedAt)
		}
		if strings.ContainsFunc(title, func(r rune) bool { return r == '\n' }) && strings.Contains(string(disclosure.AppendReport(nil, &r, "")), "\n") {
			t.Error("a record must be one line")
		}
	})
}
