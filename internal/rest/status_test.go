package rest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

// statusDoc is the status document as a client decodes it.
type statusDoc struct {
	Version string
	Source  *string
	State   string
	Since   *time.Time
	Checked *time.Time `json:"checked_at"`
	Reasons []struct {
		Surface, Reason string
		Since           time.Time
	}
	Surfaces []struct {
		Name     string
		OK       bool
		Success  *time.Time `json:"last_success_at"`
		Failure  *time.Time `json:"last_failure_at"`
		Failures int        `json:"failures_in_a_row"`
		Error    *string
	}
	Seq     int64
	Catalog struct {
		Reports, Issuers int
		Behind           float64 `json:"behind_seconds"`
	}
	Latest []struct {
		Type, ID    string
		PublishedAt time.Time `json:"published_at"`
		AvailableAt time.Time `json:"available_at"`
	}
	Latency []struct {
		Types                 []string
		Hours                 int `json:"window_hours"`
		Count                 int
		RegisteredToSeen      *percentilesDoc `json:"registered_to_seen"`
		SeenToAvailable       *percentilesDoc `json:"seen_to_available"`
		SeenToEnriched        *percentilesDoc `json:"seen_to_enriched"`
		RegisteredToAvailable *percentilesDoc `json:"registered_to_available"`
	}
	Backfill []struct {
		ID, From, To string
		Types        []string
		Steps, Total int
		New          int
		Trouble      *string
	}
}

type percentilesDoc struct{ P50, P90, P99, Max float64 }

func (s *service) status() (doc statusDoc) {
	s.t.Helper()
	s.get(http.StatusOK, "/api/v1/status").decode(&doc)
	return doc
}

// must ends the test if its preparation fails.
func (s *service) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// startReader serves an empty store as a process that reads the source, or
// does not.
func startReader(t *testing.T, reads bool) *service {
	t.Helper()
	s := serve(t, query.Options{ReadsSource: reads, Source: func() string { return "" }})
	s.append(store.Batch{})
	return s
}

// Every process returns the status that the ingesting process reported, as long
// as it is recent.
func TestStatusAsReported(t *testing.T) {
	for _, reads := range []bool{true, false} {
		for _, state := range health.States {
			s := startReader(t, reads)
			now := time.Now()
			failing := now.Add(-time.Minute).UTC()
			s.must(s.coverage.SetStatus(t.Context(), nil, health.Status{
				State: state, Since: now.Add(-time.Hour), At: now,
				Reasons: []health.Reason{{Surface: "feed-oir", Code: health.Failed, Params: health.Params{Detail: "status 503"}, Since: failing}},
				Surfaces: []health.Surface{
					{Name: "feed-oir", FailureAt: now, FailingSince: failing, Failures: 7, Error: "status 503"},
					{Name: "list-oir", OK: true, SuccessAt: now},
				},
			}))
			got := s.status()
			if got.State != string(state) || !got.Since.Equal(now.Add(-time.Hour)) || !got.Checked.Equal(now) {
				t.Errorf("reported %s, got %s since %v, checked at %v", state, got.State, got.Since, got.Checked)
			}
			if len(got.Reasons) != 1 || got.Reasons[0].Reason != "status 503" || !got.Reasons[0].Since.Equal(failing) {
				t.Errorf("the reasons are %+v", got.Reasons)
			}
			if len(got.Surfaces) != 2 {
				t.Fatalf("the surfaces are %+v", got.Surfaces)
			}
			bad, good := got.Surfaces[0], got.Surfaces[1]
			if bad.Name != "feed-oir" || bad.OK || bad.Success != nil || !bad.Failure.Equal(now) || bad.Failures != 7 || *bad.Error != "status 503" {
				t.Errorf("a failing surface: %+v", bad)
			}
			if good.Name != "list-oir" || !good.OK || !good.Success.Equal(now) || good.Failure != nil || good.Failures != 0 || good.Error != nil {
				t.Errorf("a healthy surface: %+v", good)
			}
		}
	}
}

// The status of another process that reads the source is read from the store.
func TestStatusOfAnotherProcess(t *testing.T) {
	s := startReader(t, false)
	s.must(coverage.New(s.store).SetStatus(t.Context(), nil, health.Status{State: health.Quiet, Since: time.Now(), At: time.Now()}))
	s.must(s.coverage.Refresh(t.Context()))
	if got := s.status(); got.State != "quiet" || len(got.Reasons) != 0 || len(got.Surfaces) != 0 {
		t.Errorf("%+v", got)
	}
}

