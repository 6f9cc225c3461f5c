package simserver_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"pregon/internal/sim/archive"
	"pregon/internal/sim/paper"
	"pregon/internal/sim/simserver"
)

// BenchmarkDocuments generates the documents of some days in turn.
func BenchmarkDocuments(b *testing.B) {
	reports := testMarket().History(early.AddDate(0, 0, -14), early)
	for n := 0; b.Loop(); n++ {
		paper.Make(paper.Source{Report: &reports[n%len(reports)]}, 1)
	}
}

// BenchmarkPages requests the pages that ingest reads, of a market with a long
// history that published a report every five seconds for a day.
func BenchmarkPages(b *testing.B) {
	c := &clock{at: time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)}
	s, err := simserver.Open(simserver.Options{Market: testMarket(), Seed: 1, Now: c.now})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for range 17_280 {
		c.set(c.now().Add(5 * time.Second))
		if _, err := s.Publish(archive.Draft{}); err != nil {
			b.Fatal(err)
		}
	}
	for name, path := range map[string]string{
		"feed":      oirFeed,
		"history":   oirList + "?fechaDesde=01/10/2026&fechaHasta=31/10/2026&page=20",
		"yesterday": oirList + "?fechaDesde=09/11/2026&fechaHasta=10/11/2026",
		"years":     oirList + "?fechaDesde=01/03/2020&page=3000",
		"issuer":    oirList + "?nif=" + testMarket().Issuers()[0].NIF + "&page=3",
		"permalink": oirList + "?nreg=31000",
		"facts":     "/portal/menu/utimos-hechos-relevantes-iic",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest("GET", path, nil)
				r.Header.Set("Accept", "*/*")
				w := httptest.NewRecorder()
				if s.ServeHTTP(w, r); w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
