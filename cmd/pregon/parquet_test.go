package main_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// DuckDB reads the Parquet files of an export, with the right types, and finds the
// values of the JSON Lines.
func TestParquet(t *testing.T) {
	longtest.Skip(t, "it needs a reader from npm")
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := engine(t)
			at := time.Date(2026, 3, 29, 0, 59, 59, 123456000, time.UTC) // before Madrid's clocks change
			m := market.New(3)
			reports := slices.Collect(m.Bulk(1000, at))
			reports[0].Document = disclosure.Document{Status: disclosure.DocumentReady, Link: reports[0].PDFURL, Bytes: 1 << 40, Pages: 7}
			reports[0].TextReadyAt = at
			reports[1].Related = []disclosure.Relation{{ID: reports[2].ID, Number: reports[2].Number}, {Number: 7}}
			reports[2].PublishedAt = at
			if _, err := openStore(t, spec).Append(t.Context(), store.Batch{Issuers: m.Issuers(), Reports: reports}); err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, what := range []string{"reports", "issuers"} {
				for _, format := range []string{"parquet", "jsonl"} {
					file := filepath.Join(t.TempDir(), what+"."+format)
					pregon(t, spec, "export", what, "--format", format, "--output", file)
					files = append(files, file)
				}
			}
			runChecker(t, append([]string{"parquet.mjs"}, files...)...)
		})
	}
}