// A status that is not refreshed expires: its process is gone.
func TestStatusExpires(t *testing.T) {
	stale := time.Now().Add(-21 * time.Second)
	for _, test := range []struct {
		name   string
		reads  bool
		last   time.Time // last report; zero: never
		state  string
		reason string
	}{
		{"none yet", true, time.Time{}, "starting", "no process has read the source yet"}, // the test has just begun
		{"none any more", true, stale, "starting", "no process has read the source since"},
		{"none wanted", false, time.Time{}, "off", ""},
		{"none wanted any more", false, stale, "off", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			began := time.Now()
			s := startReader(t, test.reads)
			if !test.last.IsZero() {
				s.must(s.coverage.SetStatus(t.Context(), nil, health.Status{
					State: health.Live, Since: stale.Add(-time.Hour), At: stale,
					Surfaces: []health.Surface{{Name: "feed-ip", OK: true, SuccessAt: stale}},
				}))
			}
			got := s.status()
			if got.State != test.state {
				t.Errorf("the state is %s, want %s", got.State, test.state)
			}
			switch {
			case !test.last.IsZero():
				if !got.Checked.Equal(stale) || len(got.Surfaces) != 1 {
					t.Errorf("checked at %v, with %d surfaces, want the last report at %v", got.Checked, len(got.Surfaces), stale)
				}
			case got.Checked != nil || len(got.Surfaces) != 0:
				t.Errorf("no status was reported, but got checked at %v: %+v", got.Checked, got.Surfaces)
			case test.reads:
				if got.Since.Before(began) || got.Since.After(time.Now()) {
					t.Errorf("since %v, want since the start", got.Since)
				}
			case got.Since != nil:
				t.Errorf("since %v, want null", got.Since)
			}
			if test.reason == "" && len(got.Reasons) > 0 {
				t.Errorf("the reasons are %+v, want none", got.Reasons)
			}
			since := test.last
			if since.IsZero() && got.Since != nil {
				since = *got.Since
			}
			if test.reason != "" && (len(got.Reasons) != 1 || got.Reasons[0].Surface != "service" ||
				got.Reasons[0].Reason != test.reason || !got.Reasons[0].Since.Equal(since)) {
				t.Errorf("the reasons are %+v, want %q since %v", got.Reasons, test.reason, since)
			}
		})
	}
}

// The API returns the status of a real monitor. Errors of the store, which may
// name machines and accounts, are not public.
func TestStatusOfMonitor(t *testing.T) {
	s := startReader(t, true)
	monitor := health.NewMonitor(time.Minute)
	for _, name := range health.Surfaces {
		monitor.OK(name)
	}
	monitor.Published(time.Now())
	report := func() statusDoc {
		status, _ := monitor.Status()
		s.must(s.coverage.SetStatus(t.Context(), nil, status))
		return s.status()
	}
	if got := report(); got.State != "live" || len(got.Reasons) != 0 || len(got.Surfaces) != len(health.Surfaces) {
		t.Errorf("%+v", got)
	}
	for range 2 {
		monitor.Fail(health.Store, "it does not answer", false)
	}
	got := report()
	if got.State != "degraded" || len(got.Reasons) != 1 || got.Reasons[0].Surface != "store" || got.Reasons[0].Reason != "it does not answer" {
		t.Errorf("%s, %+v", got.State, got.Reasons)
	}
}

// An empty market has a status too, without null lists. Before the catalogue is
// loaded there is no status.
func TestStatusOfEmptyMarket(t *testing.T) {
	s := serve(t, query.Options{Source: func() string { return "" }})
	s.get(http.StatusServiceUnavailable, "/api/v1/status")
	s.get(http.StatusServiceUnavailable, "/api/v1/completeness")
	s.append(store.Batch{})
	got := s.status()
	if got.Version != "v0.0.0-test" || got.Source != nil || got.Seq != 0 || got.Catalog.Reports != 0 || got.Catalog.Issuers != 0 || len(got.Latest) != 0 || len(got.Backfill) != 0 {
		t.Errorf("%+v", got)
	}
	if len(got.Latency) != 2 {
		t.Fatalf("%d groups of latency", len(got.Latency))
	}
	for n, want := range []string{"[IP OIR]", "[HR]"} {
		l := got.Latency[n]
		if fmt.Sprint(l.Types) != want || l.Hours != 24 || l.Count != 0 ||
			l.RegisteredToSeen != nil || l.SeenToAvailable != nil || l.SeenToEnriched != nil || l.RegisteredToAvailable != nil {
			t.Errorf("%+v, want nothing for %s", l, want)
		}
	}
}

