package catalog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

const measuredAt = "2026-04-22T08:00:00Z"

// stages makes a report that took so long from stage to stage; -1 is a stage
// that it has not reached.
func stages(t disclosure.Type, number int64, seen, available, enriched time.Duration) disclosure.Report {
	r := newReport(t, number, measuredAt, bodegas)
	r.FirstSeenAt = r.PublishedAt.Add(seen)
	r.AvailableAt = r.FirstSeenAt.Add(available)
	if enriched != -1 {
		r.EnrichedAt = r.FirstSeenAt.Add(enriched)
	}
	return r
}

func measured(t *testing.T, series []disclosure.Type, reports ...disclosure.Report) catalog.Latency {
	t.Helper()
	log := newMemoryLog()
	for _, r := range reports {
		log.append(published(r))
	}
	since, err := time.Parse(time.RFC3339, measuredAt)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, log).Snapshot().Latency(since, series...)
}

// all is a value that all percentiles have.
func all(d time.Duration) *catalog.Percentiles {
	return &catalog.Percentiles{P50: d, P90: d, P99: d, Max: d}
}

func TestLatency(t *testing.T) {
	const none = -1
	both := []disclosure.Type{disclosure.IP, disclosure.OIR}
	history := stages(disclosure.IP, 9, time.Hour, time.Hour, time.Hour)
	history.Backfilled = true
	old := stages(disclosure.IP, 8, time.Hour, time.Hour, time.Hour)
	old.PublishedAt = old.PublishedAt.Add(-time.Microsecond)
	one := stages(disclosure.IP, 1, 2*time.Second, 3*time.Millisecond, 20*time.Second)
	for _, test := range []struct {
		name    string
		series  []disclosure.Type
		reports []disclosure.Report
		want    catalog.Latency
	}{
		{"nothing", both, nil, catalog.Latency{}},
		{"one", both, []disclosure.Report{one}, catalog.Latency{
			Count: 1, RegisteredToSeen: all(2 * time.Second), SeenToAvailable: all(3 * time.Millisecond),
			SeenToEnriched: all(20 * time.Second), RegisteredToAvailable: all(2003 * time.Millisecond),
		}},
		{"not enriched yet", both, []disclosure.Report{stages(disclosure.OIR, 1, time.Second, 0, none)}, catalog.Latency{
			Count: 1, RegisteredToSeen: all(time.Second), SeenToAvailable: all(0), RegisteredToAvailable: all(time.Second),
		}},
		{"one of two enriched", both, []disclosure.Report{stages(disclosure.OIR, 1, time.Second, 0, none), stages(disclosure.IP, 1, time.Second, 0, 4*time.Second)}, catalog.Latency{
			Count: 2, RegisteredToSeen: all(time.Second), SeenToAvailable: all(0), SeenToEnriched: all(4 * time.Second), RegisteredToAvailable: all(time.Second),
		}},
		{"history and older reports do not count", both, []disclosure.Report{history, old}, catalog.Latency{}},
		{"history and another report", both, []disclosure.Report{history, old, one}, catalog.Latency{
			Count: 1, RegisteredToSeen: all(2 * time.Second), SeenToAvailable: all(3 * time.Millisecond),
			SeenToEnriched: all(20 * time.Second), RegisteredToAvailable: all(2003 * time.Millisecond),
		}},
		{"another series", both, []disclosure.Report{stages(disclosure.HR, 1, time.Minute, 0, none)}, catalog.Latency{}},
		{"only that series", []disclosure.Type{disclosure.HR}, []disclosure.Report{one, stages(disclosure.HR, 1, time.Minute, 0, none)}, catalog.Latency{
			Count: 1, RegisteredToSeen: all(time.Minute), SeenToAvailable: all(0), RegisteredToAvailable: all(time.Minute),
		}},
		{"no series", nil, []disclosure.Report{one}, catalog.Latency{}},
		{"clocks that disagree", both, []disclosure.Report{stages(disclosure.IP, 1, -3*time.Second, -time.Second, -2*time.Second)}, catalog.Latency{
			Count: 1, RegisteredToSeen: all(0), SeenToAvailable: all(0), SeenToEnriched: all(0), RegisteredToAvailable: all(0),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, measured(t, test.series, test.reports...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A percentile is the least value that so many in a hundred do not exceed.
func TestPercentiles(t *testing.T) {
	for _, test := range []struct {
		count              int
		p50, p90, p99, max time.Duration
	}{
		{1, 1, 1, 1, 1},
		{2, 1, 2, 2, 2},
		{3, 2, 3, 3, 3},
		{10, 5, 9, 10, 10},
		{11, 6, 10, 11, 11},
		{100, 50, 90, 99, 100},
		{101, 51, 91, 100, 101},
		{200, 100, 180, 198, 200},
	} {
		var reports []disclosure.Report
		for n := test.count; n > 0; n-- { // the slowest first
			reports = append(reports, stages(disclosure.IP, int64(n), time.Duration(n)*time.Second, 0, -1))
		}
		want := &catalog.Percentiles{P50: test.p50 * time.Second, P90: test.p90 * time.Second, P99: test.p99 * time.Second, Max: test.max * time.Second}
		got := measured(t, []disclosure.Type{disclosure.IP}, reports...)
		if diff := cmp.Diff(want, got.RegisteredToSeen); diff != "" || got.Count != test.count {
			t.Errorf("of 1 to %d seconds: %s", test.count, diff)
		}
	}
	// A clamped duration still counts.
	got := measured(t, []disclosure.Type{disclosure.IP}, stages(disclosure.IP, 1, -time.Minute, 0, -1), stages(disclosure.IP, 2, -time.Second, 0, -1), stages(disclosure.IP, 3, time.Second, 0, -1))
	if diff := cmp.Diff(&catalog.Percentiles{P90: time.Second, P99: time.Second, Max: time.Second}, got.RegisteredToSeen); diff != "" {
		t.Error(diff)
	}
}
