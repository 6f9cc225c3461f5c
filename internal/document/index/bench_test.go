package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pregon/internal/store"
)

// sample returns the text of a document of about 1,000 words, about as frequent as
// those of a language.
func sample(n uint64) (hash string, pages []string) {
	random := rand.New(rand.NewPCG(1, n))
	ranks := rand.NewZipf(random, 1.1, 8, 200_000)
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprintf("%xn", ranks.Uint64()*7919)
	}
	sum := sha256.Sum256(fmt.Append(nil, n))
	return hex.EncodeToString(sum[:]), []string{strings.Join(words, " ")}
}

func BenchmarkBuild(b *testing.B) {
	hash, pages := sample(1)
	for b.Loop() {
		Build(hash, pages)
	}
}

func BenchmarkMerge(b *testing.B) {
	segments := make([]store.Segment, 256)
	for i := range segments {
		segments[i] = Build(sample(uint64(i)))
	}
	b.ResetTimer()
	for b.Loop() {
		var inputs []*input
		for _, s := range segments {
			in, err := inMemory(s)
			if err != nil {
				b.Fatal(err)
			}
			inputs = append(inputs, in)
		}
		if _, _, err := merge(context.Background(), inputs, &inMemoryOutput{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(segments)), "µs/document")
}
