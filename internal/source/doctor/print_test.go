package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"pregon/internal/source/doctor"
)

// The checks of a family share a row while they are ok. Any other has its own, with the
// finding that decided.
func TestSummarize(t *testing.T) {
	odd := doctor.Check{Name: "registers/holdings", Verdict: doctor.OK, Found: "4 links"}
	odd.Odd(3, "an unknown\n cell")
	bad := doctor.Check{Name: "registers/shorts", Verdict: doctor.OK}
	bad.Odd(0, "slow")
	bad.Fail(0, "no answer")
	got := doctor.Summarize([]doctor.Check{
		{Name: "registers/managers", Verdict: doctor.OK, Found: "40 entities"},
		odd,
		bad,
		{Name: "registers/fi", Verdict: doctor.OK, Found: "10 entities"},
		{Name: "document", Verdict: doctor.Skipped, Found: "no report has one"},
		{Name: "disk", Verdict: doctor.OK, Found: strings.Repeat("x", 100)},
	})
	want := []doctor.Row{
		{"registers", doctor.OK, "2 checks"},
		{"registers/holdings", doctor.Warning, "line 3: an unknown cell"},
		{"registers/shorts", doctor.Failed, "no answer"},
		{"document", doctor.Skipped, "no report has one"},
		{"disk", doctor.OK, strings.Repeat("x", 72) + "…"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
