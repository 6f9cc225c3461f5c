package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/server/telemetry"
)

func TestMetrics(t *testing.T) {
	m := telemetry.NewMetrics("v1.2.3")
	m.Gauge("pregon_catalog_seq", "Newest change.", func() float64 { return 42 })
	m.Request("GET /api/v1/reports", "GET", 200, 3*time.Millisecond)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`pregon_http_request_duration_seconds_count{code="200",method="GET",route="GET /api/v1/reports"} 1`,
		`pregon_http_request_duration_seconds_bucket{code="200",method="GET",route="GET /api/v1/reports",le="0.005"} 1`,
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

// On a terminal the level has a color; nothing else in the line changes, whatever
// it quotes.
func TestColored(t *testing.T) {
	var plain, colored bytes.Buffer
	for w, b := range map[io.Writer]*bytes.Buffer{&plain: &plain, telemetry.Colored(&colored): &colored} {
		l, err := telemetry.NewLog(w, "text", slog.LevelDebug)
		if err != nil {
			t.Fatal(err)
		}
		l.Info("first", "path", "a\ntime=x level=ERROR msg=y")
		l.Error("second")
		l.Flush()
		if b.Len() == 0 {
			t.Fatal("nothing was written")
		}
	}
	text := colored.String()
	for _, want := range []string{"\x1b[32mlevel=INFO\x1b[0m msg=first", "\x1b[1;31mlevel=ERROR\x1b[0m msg=second", "\x1b[2mtime="} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if strings.Count(text, "\x1b[1;31m") != 1 {
		t.Errorf("what a line quotes is coloured: %q", text)
	}
	times := regexp.MustCompile(`(?m)^time=\S+`)
	bare := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(text, "")
	if times.ReplaceAllString(bare, "") != times.ReplaceAllString(plain.String(), "") {
		t.Errorf("%q differs from %q", bare, plain.String())
	}
}

// No line of the log contains a credential.
func TestCredentialsAreNotLogged(t *testing.T) {
	const key = "pregon_live_0123456789ABCDEFGHIJabcdefghijkl012345"
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		l, err := telemetry.NewLog(&b, format, slog.LevelInfo)
		if err != nil {
			t.Fatal(err)
		}
		l.With("with", key).WithGroup("group").Warn("of "+key, "attr", key, "err", errors.New("of "+key))
		l.Request(telemetry.Request{ID: key, Path: "/" + key, Route: "none"})
		l.Flush()
		if got := b.String(); strings.Contains(got, key[:16]) || strings.Count(got, "pregon_live_…") != 6 || strings.Count(got, "\n") != 2 {
			t.Errorf("%s: %s", format, got)
		}
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

// paper is a buffer for concurrent use.
type paper struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// Lines are written in order: warnings at once, others soon.
func TestLogBuffersLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b paper
		l, err := telemetry.NewLog(&b, "text", slog.LevelInfo)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.Run(ctx) }()
		synctest.Wait()
		l.Info("one")
		if b.String() != "" {
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

// Requests are logged as log/slog would log them.
func TestLogRequest(t *testing.T) {
	requests := []telemetry.Request{
		{ID: "ABC", Method: "GET", Route: "GET /api/v1/reports", Path: "/api/v1/reports", Status: 200, Bytes: 4216, Duration: 283927, Client: netip.MustParseAddr("127.0.0.1")},
		{ID: "x", Method: "other", Route: "none", Path: "/a\"b\\c\n=ñ<&>", Status: 404, Duration: 3 * time.Second, Client: netip.MustParseAddr("fe80::1")},
		{Status: 503, Client: netip.IPv6Loopback()},
		{Status: 503, Route: "GET /readyz", Expected: true, Client: netip.IPv6Loopback()},
	}
	for _, format := range []string{"text", "json"} {
		for _, r := range requests {
			r.Time = time.Date(2026, 11, 15, 3, 4, 5, 678901000, time.UTC)
			var got, want bytes.Buffer
			l, err := telemetry.NewLog(&got, format, slog.LevelInfo)
			if err != nil {
				t.Fatal(err)
			}
			l.Request(r)
			l.Flush()
			var h slog.Handler = slog.NewTextHandler(&want, nil)
			if format == "json" {
				h = slog.NewJSONHandler(&want, nil)
			}
			level := slog.LevelInfo
			if r.Status >= 500 && !r.Expected {
				level = slog.LevelError
			}
			rec := slog.NewRecord(r.Time, level, "request", 0)
			duration := slog.Float64("duration_seconds", math.Floor(r.Duration.Seconds()*1e6)/1e6)
			if format == "text" {
				duration = slog.String(duration.Key, fmt.Sprintf("%.6f", duration.Value.Float64()))
			}
			rec.AddAttrs(slog.String("request_id", r.ID), slog.String("method", r.Method), slog.String("route", r.Route), slog.String("path", r.Path),
				slog.Int("status", r.Status), slog.Int64("bytes", r.Bytes), duration, slog.String("client_ip", r.Client.String()))
			if err := h.Handle(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if !sameLine(t, format, got.String(), want.String()) {
				t.Errorf("got  %swant %s", got.String(), want.String())
			}
		}
	}
	var none bytes.Buffer
	l, _ := telemetry.NewLog(&none, "text", slog.LevelWarn)
	l.Request(telemetry.Request{Status: 200})
	l.Flush()
	if none.Len() != 0 {
		t.Error("a level that is off is logged")
	}
}

// sameLine compares text exactly, and JSON by its values: escapes may differ.
func sameLine(t *testing.T, format, got, want string) bool {
	t.Helper()
	if format == "text" {
		return got == want
	}
	var a, b map[string]any
	if err := errors.Join(json.Unmarshal([]byte(got), &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	return reflect.DeepEqual(a, b)
}

func TestWarnings(t *testing.T) {
	var out strings.Builder
	log, err := telemetry.NewLog(&out, "text", slog.LevelDebug)
	if err != nil {
		t.Fatal(err)
	}
	quiet := telemetry.Warnings(log.Logger)
	for _, l := range []*slog.Logger{quiet, quiet.With("a", 1), quiet.WithGroup("g")} {
		l.Info("routine")
		l.Warn("trouble")
	}
	log.Flush()
	if got := out.String(); strings.Contains(got, "routine") || strings.Count(got, "trouble") != 3 {
		t.Errorf("logged:\n%s", got)
	}
}

func TestAccessLog(t *testing.T) {
	for _, test := range []struct {
		flag string
		want string // statuses of the logged requests
	}{
		{"all", "200 404 503 500 200 200"},
		{"errors", "500"},
		{"1/2", "404 500 200"},
		{"1/1", "200 404 503 500 200 200"},
		{"off", ""},
	} {
		var out bytes.Buffer
		l, err := telemetry.NewLog(&out, "text", slog.LevelInfo)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Access.UnmarshalText([]byte(test.flag)); err != nil || l.Access.String() != test.flag {
			t.Errorf("%s is read as %s, error %v", test.flag, l.Access, err)
		}
		for _, r := range []telemetry.Request{{Status: 200}, {Status: 404}, {Status: 503, Expected: true}, {Status: 500}, {Status: 200}, {Status: 200}} {
			l.Request(r)
		}
		l.Flush()
		var got []string
		for _, m := range regexp.MustCompile(`status=(\d+)`).FindAllStringSubmatch(out.String(), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s logs %v, want %s", test.flag, got, test.want)
		}
	}
	for _, wrong := range []string{"", "ALL", "none", "1/0", "1/", "2/3", "1/-1", "0.5"} {
		var a telemetry.AccessLog
		if a.UnmarshalText([]byte(wrong)) == nil {
			t.Errorf("%q is accepted as %s", wrong, a)
		}
	}
}
