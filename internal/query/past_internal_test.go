package query

import (
	"testing"
	"time"

	"pregon/internal/disclosure"
)

// FuzzMoment: a text is a time that is not in the future, or is refused with a reason.
func FuzzMoment(f *testing.F) {
	for _, s := range []string{"2026-04-22", "2026-04-22T10:00:00Z", "2026-04-22T10:00:00 02:00", "2026-04-22T10:00:00.999999999-23:59", "9999-12-31", "k3v9x2m7-1", ""} {
		f.Add(s)
	}
	now := time.Date(2026, 4, 23, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		at, reason := parseMoment(s, now)
		if reason == "" && at.After(now) {
			t.Errorf("%q is %s, which is in the future", s, at)
		}
		if _, ok := disclosure.ParseCursor(s); ok && reason == "" {
			t.Errorf("%q is both a cursor and a time", s)
		}
	})
}
