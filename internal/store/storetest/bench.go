package storetest

import (
	"testing"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// Bench measures an empty store: how long it takes to append one report, and to read.
func Bench(b *testing.B, s store.Store) {
	const stored = 1000
	ctx := b.Context()
	if _, err := s.Append(ctx, published(newReports(1, stored)...)); err != nil {
		b.Fatal(err)
	}
	number := int64(stored)
	b.Run("Append", func(b *testing.B) {
		for b.Loop() {
			number++
			if _, err := s.Append(ctx, published(newReport(number, "La sociedad informa"))); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Reports", func(b *testing.B) {
		for b.Loop() {
			found, err := s.Reports(ctx, "oir-1", "oir-500", "oir-1000")
			if err != nil || len(found) != 3 {
				b.Fatalf("%d reports, %v; want 3", len(found), err)
			}
		}
	})
	b.Run("ChangesOf", func(b *testing.B) {
		for b.Loop() {
			found, err := s.ChangesOf(ctx, disclosure.OfReport, "oir-500", stored, 10)
			if err != nil || len(found) != 1 {
				b.Fatalf("%d changes, %v; want 1", len(found), err)
			}
		}
	})
	b.Run("CurrentLease", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := s.CurrentLease(ctx, "ingest"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
