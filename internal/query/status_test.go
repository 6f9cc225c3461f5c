package query

import (
	"encoding/json"
	"testing"
	"time"

	"pregon/internal/source/health"
)

// Seconds have at most three decimals.
func TestSecondsArePrintedShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1878 * time.Millisecond: "1.878", 1878499 * time.Microsecond: "1.878", 0: "0", time.Hour + time.Millisecond: "3600.001", 12349999 * time.Nanosecond: "0.012",
	} {
		if got, err := json.Marshal(seconds(d)); err != nil || string(got) != want {
			t.Errorf("%v got %s, %v; want %s", d, got, err, want)
		}
	}
	for ms := range 20_000 {
		if got, _ := json.Marshal(seconds(time.Duration(ms) * time.Millisecond)); len(got) > len("19.999") {
			t.Fatalf("%d ms: got %s, want at most 6 characters", ms, got)
		}
	}
}

// TestSurfaceState: a part of the source is not fine before it was read.
func TestSurfaceState(t *testing.T) {
	for _, test := range []struct {
		surface health.Surface
		want    string
	}{
		{health.Surface{Name: "feed-ip", OK: true, SuccessAt: time.Now()}, "ok"},
		{health.Surface{Name: "feed-ip"}, "unread"},
		{health.Surface{Name: "feed-ip", Failures: 1, FailureAt: time.Now()}, "failing"},
		{health.Surface{Name: "feed-ip", Stale: true}, "stale"},
	} {
		if got := SurfaceState(test.surface); got != test.want {
			t.Errorf("%+v is %s, want %s", test.surface, got, test.want)
		}
	}
}
