package ratelimit_test

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/server/ratelimit"
	"pregon/internal/server/ratelimit/redistest"
)

func BenchmarkTake(b *testing.B) {
	for _, c := range []struct {
		name   string
		policy ratelimit.Policy
	}{
		{"in", ratelimit.Policy{Name: "test", Limit: 1_000_000, Window: time.Millisecond}},
		{"refused", ratelimit.Policy{Name: "test", Limit: 60, Window: time.Hour}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := ratelimit.NewWindow(c.policy)
			b.ReportAllocs()
			var who atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				s := number(int(who.Add(1)))
				for pb.Next() {
					w.Take(context.Background(), s)
				}
			})
		})
	}
}

// BenchmarkTakeMillion measures a table with a million subjects. It also reports the
// time to fill it, its slowest request, and the time of a garbage collection.
func BenchmarkTakeMillion(b *testing.B) {
	const million = 1_000_000
	w := ratelimit.NewWindow(ratelimit.Policy{Name: "test", Limit: 60, Window: time.Hour})
	before := heap()
	start := time.Now()
	var slowest time.Duration
	for n := range million {
		began := time.Now()
		w.Take(context.Background(), number(n))
		slowest = max(slowest, time.Since(began))
	}
	fill := time.Since(start)
	grown := heap() - before
	start = time.Now()
	runtime.GC()
	collect := time.Since(start)

	var who atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		n := uint64(who.Add(1))
		for pb.Next() {
			n = n*6364136223846793005 + 1442695040888963407
			w.Take(context.Background(), number(int(n>>33)%million))
		}
	})
	b.ReportMetric(float64(fill.Nanoseconds())/million, "ns/fill")
	b.ReportMetric(float64(slowest.Microseconds()), "slowest-µs")
	b.ReportMetric(float64(collect.Microseconds())/1000, "gc-ms")
	b.ReportMetric(float64(grown)/million, "B/subject")
}

func BenchmarkShared(b *testing.B) {
	r, err := ratelimit.OpenRedis(redistest.Start(b).URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	l := r.Shared(ratelimit.Policy{Name: "test", Limit: 1_000_000, Window: time.Hour})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for n := 0; pb.Next(); n++ {
			l.Take(context.Background(), number(n%1000))
		}
	})
	if !r.Up() {
		b.Error("Redis was lost")
	}
}
