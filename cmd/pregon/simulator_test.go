package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
)

// source is a running `pregon sim` that publishes nothing of its own accord.
type source struct{ *service }

func startSource(t *testing.T) source {
	t.Helper()
	s, err := startProgram([]string{}, t.TempDir(), "sim", "--listen", "127.0.0.1:0", "--rate", "0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.end(syscall.SIGKILL) })
	return source{s}
}

// ask sends a request to the control API of the simulator.
func (s source) ask(t *testing.T, method, path, body string) []byte {
	t.Helper()
	answer, err := s.control(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// control is like ask but returns an error.
func (s source) control(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s is answered with %s: %s", method, path, resp.Status, answer)
	}
	return answer, err
}

// publish publishes a report and returns its id.
func (s source) publish(t *testing.T, body string, args ...any) string {
	t.Helper()
	var out struct{ ID string }
	if err := json.Unmarshal(s.ask(t, http.MethodPost, "/_sim/publish", fmt.Sprintf(body, args...)), &out); err != nil {
		t.Fatal(err)
	}
	return out.ID
}

func (s source) arm(t *testing.T, body string) {
	t.Helper()
	s.ask(t, http.MethodPost, "/_sim/fault", body)
}

func (s source) disarm(t *testing.T) {
	t.Helper()
	s.ask(t, http.MethodDelete, "/_sim/fault", "")
}

// apiReport is a report, either as the simulator published it or as the API returns it.
type apiReport struct {
	ID          string
	Type        string
	Number      string
	CompanyName string `json:"company_name"`
	NIF         string
	Title       string
	PublishedAt time.Time `json:"published_at"`
	PDFURL      string    `json:"pdf_url"`
	SourceURL   string    `json:"source_url"`
	Categories  []string
	Related     []relation
	CorrectedBy string `json:"corrected_by"`

	// Only the simulator has these.
	Category string
	Corrects string
	// Only the API has these.
	Registration string `json:"cnmv_registration_number"`
	Precision    string `json:"time_precision"`
}

type relation struct {
	ID           string
	Number       string
	Registration string    `json:"cnmv_registration_number"`
	PublishedAt  time.Time `json:"published_at"`
	Text         string
}

// truth returns the reports that the simulator published in a range of days, by id.
func (s source) truth(t *testing.T, from, to disclosure.Day, types ...disclosure.Type) map[string]apiReport {
	t.Helper()
	out := map[string]apiReport{}
	for _, series := range types {
		query := url.Values{"type": {strings.ToLower(string(series))}, "from": {from.String()}, "to": {to.String()}}
		lines := bufio.NewScanner(bytes.NewReader(s.ask(t, http.MethodGet, "/_sim/filings?"+query.Encode(), "")))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var f apiReport
			if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
				t.Fatal(err)
			}
			f.Categories = disclosure.SplitCategories(f.Category)
			out[f.ID] = f
		}
	}
	for id, f := range maps.Clone(out) { // relations are shown on both reports
		for _, other := range f.Related {
			if first, ok := out[other.ID]; ok {
				first.Related = append(slices.Clip(first.Related), relation{ID: id, Number: f.Number, PublishedAt: f.PublishedAt.Truncate(time.Minute)})
				out[other.ID] = first
			}
		}
		if first, ok := out[f.Corrects]; ok {
			first.CorrectedBy = id
			out[f.Corrects] = first
		}
	}
	return out
}

// findable returns truth without the reports that the site does not show: HR is
// listed by the NIF of the issuer, and some rows have none.
func (s source) findable(t *testing.T, from, to disclosure.Day, types ...disclosure.Type) map[string]apiReport {
	t.Helper()
	truth := s.truth(t, from, to, types...)
	maps.DeleteFunc(truth, func(_ string, f apiReport) bool { return f.Type == "HR" && f.NIF == "" })
	return truth
}

// plain returns a report in the normal form for comparison.
func (f apiReport) plain() apiReport {
	f.Number = cmp.Or(f.Number, f.Registration)
	f.PublishedAt = f.PublishedAt.UTC()
	f.Category, f.Corrects, f.Registration, f.Precision = "", "", "", ""
	f.Related = slices.Clone(f.Related)
	for n := range f.Related {
		r := &f.Related[n]
		r.Number, r.Registration, r.PublishedAt = cmp.Or(r.Number, r.Registration), "", r.PublishedAt.UTC()
	}
	slices.SortFunc(f.Related, func(a, b relation) int {
		return cmp.Or(strings.Compare(a.Number, b.Number), strings.Compare(a.ID, b.ID))
	})
	if len(f.Related) == 0 {
		f.Related = nil
	}
	if len(f.Categories) == 0 {
		f.Categories = nil
	}
	return f
}

// differs compares a report of the API with the published one. known reports
// whether the store has a report: of an unknown related report the API gives only
// the number.
func (f apiReport) differs(returned apiReport, known func(id string) bool) error {
	want, got := f.plain(), returned.plain()
	for n := range want.Related {
		if r := &want.Related[n]; !known(r.ID) {
			r.ID = ""
		}
	}
	if returned.Precision == "minute" {
		want.PublishedAt = want.PublishedAt.Truncate(time.Minute)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", f.ID, diff)
	}
	return nil
}
