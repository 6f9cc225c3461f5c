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
		t.Errorf("the caller's list became %v", types)
	}
}

// Asked for twice it is one job while it is open, whoever asks; once it is
// done it begins anew.
func TestAsk(t *testing.T) {
	a, b := two(t)
	ask := func(l *coverage.Tracker) coverage.Job {
		t.Helper()
		j, err := l.Request(t.Context(), coverage.NewJob(day("2026-01-01"), day("2026-03-31"), disclosure.Types))
		must(t, err)
		return j
	}
	first := ask(a)
	if known, ok := a.Job(first.ID); !ok || known.Done {
		t.Errorf("asked for and not there: %+v", known)
	}
	working := first
	working.Steps, working.Total, working.New, working.Cursor, working.Type = 2, 9, 40, "2026-02-01", disclosure.HR
	working.At = instant("2026-04-22T10:00:00.5Z")
	must(t, a.SetJob(t.Context(), nil, working))
	for _, l := range []*coverage.Tracker{a, b} {
		if diff := cmp.Diff(working, ask(l)); diff != "" {
			t.Errorf("asked for again: %s", diff)
		}
	}
	working.Done = true
	must(t, b.SetJob(t.Context(), nil, working))
	again := ask(a) // which has not heard of it yet
	if again.Done || again.Steps != 0 || again.Cursor != "" || !again.AskedAt.After(first.AskedAt) || again.ID != first.ID {
		t.Errorf("after it was done: %+v", again)
	}
	must(t, b.Refresh(t.Context()))
	if known, _ := b.Job(first.ID); !cmp.Equal(known, again) || len(b.Jobs()) != 1 {
		t.Errorf("the other knows %+v", b.Jobs())
	}
	if _, ok := a.Job("none"); ok {
		t.Error("there is a job that nobody asked for")
	}
}

// The oldest first, and of one moment by name.
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
		t.Errorf("%s, want d b c a", order)
	}
}
