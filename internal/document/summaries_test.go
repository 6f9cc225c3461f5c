package document_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
)

var update = flag.Bool("update", false, "rewrite docs/summaries.md")

const summariesFile = "../../docs/summaries.md"

// TestSummaries checks that docs/summaries.md has the summaries that the program
// makes of reports of the simulated market: it downloads the documents over HTTP,
// reads them in a separate process, and summarizes them like those of new reports.
func TestSummaries(t *testing.T) {
	want := summaries(t)
	if *update {
		if err := os.WriteFile(summariesFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(summariesFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/summaries.md is out of date; run `make generate` (-want +got):\n%s", diff)
	}
}

// maxSummaries is the number of reports in docs/summaries.md: one of each category,
// from a period of the market's history, which never changes.
const maxSummaries = 10

func summaries(t *testing.T) []byte {
	server, err := simserver.Open(simserver.Options{Market: market.New(1), Seed: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	site := httptest.NewServer(server)
	defer site.Close()
	dir := t.TempDir()
	command, err := extracttest.BuildWorker(dir)
	if err != nil {
		t.Fatal(err)
	}
	reader := sandbox.NewReader(sandbox.Options{Command: command, CacheDir: filepath.Join(dir, "cache"), Tesseract: "-"})
	defer reader.Close()
	var b bytes.Buffer
	b.WriteString("# Ten summaries\n\nThe summaries of ten reports of the **simulated market**: companies, people, figures and events are fictional. " +
		"`make generate` writes this file, and a test checks that it is up to date. The sentences are quoted from the documents, chosen by rules, with their page.\n")
	seen := map[string]bool{}
	for _, r := range reports(t, site.URL, "2025-06-02", "2025-07-31") {
		category := disclosure.SplitCategories(r.Category)[0]
		if seen[category] || len(seen) == maxSummaries {
			continue
		}
		text, err := reader.Read(t.Context(), download(t, site.URL, r.PDFURL))
		if err != nil {
			t.Fatalf("%s: got error %v, want none", r.ID, err)
		}
		summarized := document.Summarise(&r, document.Kept{Text: text}, nil)
		if text.Method != extract.ByText {
			continue // OCR depends on the installed programs
		}
		seen[category] = true
		fmt.Fprintf(&b, "\n## %s\n\n%s · %s %d · %s\n\n", strings.TrimPrefix(r.Title, market.Mark), r.CompanyName, r.Type, r.Number, r.Category)
		for _, e := range summarized.Evidence {
			fmt.Fprintf(&b, "> %s *(p. %d)*\n", e.Text, e.Page)
		}
		if len(summarized.Evidence) == 0 {
			t.Errorf("%s: got no summary, want one of: %s", r.ID, text.Pages[0].Text)
		}
	}
	return b.Bytes()
}

// reports returns the reports with a document from one day to another.
func reports(t *testing.T, site, from, to string) (out []disclosure.Report) {
	t.Helper()
	for _, series := range []string{"oir", "ip"} {
		lines := bufio.NewScanner(bytes.NewReader(get(t, site+"/_sim/filings?type="+series+"&from="+from+"&to="+to)))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var f struct {
				ID          string
				CompanyName string `json:"company_name"`
				Title       string
				Category    string
				PDFURL      string `json:"pdf_url"`
			}
			if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
				t.Fatal(err)
			}
			typ, number, _ := disclosure.ParseReportID(f.ID)
			if f.PDFURL != "" && f.Category != "" {
				out = append(out, disclosure.Report{ID: f.ID, Type: typ, Number: number, CompanyName: f.CompanyName, Title: f.Title, Category: f.Category, PDFURL: f.PDFURL})
			}
		}
	}
	return out
}

// download returns the body at a public address of the simulated site.
func download(t *testing.T, site, link string) []byte {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return get(t, site+u.RequestURI())
}

func get(t *testing.T, address string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "*/*") // without it the site answers 500
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: got status %d, error %v, want 200", address, resp.StatusCode, err)
	}
	return body
}
