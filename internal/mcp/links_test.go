package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Each row of a list has the link to the page of its report, in the data and in the text,
// and what other tools need to continue.
func TestRowsHaveLinks(t *testing.T) {
	t.Parallel()
	s := start(t, busy(60, 300, 3))
	s.append(store.Batch{Reports: []disclosure.Report{
		stating(900, time.Now().Add(-time.Hour), disclosure.Dividend, "gross_per_share", "0.25", "currency", "EUR",
			"payment_date", day(time.Now(), 12)),
	}})
	for tool, id := range map[string]string{"search_reports": "id", "list_facts": "report_id", "calendar": "report_id"} {
		out := s.call(tool, `{"limit":50}`)
		var list struct {
			Data []map[string]any
		}
		if err := json.Unmarshal(out.StructuredContent, &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Data) == 0 || strings.Count(out.text(), "\n- ") != len(list.Data) {
			t.Errorf("%s: %d rows and the text %s", tool, len(list.Data), out.text())
		}
		for _, row := range list.Data {
			link := fmt.Sprintf("%s/reports/%s", baseURL, row[id])
			if row["url"] != link || !strings.Contains(out.text(), ": "+link+"\n") {
				t.Errorf("%s: the row %v lacks %s, or the text does: %s", tool, row, link, out.text())
			}
			issuer, named := row["issuer_id"].(string)
			if !named || !strings.Contains(out.text(), issuer) {
				t.Errorf("%s: the row has the issuer %v: %s", tool, row["issuer_id"], out.text())
			}
			if _, ok := row["categories"].([]any); !ok && tool != "calendar" {
				t.Errorf("%s: the row lacks categories: %v", tool, row)
			}
		}
	}
}

// Issuers have links to their pages, and a list says how many it does not show.
func TestIssuersHaveLinks(t *testing.T) {
	t.Parallel()
	s := start(t, busy(60, 60, 4))
	all := len(s.catalog.Snapshot().Directory().Issuers())
	text := s.call("search_issuers", `{"limit":2}`).text()
	if strings.Count(text, ": "+baseURL+"/issuers/") != 2 || !strings.Contains(text, fmt.Sprintf("… and %d more", all-2)) {
		t.Errorf("two of %d issuers: %s", all, text)
	}
	if text := s.call("search_issuers", `{"search":"zzzzzzz"}`).text(); !strings.Contains(text, "No issuers here (0 found in all).") {
		t.Errorf("no issuer: %s", text)
	}
	if text := s.call("get_issuer", `{"id":"A69000016"}`).text(); !strings.Contains(text, "\nPage: "+baseURL+"/issuers/A69000016\n") {
		t.Errorf("an issuer: %s", text)
	}
	out := s.call("get_analytics", `{}`)
	if rows := strings.Count(out.text(), "\n- "); rows != strings.Count(out.text(), ": "+baseURL+"/issuers/") {
		t.Errorf("figures: %s", out.text())
	}
}

// The text about a report has what a model cites: the links, each with its own label, the
// categories, and the words that prove the summary.
func TestTextOfReport(t *testing.T) {
	t.Parallel()
	s := start(t, market())
	r := newReport(disclosure.OIR, 901, "2026-05-04T07:00:00Z")
	r.NIF = "A69000016"
	r.Category = "Sobre dividendos"
	r.PDFURL = "https://regulator.example/901.pdf"
	r.SourceURL = "https://regulator.example/901"
	r.Summary = "Paga un dividendo."
	r.SummaryEN = "It pays a dividend."
	r.SummaryMethod = "extractive"
	r.Evidence = []disclosure.Evidence{{Text: "Paga un dividendo.", Page: 3, Quote: "se abonará un dividendo de 0,25 euros"}}
	s.append(store.Batch{Reports: []disclosure.Report{r}})
	text := s.call("get_report", `{"id":"oir-901"}`).text()
	for _, want := range []string{
		", A69000016)", // the id of its issuer
		"\nPage: " + baseURL + "/reports/oir-901\n",
		"\nPDF: https://regulator.example/901.pdf\n",
		"\nSource: https://regulator.example/901\n",
		"\nCategories: «",
		"\nSummary: «Paga un dividendo.»\n",
		"\nSummary in English: «It pays a dividend.»\n",
		"\nEvidence of the summary, page 3: «se abonará un dividendo de 0,25 euros»\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in %s", want, text)
		}
	}
}

// A search in documents shows where the words are, in the data and in the text.
func TestPassages(t *testing.T) {
	t.Parallel()
	s := startWithDocument(t, start(t, market()))
	out := s.call("search_reports", `{"in":"document","search":"confidencialísima"}`, s.key(access.ReadReports)...)
	var list struct {
		Data []struct {
			ID       string
			Passages []struct {
				Page int
				Text string
			}
		}
	}
	if err := json.Unmarshal(out.StructuredContent, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 1 || len(list.Data[0].Passages) != 2 || !strings.Contains(list.Data[0].Passages[0].Text, hidden) {
		t.Fatalf("got %+v", list)
	}
	for _, p := range list.Data[0].Passages {
		if want := fmt.Sprintf("\n  page %d: «%s»\n", p.Page, p.Text); !strings.Contains(out.text(), want) {
			t.Errorf("want %q in %s", want, out.text())
		}
	}
}
