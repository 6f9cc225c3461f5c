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

// TestInOrder: numbers are unique within a series, so there are no ties.
func TestInOrder(t *testing.T) {
	at := instant("2026-04-22T10:00:00Z")
	got := coverage.InOrder(maps.All(map[int64]time.Time{1000: at, 7: at.Add(time.Hour), 999: at.Add(-time.Hour)}))
	want := []coverage.Numbered{{Number: 7, At: at.Add(time.Hour)}, {Number: 999, At: at.Add(-time.Hour)}, {Number: 1000, At: at}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := coverage.InOrder(maps.All(map[int64]time.Time{})); len(got) != 0 {
		t.Errorf("InOrder of an empty map = %v, want none", got)
	}
}

func TestGaps(t *testing.T) {
	l := one(t)
	// March is covered except for the 20th. Its last second in Madrid is
	// 2026-03-31T21:59:59Z.
	for _, days := range [][2]string{{"2026-03-01", "2026-03-19"}, {"2026-03-21", "2026-03-31"}, {"2025-11-01", "2026-02-10"}} {
		must(t, l.Cover(t.Context(), nil, disclosure.OIR, day(days[0]), day(days[1]), time.Now()))
	}
	for _, test := range []struct {
		name    string
		reports string // number@time, in order of number; noon by default
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
		{"only one of two gaps is covered", "100@2026-03-18 102@2026-03-19 104@2026-03-21", "101-101 before 102"},
		{"registered late", "100@2026-03-05 102@2026-03-03 103@2026-03-05", "101-101 before 102"},
		{"registered late, over a day that is not covered", "100@2026-03-21 102@2026-03-19", ""},
		{"the last second that is covered", "100@2026-03-31 102@2026-03-31T21:59:59Z", "101-101 before 102"},
		{"the first that is not", "100@2026-03-31 102@2026-03-31T22:00:00Z", ""},
		{"31 days", "100@2025-12-01 102@2026-01-01", "101-101 before 102"},
		{"32 days", "100@2025-12-01 102@2026-01-02", ""},
		{"the longest", "100@2026-03-02 1101@2026-03-02", "101-1100 before 1101"},
		{"too long", "100@2026-03-02 1102@2026-03-02", ""},
		{"too long, and another", "100@2026-03-02 5000@2026-03-02 5002@2026-03-02", "5001-5001 before 5002"},
		{"a repeated number", "100@2026-03-02 100@2026-03-02 101@2026-03-02", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, g := range l.Gaps(disclosure.OIR, numbered(t, test.reports)) {
				got = append(got, fmt.Sprintf("%d-%d before %d", g.First, g.Last, g.Next.Number))
				if g.Next.At.IsZero() {
					t.Errorf("the gap before %d has no time", g.Next.Number)
				}
			}
			if all := strings.Join(got, ", "); all != test.want {
				t.Errorf("gaps = %q, want %q", all, test.want)
			}
			if of := l.Gaps(disclosure.IP, numbered(t, test.reports)); len(of) > 0 {
				t.Errorf("gaps of a series that was never compared = %v, want none", of)
			}
		})
	}
}

// TestGapsOfHR: there is no list by date to compare with, so gaps are returned only
// before and after a report of the day on which the series began to be read live, or
// of a later day.
func TestGapsOfHR(t *testing.T) {
	l := one(t)
	reports := numbered(t, "100@2026-03-02 102@2026-03-04 104@2026-03-05 106@2026-06-30 108@2026-03-03")
	if got := l.Gaps(disclosure.HR, reports); len(got) > 0 {
		t.Errorf("gaps before the series is read live = %v, want none", got)
	}
	must(t, l.SetLive(t.Context(), nil, disclosure.HR, instant("2026-03-04T20:00:00Z")))
	var got []int64
	for _, g := range l.Gaps(disclosure.HR, reports) {
		got = append(got, g.First)
	}
	if want := []int64{101, 103, 105, 107}; !slices.Equal(got, want) {
		t.Errorf("gaps = %v, want %v", got, want)
	}
}

func numbered(t *testing.T, reports string) (out []coverage.Numbered) {
	t.Helper()
	for word := range strings.FieldsSeq(reports) {
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
