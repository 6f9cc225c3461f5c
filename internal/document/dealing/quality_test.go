package dealing_test

import (
	"testing"

	"pregon/internal/document/dealing"
	"pregon/internal/sim/paper/notice"
	"pregon/internal/sim/paper/notice/noticetest"
	"pregon/internal/test/longtest"
)

// quality counts what is read of notices, and reports what is wrong.
type quality struct {
	notices, read, rows, found int
	reasons                    map[string]int
}

func (q *quality) measure(t *testing.T, truth notice.Notice, pages []string) {
	t.Helper()
	q.notices++
	q.rows += len(truth.Trades)
	got, err := dealing.Read(pages)
	if err != nil {
		q.reasons[err.Error()]++
		return
	}
	q.read++
	q.found += len(got.Trades)
	for _, wrong := range noticetest.Compare(truth, got) {
		t.Errorf("notice %s: %s", truth.Number, wrong)
	}
	for _, wrong := range noticetest.Quotes(pages, got) {
		t.Errorf("notice %s: %s", truth.Number, wrong)
	}
}

func (q *quality) log(t *testing.T) {
	t.Logf("read %d of %d notices, %d of %d rows (%.1f %%)", q.read, q.notices, q.found, q.rows,
		100*float64(q.found)/float64(q.rows))
	for reason, n := range q.reasons {
		t.Logf("%4d  %s", n, reason)
	}
}

// TestQuality reads generated notices through the extraction: nothing may be wrong.
func TestQuality(t *testing.T) {
	testQuality(t, 30)
}

func TestQualityOfMany(t *testing.T) {
	longtest.Skip(t, "it reads a thousand files")
	testQuality(t, 1000)
}

func testQuality(t *testing.T, notices int) {
	t.Helper()
	read := reader(t)
	q := quality{reasons: map[string]int{}}
	for seed := range uint64(notices) {
		truth := noticetest.Make(seed)
		q.measure(t, truth, read(notice.PDF(truth)))
	}
	q.log(t)
	if 100*q.found < 97*q.rows {
		t.Errorf("found %d of %d rows, want at least 97 %%", q.found, q.rows)
	}
}

// TestOtherLayouts reads notices in layouts that are not the regulator's. They are read
// right or refused.
func TestOtherLayouts(t *testing.T) {
	notices := 300
	if testing.Short() {
		notices = 20
	}
	read := reader(t)
	q := quality{reasons: map[string]int{}}
	for seed := range uint64(notices) {
		truth := noticetest.Make(seed + 5000)
		q.measure(t, truth, read(notice.Write(truth, noticetest.Style(seed))))
	}
	q.log(t)
	if q.read == 0 {
		t.Error("none of the notices is read")
	}
}
