package disclosure_test

import (
	"testing"
	"time"

	"pregon/internal/disclosure"
)

func TestDayIsMadridsDay(t *testing.T) {
	tests := []struct{ instant, day string }{
		{"2026-01-15T22:59:59Z", "2026-01-15"}, // winter: midnight is 23:00 UTC
		{"2026-01-15T23:00:00Z", "2026-01-16"},
		{"2026-07-15T21:59:59Z", "2026-07-15"}, // summer: midnight is 22:00 UTC
		{"2026-07-15T22:00:00Z", "2026-07-16"},
		{"2026-03-29T00:59:00Z", "2026-03-29"}, // the day of 23 hours
		{"2026-10-25T22:59:00Z", "2026-10-25"}, // the day of 25 hours
		{"1969-12-31T22:00:00Z", "1969-12-31"},
	}
	for _, tt := range tests {
		at, err := time.Parse(time.RFC3339, tt.instant)
		if err != nil {
			t.Fatal(err)
		}
		if got := disclosure.DayOf(at).String(); got != tt.day {
			t.Errorf("DayOf(%s) = %s, want %s", tt.instant, got, tt.day)
		}
	}
}

func TestDaysAreWhole(t *testing.T) {
	first, _ := disclosure.ParseDay("1987-01-01")
	last, _ := disclosure.ParseDay("2100-12-31")
	for d := first; d <= last; d++ {
		start := d.Start()
		if disclosure.DayOf(start) != d || disclosure.DayOf(start.Add(-time.Nanosecond)) != d-1 {
			t.Fatalf("%v starts at %v, which is not its first instant", d, start)
		}
		if again, ok := disclosure.ParseDay(d.String()); !ok || again != d {
			t.Fatalf("%v does not read back", d)
		}
		if d.Weekday() != start.Weekday() {
			t.Fatalf("%v is a %v, not a %v", d, start.Weekday(), d.Weekday())
		}
	}
}

func TestParseDay(t *testing.T) {
	for _, s := range []string{"", "2026-2-3", "2026-02-30", "03/02/2026", "2026-02-03T00:00:00Z", "1899-12-31", "０２"} {
		if d, ok := disclosure.ParseDay(s); ok {
			t.Errorf("ParseDay(%q) = %v, want an error", s, d)
		}
	}
	if d, ok := disclosure.ParseDay("1900-01-01"); !ok || d != 1 {
		t.Errorf("1 January 1900 is day %d, want 1", d)
	}
}
