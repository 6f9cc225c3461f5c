package history_test

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pregon/internal/catalog/history"
	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// BenchmarkState builds states of different points, since each of which up to 19,000 of
// 100,000 reports have changed.
func BenchmarkState(b *testing.B) {
	db := open(b, "sqlite:"+filepath.Join(b.TempDir(), "pregon.db"))
	const all, changed = 100_000, 19_000
	var last int64
	for from := 0; from < all; from += 5000 {
		var reports []disclosure.Report
		for n := from; n < from+5000; n++ {
			reports = append(reports, benchReport(n, "Convocatoria"))
		}
		last = mustAppend(b, db, store.Batch{Reports: reports, New: disclosure.Published})
	}
	for from := 0; from < changed; from += 1000 {
		var reports []disclosure.Report
		for n := from; n < from+1000; n++ {
			reports = append(reports, benchReport(n*5, "Rectificación de la convocatoria"))
		}
		mustAppend(b, db, store.Batch{Reports: reports})
	}
	s := load(b, db).Snapshot()
	list := func(b *testing.B, archive *history.Archive, seq int64) {
		state, err := archive.State(b.Context(), s, seq)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := state.Reports(b.Context(), disclosure.Filter{}, 1, 20); err != nil {
			b.Fatal(err)
		}
	}
	outlined := func(b *testing.B) *history.Archive {
		archive := history.New(db)
		if _, err := archive.At(b.Context(), s, time.Now()); err != nil {
			b.Fatal(err)
		}
		return archive
	}
	processor := func(b *testing.B, run func()) { // the machine may be busy with something else
		start := processorTime()
		run()
		b.ReportMetric(float64((processorTime()-start).Milliseconds())/float64(b.N), "cpu-ms/op")
	}
	b.Run("alone", func(b *testing.B) { // no other state is kept
		archives := make([]*history.Archive, b.N)
		for n := range archives {
			archives[n] = outlined(b)
		}
		b.ResetTimer()
		processor(b, func() {
			for n, archive := range archives {
				list(b, archive, last-int64(n))
			}
		})
	})
	b.Run("near", func(b *testing.B) { // the state of the next point is kept
		archive := outlined(b)
		list(b, archive, last)
		b.ResetTimer()
		processor(b, func() {
			for n := range int64(b.N) {
				list(b, archive, last-1-n)
			}
		})
	})
	b.Run("far", func(b *testing.B) { // states of points between which hundreds of reports changed are kept
		archive := outlined(b)
		list(b, archive, last)
		b.ResetTimer()
		processor(b, func() {
			for n := range int64(b.N) {
				list(b, archive, last+(n+1)*7919%changed)
			}
		})
	})
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchReport(n int, title string) disclosure.Report {
	return disclosure.Report{
		Type: disclosure.OIR, Number: int64(n + 1), CompanyName: fmt.Sprintf("COMPAÑÍA %d, S.A.", n%3000), Ticker: fmt.Sprintf("C%d", n%3000),
		Title:       fmt.Sprintf("%s de la junta general ordinaria de accionistas número %d y propuestas de acuerdos sobre el dividendo", title, n),
		Category:    "Sobre juntas generales",
		PublishedAt: time.Date(2020, 4, 1, 0, n, 0, 0, time.UTC),
		Summary:     "La compañía convoca la junta general de accionistas para el mes de mayo y propone un dividendo de 0,25 euros por acción con cargo al ejercicio anterior.",
		PDFURL:      fmt.Sprintf("https://www.cnmv.es/webservices/verdocumento/ver?t=%%7b%08x-%d%%7d", n, n),
	}
}
