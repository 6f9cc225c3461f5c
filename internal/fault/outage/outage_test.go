package outage_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault/outage"
)

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := outage.Log{Logger: slog.New(slog.NewTextHandler(&out, nil))}
		lines := func() int { return strings.Count(out.String(), "\n") }
		l.Recovered("well") // says nothing of what did not fail
		for range 2 * 180 {
			l.Failed("it fails", "err", "away")
			time.Sleep(500 * time.Millisecond)
		}
		if n := lines(); n != 3 {
			t.Errorf("an outage of three minutes has %d lines, want 3:\n%s", n, &out)
		}
		l.Recovered("well")
		l.Recovered("well")
		if n := lines(); n != 4 || !strings.Contains(out.String(), "msg=well failures=360 duration_seconds=180") {
			t.Errorf("with its end it has %d lines:\n%s", n, &out)
		}
		if !l.Failed("it fails") || lines() != 5 {
			t.Errorf("the next outage is not logged:\n%s", &out)
		}
	})
}
