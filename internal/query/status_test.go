package query

import (
	"encoding/json"
	"testing"
	"time"
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
