package main_test

import (
	"testing"

	"pregon/internal/test/longtest"
)

// In the demo a browser goes the whole way from a star to a message, and ends it.
func TestDemoAlerts(t *testing.T) {
	longtest.Skip(t, "it needs Chromium")
	t.Parallel()
	s := startDemo(t, t.TempDir(), "--rate", "60/min", "--webpush-host", "push.example.com")
	runChecker(t, "alerts.mjs", s.url, s.door())
}
