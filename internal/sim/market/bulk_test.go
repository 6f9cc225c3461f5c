package market_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

func TestBulk(t *testing.T) {
	m := market.New(1)
	for _, n := range []int{0, 1, 37, 5000} {
		ids, words := map[string]bool{}, map[string]int{}
		var last time.Time
		for r := range m.Bulk(n, today) {
			if err := r.Validate(); err != nil {
				t.Fatal(err)
			}
			if ids[r.ID] {
				t.Fatalf("%s comes twice", r.ID)
			}
			ids[r.ID] = true
			if r.PublishedAt.Before(last) || !r.PublishedAt.Before(today) {
				t.Fatalf("%s: %v after %v", r.ID, r.PublishedAt, last)
			}
			last = r.PublishedAt
			if !strings.HasPrefix(r.Title, market.Mark) || !fictional(r.SourceURL) || r.PDFURL != "" && !fictional(r.PDFURL) {
				t.Errorf("%s is not marked as simulated: %+v", r.ID, r)
			}
			for word := range strings.FieldsSeq(r.Title) {
				words[strings.Trim(word, ".,:")]++
			}
		}
		if len(ids) != n {
			t.Errorf("reports: want %d, got %d", n, len(ids))
		}
		if n == 5000 && len(words) < 5000 {
			t.Errorf("a vocabulary of %d words", len(words))
		}
	}
}

func TestBulkIsDeterministicAndStops(t *testing.T) {
	first := func(n int) (out []disclosure.Report) {
		for r := range market.New(1).Bulk(3000, today) {
			if out = append(out, r); len(out) == n {
				break
			}
		}
		return out
	}
	a, b := first(500), first(500)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Fatal(diff)
	}
}

func TestLargeBulkStaysInRange(t *testing.T) {
	for r := range market.New(1).Bulk(20_000_000, today) {
		if err := r.Validate(); err != nil || r.PublishedAt.Year() < 2005 {
			t.Errorf("the first of 20 million: %v, %v", r.PublishedAt, err)
		}
		break
	}
}

func BenchmarkBulk100k(b *testing.B) {
	m := market.New(1)
	for b.Loop() {
		for range m.Bulk(100_000, today) {
		}
	}
	b.ReportMetric(100_000*float64(b.N)/b.Elapsed().Seconds(), "reports/s")
}

// BenchmarkNow generates the last hour, as a running simulator does.
func BenchmarkNow(b *testing.B) {
	m := market.New(1)
	for b.Loop() {
		m.History(today.Add(-time.Hour), today)
	}
}
