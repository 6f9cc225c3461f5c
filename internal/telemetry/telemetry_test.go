package telemetry_test

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pregon/internal/telemetry"
)

func TestMetrics(t *testing.T) {
	m := telemetry.NewMetrics("v1.2.3")
	m.Gauge("pregon_catalog_seq", "Newest change.", func() float64 { return 42 })
	m.Request("GET /api/v1/reports", "GET", 200, 3*time.Millisecond)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`pregon_http_request_seconds_count{method="GET",route="GET /api/v1/reports",status="200"} 1`,
		`pregon_http_request_seconds_bucket{method="GET",route="GET /api/v1/reports",status="200",le="0.005"} 1`,
		"pregon_catalog_seq 42", `version="v1.2.3"`, "go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestProfiles(t *testing.T) {
	w := httptest.NewRecorder()
	telemetry.NewMetrics("dev").Handler().ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/heap?debug=1", nil))
	if w.Code != 200 || !strings.Contains(w.Body.String(), "heap profile") {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
}

func TestLogger(t *testing.T) {
	for format, want := range map[string]string{"text": "level=WARN msg=there", "json": `"level":"WARN","msg":"there"`} {
		var b bytes.Buffer
		l, err := telemetry.NewLogger(&b, format, slog.LevelWarn)
		if err != nil {
			t.Fatal(err)
		}
		l.Info("hidden")
		l.Warn("there")
		if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "hidden") {
			t.Errorf("%s: %s", format, b.String())
		}
	}
	if _, err := telemetry.NewLogger(nil, "xml", 0); err == nil {
		t.Error("a format that does not exist is accepted")
	}
}