func TestStatusCounts(t *testing.T) {
	b := market()
	s := start(t, "demo", b)
	got := s.status()
	if *got.Source != "demo" || got.Seq != int64(len(b.Issuers)+len(b.Reports)) || got.Catalog.Reports != len(b.Reports) || got.Catalog.Issuers != len(b.Issuers) {
		t.Errorf("%+v", got)
	}
	if got.Catalog.Behind < 0 || got.Catalog.Behind > 60 {
		t.Errorf("%v seconds behind", got.Catalog.Behind)
	}
	var latest []string
	for _, l := range got.Latest {
		if _, offset := l.PublishedAt.Zone(); offset == 0 || time.Since(l.AvailableAt) > time.Minute {
			t.Errorf("%s was published at %v and available at %v", l.ID, l.PublishedAt, l.AvailableAt)
		}
		latest = append(latest, l.Type+" "+l.ID+" "+l.PublishedAt.UTC().Format(time.RFC3339Nano))
	}
	want := []string{"IP ip-3123 2026-04-21T05:30:00Z", "HR hr-256057 2026-03-02T11:00:00Z", "OIR oir-40375 2026-04-22T22:30:00.5Z"}
	if diff := cmp.Diff(want, latest); diff != "" {
		t.Error(diff)
	}
	// A series without a report is left out.
	s = start(t, "demo", store.Batch{Reports: []disclosure.Report{newReport(disclosure.HR, 1, "2026-04-22T08:00:00Z"), newReport(disclosure.HR, 2, "2026-04-22T07:00:00Z")}})
	if got := s.status().Latest; len(got) != 1 || got[0].ID != "hr-1" {
		t.Errorf("the newest are %+v, want hr-1", got)
	}
}

func TestStatusLatency(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	seen := func(series disclosure.Type, number int64, age, took, enriched time.Duration) disclosure.Report {
		r := newReport(series, number, "2026-04-22T08:00:00Z")
		r.PublishedAt = now.Add(-age)
		r.FirstSeenAt = r.PublishedAt.Add(took)
		if enriched > 0 {
			r.EnrichedAt = r.FirstSeenAt.Add(enriched)
		}
		return r
	}
	s := start(t, "demo", store.Batch{Reports: []disclosure.Report{
		seen(disclosure.IP, 1, time.Hour, 1250*time.Millisecond, 0),
		seen(disclosure.OIR, 1, 2*time.Hour, 2*time.Second, 15500*time.Millisecond),
		seen(disclosure.OIR, 2, 25*time.Hour, 900*time.Second, 0), // of another day
		seen(disclosure.HR, 1, 3*time.Hour, 200*time.Second, 0),
	}})
	s.append(store.Batch{New: disclosure.Backfilled, Reports: []disclosure.Report{seen(disclosure.OIR, 3, time.Hour, 800*time.Second, 0)}})
	got := s.status().Latency
	live, hr := got[0], got[1]
	if live.Count != 2 || hr.Count != 1 {
		t.Errorf("%d and %d were measured, want 2 and 1", live.Count, hr.Count)
	}
	for _, test := range []struct {
		name string
		got  *percentilesDoc
		want *percentilesDoc
	}{
		{"registered to seen", live.RegisteredToSeen, &percentilesDoc{1.25, 2, 2, 2}},
		{"seen to enriched", live.SeenToEnriched, &percentilesDoc{15.5, 15.5, 15.5, 15.5}},
		{"registered to seen, HR", hr.RegisteredToSeen, &percentilesDoc{200, 200, 200, 200}},
		{"seen to enriched, HR", hr.SeenToEnriched, nil},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	// This test stored them hours after they were first seen.
	if p := live.SeenToAvailable; p.P50 < 3590 || p.Max < 7190 || p.Max > 7800 {
		t.Errorf("seen to available: %+v", p)
	}
	if p := live.RegisteredToAvailable; p.P50 < 3599 || p.Max < 7199 || p.Max > 7800 {
		t.Errorf("registered to available: %+v", p)
	}
}

// Only unfinished jobs are listed, the oldest request first.
func TestStatusBackfill(t *testing.T) {
	s := startReader(t, true)
	first := coverage.NewJob(day("2026-01-01"), day("2026-03-31"), []disclosure.Type{disclosure.OIR, disclosure.IP})
	second := coverage.NewJob(day("2019-01-01"), day("2019-12-31"), []disclosure.Type{disclosure.HR})
	done := coverage.NewJob(day("2018-01-01"), day("2018-12-31"), []disclosure.Type{disclosure.HR})
	first.AskedAt = second.AskedAt.Add(-time.Minute)
	first.Steps, first.Total, first.New, first.Trouble = 3, 12, 450, "status 503"
	done.Done = true
	for _, j := range []coverage.Job{second, first, done} {
		s.must(s.coverage.SetJob(t.Context(), nil, j))
	}
	got := s.status().Backfill
	if len(got) != 2 || got[0].ID != first.ID || got[1].ID != second.ID {
		t.Fatalf("%+v, want %s and %s", got, first.ID, second.ID)
	}
	if j := got[0]; j.From != "2026-01-01" || j.To != "2026-03-31" || fmt.Sprint(j.Types) != "[IP OIR]" || j.Steps != 3 || j.Total != 12 || j.New != 450 || *j.Trouble != "status 503" {
		t.Errorf("%+v", j)
	}
	if j := got[1]; j.Steps != 0 || j.Total != 0 || j.Trouble != nil {
		t.Errorf("%+v", j)
	}
}
