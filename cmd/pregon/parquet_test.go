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
			db := openStore(t, spec)
			batch := store.Batch{
				Issuers:   m.Issuers(),
				Reports:   reports,
				Positions: parquetPositions(),
			}
			if _, err := db.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			if _, err := db.EraseNames(t.Context(), nil, dealing(2).ID); err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, what := range []string{"reports", "issuers", "positions"} {
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

// parquetPositions returns positions of several kinds, one of them with trades.
func parquetPositions() []disclosure.Position {
	read := dealing(1)
	read.DocumentStatus = disclosure.DocumentReady
	read.Rectifies = []string{"2025000001"}
	read.Relation = disclosure.RelationManager
	for _, side := range disclosure.Sides {
		read.Trades = append(read.Trades, disclosure.Trade{
			Nature:   "Compra",
			Side:     side,
			Date:     "2026-09-24",
			Volume:   "1000",
			Price:    "8.29",
			Currency: "EUR",
			Page:     1,
			Quote:    "Compra «1.000»; 8,29",
		})
	}
	positions := []disclosure.Position{read, dealing(2), dealing(3)}
	for n, percent := range []string{"0.49", "0.5", "10.1", "0"} {
		state := disclosure.StateCurrent
		if percent == "0" {
			state = disclosure.StateClosed
		}
		positions = append(positions, disclosure.Position{
			ID:      disclosure.ShortID("ES0100000001", "2026-10-02", n+1),
			Kind:    disclosure.Short,
			ISIN:    "ES0100000001",
			Name:    "ATALAYA CAPITAL LLP",
			Date:    "2026-10-02",
			Percent: percent,
			State:   state,
		})
	}
	return positions
}
