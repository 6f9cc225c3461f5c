package fact_test

import (
	"testing"

	"pregon/internal/document/fact"
	"pregon/internal/sim/paper/statement"
)

// BenchmarkFind finds the facts of a document of ten pages.
func BenchmarkFind(b *testing.B) {
	var d fact.Document
	size := 0
	for _, kind := range statement.Kinds() {
		s := statement.Make(kind, "letter", 7)
		d = inputOf(&s)
		break
	}
	for len(d.Pages) < 10 {
		page := ""
		for seed := uint64(1); len(page) < 3500; seed++ {
			s := statement.Make("none", "letter", seed+uint64(len(d.Pages))*10)
			page += s.Pages()[0] + "\n\n"
		}
		d.Pages = append(d.Pages, page)
	}
	for _, p := range d.Pages {
		size += len(p)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		fact.Find(d)
	}
}
