package service

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// TestReady checks that a service with an empty store is not ready before its
// source was read, and that a service without a source is ready at once.
func TestReady(t *testing.T) {
	lists := []string{"round/IP", "round/OIR"} // as ingest names their clocks
	directory := []string{health.Register, health.Exchange}
	for name, test := range map[string]struct {
		awaitsSource bool
		simulated    bool
		clocks       []string
		reports      bool
		why          string // it is not ready
	}{
		"no source":                 {false, false, nil, false, ""},
		"nothing read":              {true, false, nil, false, "The store is new"},
		"directory without lists":   {true, false, directory, false, "The store is new"},
		"lists with no report":      {true, false, lists, false, ""},
		"reports of an earlier run": {true, false, nil, true, ""},
		"demo without directory":    {true, true, lists, true, "The first month"},
		"demo":                      {true, true, append(lists, directory...), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if test.reports {
				report := disclosure.Report{
					Type:        disclosure.IP,
					Number:      1,
					CompanyName: "X",
					Title:       "X",
					PublishedAt: time.Now(),
				}
				if err := report.Validate(); err != nil {
					t.Fatal(err)
				}
				batch := store.Batch{New: disclosure.Backfilled, Reports: []disclosure.Report{report}}
				if _, err := db.Append(t.Context(), batch); err != nil {
					t.Fatal(err)
				}
			}
			r := readiness{
				catalog:      catalog.New(db, slog.New(slog.DiscardHandler)),
				coverage:     coverage.New(db),
				simulated:    test.simulated,
				awaitsSource: test.awaitsSource,
			}
			if err := r.check(); err == nil || !strings.Contains(err.Error(), "still loading") {
				t.Errorf("before the catalogue is loaded: %v", err)
			}
			if err := r.catalog.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, clock := range test.clocks {
				if err := r.coverage.SetTime(t.Context(), nil, clock, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.check(); (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
				t.Errorf("%v, want %q", err, test.why)
			}
		})
	}
}
