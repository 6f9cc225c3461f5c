package fact_test

import (
	"testing"

	"pregon/internal/document/fact"
	"pregon/internal/sim/paper/statement"
)

// BenchmarkFind finds the facts of documents of ten pages.
func BenchmarkFind(b *testing.B) {
	var documents []fact.Document
	size := 0
	for i, kind := range statement.Kinds() {
		d := inputOf(statement.Long(kind, 10, uint64(i+1)))
		for _, p := range d.Pages {
			size += len(p)
		}
		documents = append(documents, d)
	}
	b.SetBytes(int64(size / len(documents)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		fact.Find(documents[n%len(documents)])
		n++
	}
}
