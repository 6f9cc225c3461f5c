package coverage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
)

func TestNewJob(t *testing.T) {
	types := []disclosure.Type{disclosure.OIR, disclosure.IP, disclosure.OIR}
	j := coverage.NewJob(day("2026-01-01"), day("2026-03-31"), types)
	want := coverage.Job{
		ID: "2026-01-01_2026-03-31_ip_oir", From: "2026-01-01", To: "2026-03-31",
		Types: []disclosure.Type{disclosure.IP, disclosure.OIR}, AskedAt: j.AskedAt,
	}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Error(diff)
	}
	if from, to := j.Days(); from != day("2026-01-01") || to != day("2026-03-31") {
		t.Errorf("%v to %v", from, to)
	}
	if types[0] != disclosure.OIR || types[2] != disclosure.OIR {
		t.Errorf("NewJob changed the caller's list to %v", types)
	}
}

// TestRequest: a second request for an open job returns that job, also from another
// process. A request for a job that is done starts it again.
func TestRequest(t *testing.T) {
	a, b := two(t)
	request := func(l *coverage.Tracker) coverage.Job {
		t.Helper()
		j, err := l.Request(t.Context(), coverage.NewJob(day("2026-01-01"), day("2026-03-31"), disclosure.Types))
		must(t, err)
		return j
	}
	first := request(a)
	if known, ok := a.Job(first.ID); !ok || known.Done {
		t.Errorf("requested job = %+v, want an open one", known)
	}
	working := first
	working.Steps, working.Total, working.New, working.Cursor, working.Type = 2, 9, 40, "2026-02-01", disclosure.HR
	working.At = instant("2026-04-22T10:00:00.5Z")
	must(t, a.SetJob(t.Context(), nil, working))
	for _, l := range []*coverage.Tracker{a, b} {
		if diff := cmp.Diff(working, request(l)); diff != "" {
			t.Errorf("second request (-want +got): %s", diff)
		}
	}
	if !b.Filling() {
		t.Error("a back-fill that was requested is not noticed")
	}
	if b.Filled() {
		t.Error("a back-fill has ended although none is done")
	}
	if at := b.FilledAt(); !at.IsZero() {
		t.Errorf("a back-fill ended at %v although none is done", at)
	}
	working.Done = true
	must(t, b.SetJob(t.Context(), nil, working))
	if at := b.FilledAt(); !at.Equal(working.At) {
		t.Errorf("the last back-fill ended at %v, want %v", at, working.At)
	}
	if !b.Filled() {
		t.Error("no back-fill has ended although one is done")
	}
	again := request(a) // a has not read the change yet
	if again.Done || again.Steps != 0 || again.Cursor != "" || !again.AskedAt.After(first.AskedAt) || again.ID != first.ID {
		t.Errorf("request after the job was done = %+v, want a new job", again)
	}
	must(t, b.Refresh(t.Context()))
	if known, _ := b.Job(first.ID); !cmp.Equal(known, again) || len(b.Jobs()) != 1 {
		t.Errorf("jobs of the other process = %+v, want only the new job", b.Jobs())
	}
	if _, ok := a.Job("none"); ok {
		t.Error("found a job that was never requested")
	}
}

// TestJobsInOrder: the oldest job comes first; jobs of the same time are in order
// of id.
func TestJobsInOrder(t *testing.T) {
	l := one(t)
	at := instant("2026-04-22T10:00:00Z")
	for _, j := range []coverage.Job{
		{ID: "c", AskedAt: at},
		{ID: "a", AskedAt: at.Add(time.Second)},
		{ID: "d", AskedAt: at.Add(-time.Hour), Done: true},
		{ID: "b", AskedAt: at},
	} {
		must(t, l.SetJob(t.Context(), nil, j))
	}
	must(t, l.SetValue(t.Context(), nil, "e", "no job"))
	var got []string
	for _, j := range l.Jobs() {
		got = append(got, j.ID)
	}
	if order := strings.Join(got, " "); order != "d b c a" {
		t.Errorf("order of jobs = %s, want d b c a", order)
	}
}
