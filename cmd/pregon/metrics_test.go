package main

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pregon/internal/server/telemetry"
	"pregon/internal/service"
	"pregon/internal/store/engine"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

const (
	metricsFile  = "../../docs/metrics.md"
	metricsBegin = "<!-- metrics -->\n"
	metricsEnd   = "<!-- end of metrics -->\n"
)

// wireService wires a service without running it. Flags are added to those of
// serve; wrap, if not nil, replaces the store.
func wireService(t *testing.T, wrap func(engine.Store) engine.Store, flags ...string) *service.Service {
	t.Helper()
	var c commands
	parser, err := newParser(&c)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	serve := []string{"serve", "--store", "sqlite:" + filepath.Join(dir, "pregon.db"), "--cache-dir", dir, "--source", "cnmv", "--regulator-url", "http://127.0.0.1:1"}
	if _, err := parser.Parse(append(serve, flags...)); err != nil {
		t.Fatal(err)
	}
	log, err := telemetry.NewLog(io.Discard, "text", slog.LevelError)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := c.Serve.openOrCreate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	if wrap != nil {
		opened = wrap(opened)
	}
	o, err := c.Serve.options(&process{stderr: io.Discard, environ: []string{llmKeyEnv + "=key"}}, log)
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(t.Context(), o, opened, "http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// wireAll wires a service with every optional component that has metrics.
func wireAll(t *testing.T) *service.Service {
	t.Helper()
	return wireService(t, nil, "--redis", "redis://127.0.0.1:1", "--llm-url", "http://127.0.0.1:1", "--llm-model", "x")
}

// TestReferenceOfMetrics compares the table in docs/metrics.md with the metrics of
// a service with every optional component.
func TestReferenceOfMetrics(t *testing.T) {
	text, err := os.ReadFile(metricsFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), metricsBegin)
	_, tail, okay := strings.Cut(rest, metricsEnd)
	if !ok || !okay {
		t.Fatal("docs/metrics.md has no marks around its table of metrics")
	}
	want := head + metricsBegin + metricsTable(wireAll(t).Observation.Metrics.Described()) + metricsEnd + tail
	if *update {
		if err := os.WriteFile(metricsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("docs/metrics.md is out of date; run `make generate` (-want +got):\n%s", diff)
	}
}

func metricsTable(metrics []telemetry.Metric) string {
	rows := "| metric | type | labels | meaning |\n|---|---|---|---|\n"
	for _, m := range metrics {
		var labels []string
		for _, l := range m.Labels {
			label := "`" + l.Name + "`"
			if n := len(l.Values); n > 0 && n <= 20 {
				slices.Sort(l.Values)
				label += ": " + strings.Join(l.Values, ", ")
			}
			labels = append(labels, label)
		}
		rows += fmt.Sprintf("| `%s` | %s | %s | %s |\n", m.Name, m.Type, strings.Join(labels, "; "), m.Help)
	}
	return rows
}

// TestMetricNames checks the metrics as `promtool check metrics` does, and that a
// gauge does not end as a counter does.
func TestMetricNames(t *testing.T) {
	s := wireAll(t)
	s.Observation.Metrics.Request("GET /", "GET", 200, 1)
	s.Observation.Metrics.Store("log", 1, false)
	s.Observation.Metrics.Report("IP", 1, 1)
	s.Observation.Metrics.Read("feed-ip", "ok")
	page := httptest.NewRecorder()
	s.Observation.Metrics.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	problems, err := promlint.New(page.Body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, m := range s.Observation.Metrics.Described() {
		if strings.HasSuffix(m.Name, "_total") != (m.Type == "counter") {
			t.Errorf("%s is a %s: counters, and only they, end in _total", m.Name, m.Type)
		}
	}
}

// TestMetricsInDocuments finds every name of a metric in the documents and in
// deploy/, and checks that the metric exists.
func TestMetricsInDocuments(t *testing.T) {
	known := map[string]bool{}
	groups := map[string]bool{} // the second words of names
	for _, m := range wireAll(t).Observation.Metrics.Described() {
		known[m.Name] = true
		groups[strings.Split(m.Name, "_")[1]] = true
		if m.Type == "histogram" {
			known[m.Name+"_bucket"], known[m.Name+"_count"], known[m.Name+"_sum"] = true, true, true
		}
	}
	words := strings.Join(slices.Sorted(maps.Keys(groups)), "|")
	named := regexp.MustCompile(`\bpregon_(?:` + words + `)s?_\w+`)
	found := 0
	for _, pattern := range []string{"../../docs/*.md", "../../*.md", "../../deploy/*/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || strings.HasSuffix(file, "CHANGELOG.md") { // a folder, or history
				continue
			}
			for _, name := range named.FindAllString(string(text), -1) {
				if found++; !known[name] {
					t.Errorf("%s names %s, which is no metric: see docs/metrics.md", file, name)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d names of metrics, want more: the pattern is wrong", found)
	}
}
