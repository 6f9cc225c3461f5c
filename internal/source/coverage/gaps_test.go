package coverage_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
)

// A number names one report, so that a series cannot have two of it.
func TestInOrder(t *testing.T) {
	at := instant("2026-04-22T10:00:00Z")
	got := coverage.InOrder(maps.All(map[int64]time.Time{1000: at, 7: at.Add(time.Hour), 999: at.Add(-time.Hour)}))
	want := []coverage.Numbered{{Number: 7, At: at.Add(time.Hour)}, {Number: 999, At: at.Add(-time.Hour)}, {Number: 1000, At: at}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := coverage.InOrder(maps.All(map[int64]time.Time{})); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestGaps(t *testing.T) {
	l := one(t)
	// Covered are March but for the 20th, and the last second of 31 March in
	// Madrid, which is 21:59:59 of universal time.
	for _, days := range [][2]string{{"2026-03-01", "2026-03-19"}, {"2026-03-21", "2026-03-31"}, {"2025-11-01", "2026-02-10"}} {
		must(t, l.Cover(t.Context(), nil, disclosure.OIR, day(days[0]), day(days[1]), time.Now()))
	}
	for _, test := range []struct {
		name    string
		filings string // number@time, in order of number; noon unless told
		want    string // first-last before next
	}{
		{"nothing", "", ""},
		{"one", "100@2026-03-02", ""},
		{"none missing", "100@2026-03-02 101@2026-03-02 102@2026-03-04", ""},
		{"one missing on a day", "100@2026-03-02 102@2026-03-02", "101-101 before 102"},
		{"some missing over days", "100@2026-03-02 104@2026-03-05", "101-103 before 104"},
		{"several gaps", "100@2026-03-02 102@2026-03-02 103@2026-03-03 105@2026-03-04", "101-101 before 102, 104-104 before 105"},
		{"a day between is not covered", "100@2026-03-19 102@2026-03-21", ""},
		{"the day before is not covered", "100@2026-03-20 102@2026-03-21", ""},
		{"the day after is not covered", "100@2026-03-19 102@2026-03-20", ""},
		{"both on a day that is not covered", "100@2026-03-20 102@2026-03-20", ""},
		{"only one of two gaps can be told", "100@2026-03-18 102@2026-03-19 104@2026-03-21", "101-101 before 102"},
		{"registered late", "100@2026-03-05 102@2026-03-03 103@2026-03-05", "101-101 before 102"},
		{"registered late, over a day that is not covered", "100@2026-03-21 102@2026-03-19", ""},
		{"the last second that is covered", "100@2026-03-31 102@2026-03-31T21:59:59Z", "101-101 before 102"},
		{"the first that is not", "100@2026-03-31 102@2026-03-31T22:00:00Z", ""},
		{"31 days", "100@2025-12-01 102@2026-01-01", "101-101 before 102"},
		{"32 days", "100@2025-12-01 102@2026-01-02", ""},
		{"the longest", "100@2026-03-02 1101@2026-03-02", "101-1100 before 1101"},
		{"too long", "100@2026-03-02 1102@2026-03-02", ""},
		{"too long, and another", "100@2026-03-02 5000@2026-03-02 5002@2026-03-02", "5001-5001 before 5002"},
		{"a number told twice", "100@2026-03-02 100@2026-03-02 101@2026-03-02", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, g := range l.Gaps(disclosure.OIR, numbered(t, test.filings)) {
				got = append(got, fmt.Sprintf("%d-%d before %d", g.First, g.Last, g.Next.Number))
				if g.Next.At.IsZero() {
					t.Errorf("the gap before %d has no time", g.Next.Number)
				}
			}
			if all := strings.Join(got, ", "); all != test.want {
				t.Errorf("%q, want %q", all, test.want)
			}
			if of := l.Gaps(disclosure.IP, numbered(t, test.filings)); len(of) > 0 {
				t.Errorf("a series that was never compared has %v", of)
			}
		})
	}
}

// TestGapsOfHR: there is no list by date to compare with, so numbers are missed
// from the day on from which the series is read as it comes.
func TestGapsOfHR(t *testing.T) {
	l := one(t)
	filings := numbered(t, "100@2026-03-02 102@2026-03-04 104@2026-03-05 106@2026-06-30 108@2026-03-03")
	if got := l.Gaps(disclosure.HR, filings); len(got) > 0 {
		t.Errorf("before it is read as it comes: %v", got)
	}
	must(t, l.SetLive(t.Context(), nil, disclosure.HR, instant("2026-03-04T20:00:00Z")))
	var got []int64
	for _, g := range l.Gaps(disclosure.HR, filings) {
		got = append(got, g.First)
	}
	if want := []int64{103, 105}; !slices.Equal(got, want) {
		t.Errorf("%v are missing, want %v", got, want)
	}
}

func numbered(t *testing.T, filings string) (out []coverage.Numbered) {
	t.Helper()
	for word := range strings.FieldsSeq(filings) {
		digits, at, _ := strings.Cut(word, "@")
		number, ok := disclosure.ParseNumber(digits)
		if !ok {
			t.Fatal(word)
		}
		if !strings.Contains(at, "T") {
			at += "T12:00:00Z"
		}
		out = append(out, coverage.Numbered{Number: number, At: instant(at)})
	}
	return out
}
