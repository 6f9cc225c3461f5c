package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
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

func TestLog(t *testing.T) {
	for format, want := range map[string]string{"text": "level=WARN msg=there", "json": `"level":"WARN","msg":"there"`} {
		var b bytes.Buffer
		l, err := telemetry.NewLog(&b, format, slog.LevelWarn)
		if err != nil {
			t.Fatal(err)
		}
		l.Info("hidden")
		l.Warn("there")
		if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "hidden") {
			t.Errorf("%s: %s", format, b.String())
		}
	}
	if _, err := telemetry.NewLog(nil, "xml", 0); err == nil {
		t.Error("a format that does not exist is accepted")
	}
}

// Lines are written in order, soon, and at once when they are urgent.
func TestLogGathersLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		l, err := telemetry.NewLog(&b, "text", slog.LevelInfo)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx) }()
		synctest.Wait()
		l.Info("one")
		if b.Len() != 0 {
			t.Error("a line was written on its own")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if strings.Count(b.String(), "\n") != 1 {
			t.Errorf("after a while there is %q", b.String())
		}
		l.Info("two")
		l.With("k", "v").WithGroup("g").Error("three")
		if got := strings.Count(b.String(), "\n"); got != 3 || strings.Index(b.String(), "two") > strings.Index(b.String(), "three") {
			t.Errorf("after an error there is %q", b.String())
		}
		l.Info("four")
		cancel()
		<-done
		if !strings.Contains(b.String(), "four") {
			t.Error("the last line is lost at the end")
		}
	})
}
