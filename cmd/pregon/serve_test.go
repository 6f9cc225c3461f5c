package main

import (
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/server/telemetry"
	"pregon/internal/sim/demo"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// TestReady checks that a service with an empty store is not ready before its
// source was read, and that a service without a source is ready at once.
func TestReady(t *testing.T) {
	lists, directory := []string{"round/IP", "round/OIR"}, []string{health.Register, health.Exchange} // as ingest names their clocks
	for name, test := range map[string]struct {
		reader  *reader
		demo    *demo.Demo
		clocks  []string
		reports bool
		why     string // it is not ready
	}{
		"no source":                 {nil, nil, nil, false, ""},
		"nothing read":              {&reader{}, nil, nil, false, "The store is new"},
		"directory without lists":   {&reader{}, nil, directory, false, "The store is new"},
		"lists with no report":      {&reader{}, nil, lists, false, ""},
		"reports of an earlier run": {&reader{}, nil, nil, true, ""},
		"demo without directory":    {&reader{}, &demo.Demo{}, lists, true, "The first month"},
		"demo":                      {&reader{}, &demo.Demo{}, append(lists, directory...), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if test.reports {
				r := disclosure.Report{Type: disclosure.IP, Number: 1, CompanyName: "X", Title: "X", PublishedAt: time.Now()}
				if err := r.Validate(); err != nil {
					t.Fatal(err)
				}
				if _, err := db.Append(t.Context(), store.Batch{New: disclosure.Backfilled, Reports: []disclosure.Report{r}}); err != nil {
					t.Fatal(err)
				}
			}
			s := service{reader: test.reader, awaitsSource: test.reader != nil, demo: test.demo, catalog: catalog.New(db, slog.New(slog.DiscardHandler)), coverage: coverage.New(db)}
			if err := s.ready(); err == nil || !strings.Contains(err.Error(), "still loading") {
				t.Errorf("before the catalogue is loaded: %v", err)
			}
			if err := s.catalog.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, clock := range test.clocks {
				if err := s.coverage.SetTime(t.Context(), nil, clock, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.ready(); (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
				t.Errorf("%v, want %q", err, test.why)
			}
		})
	}
}

// The address follows what was logged before it. A log in JSON is for programs.
func TestServeAnnounces(t *testing.T) {
	for format, want := range map[string]string{
		"text": `^time=\S+ level=INFO msg=before\nPregón is ready: http://127\.0\.0\.1:8080/\n$`,
		"json": `^\{.*"msg":"before"\}\n\{.*"msg":"ready","base_url":"http://127\.0\.0\.1:8080"\}\n$`,
	} {
		var out strings.Builder // a terminal
		log, err := telemetry.NewLog(&out, format, slog.LevelInfo)
		if err != nil {
			t.Fatal(err)
		}
		log.Info("before")
		(&serveConfig{LogFormat: format}).announce(&out, log, "http://127.0.0.1:8080")
		log.Flush()
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}
