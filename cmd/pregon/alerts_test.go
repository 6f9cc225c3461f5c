package main

import (
	"context"
	"errors"
	"maps"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/server/telemetry/alerttest"
	"pregon/internal/service"
	"pregon/internal/source/health"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/test/longtest"
)

// TestAlerts causes each fault that needs an operator, and evaluates the
// alert rules on the metrics of the service.
func TestAlerts(t *testing.T) {
	longtest.Skip(t, "it needs promtool")
	alerts := alerttest.Read(t, "../../deploy/prometheus/pregon.rules.yml")
	tried := map[string]bool{"PregonDocumentsWaiting": true} // by TestDocumentsWaiting
	for _, test := range []struct {
		fault string
		make  func(t *testing.T, a *alerted)
		fires []string
	}{
		{"none", func(*testing.T, *alerted) {}, nil},
		{"no process reads", func(_ *testing.T, a *alerted) { a.others = "" }, []string{"PregonNoReader"}},
		{"two processes read", func(_ *testing.T, a *alerted) { a.others += a.others }, []string{"PregonTwoReaders"}},
		{"blind from the start", func(t *testing.T, a *alerted) { a.setStatus(t, health.NewMonitor(0)) }, []string{"PregonSourceBlind", "PregonFeedUnread"}},
		{"no status was ever written", func(_ *testing.T, a *alerted) { a.noStatus = true }, []string{"PregonSourceBlind", "PregonFeedUnread"}},
		{"the lists fail", func(t *testing.T, a *alerted) {
			b := healthy()
			b.Fail("list-oir", "it answers 500", true)
			a.setStatus(t, b)
		}, []string{"PregonSourceDegraded"}},
		{"a feed is frozen", func(t *testing.T, a *alerted) {
			b := healthy()
			b.Stale("feed-oir", "oir-7", time.Now())
			a.setStatus(t, b)
		}, []string{"PregonSourceDegraded", "PregonFeedStale"}},
		{"the disk is full", func(t *testing.T, a *alerted) {
			a.store.full.Store(true)
			for range 2 {
				if _, err := a.service.Storage.Store.Append(t.Context(), store.Batch{}); err == nil {
					t.Fatal("Append to a full disk succeeded, want an error")
				}
			}
		}, []string{"PregonSourceDegraded", "PregonStoreFailing"}},
		{"webhooks are not served", func(t *testing.T, a *alerted) {
			reports := make([]disclosure.Report, 1001)
			for n := range reports {
				reports[n] = disclosure.Report{Type: disclosure.OIR, Number: int64(n + 1), CompanyName: "X", Title: "X", PublishedAt: time.Now()}
				if err := reports[n].Validate(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := a.service.Storage.Store.Append(t.Context(), store.Batch{New: disclosure.Published, Reports: reports}); err != nil {
				t.Fatal(err)
			}
			if err := a.service.Storage.Catalog.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, []string{"PregonWebhooksBehind"}},
	} {
		t.Run(test.fault, func(t *testing.T) {
			a := newAlerted(t)
			test.make(t, a)
			if !a.statusSet && !a.noStatus {
				a.setStatus(t, healthy())
			}
			page := a.page(t)
			var fires []string
			for _, name := range slices.Sorted(maps.Keys(alerts)) {
				if alerts[name].Fires(t, page) {
					fires = append(fires, name)
				}
			}
			slices.Sort(test.fires)
			if !slices.Equal(fires, test.fires) {
				t.Errorf("firing alerts: got %v, want %v", fires, test.fires)
			}
		})
		for _, name := range test.fires {
			tried[name] = true
		}
	}
	for name := range alerts {
		if !tried[name] {
			t.Errorf("no test case makes %s fire", name)
		}
	}
}

// alerted is a service that is wired but not running, so that a test
// controls its metrics.
type alerted struct {
	service             *service.Service
	store               *fullStore
	others              string // metrics of another replica
	statusSet, noStatus bool
}

// fullStore is a store whose disk can be full.
type fullStore struct {
	engine.Store
	full atomic.Bool
}

func (s *fullStore) Append(ctx context.Context, b store.Batch) (store.Outcome, error) {
	if s.full.Load() {
		return store.Outcome{}, errors.New("no space left on device")
	}
	return s.Store.Append(ctx, b)
}

func newAlerted(t *testing.T) *alerted {
	t.Helper()
	a := &alerted{others: "pregon_ingest_lease_held 1\n"}
	a.service = wireService(t, func(opened engine.Store) engine.Store {
		a.store = &fullStore{Store: opened}
		return a.store
	})
	if err := a.service.Storage.Catalog.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// healthy returns a monitor whose surfaces are all healthy.
func healthy() *health.Monitor {
	b := health.NewMonitor(time.Minute)
	for _, name := range health.Surfaces {
		b.OK(name)
	}
	b.Published(time.Now())
	return b
}

// setStatus stores the status of a monitor, as the ingest process does.
func (a *alerted) setStatus(t *testing.T, b *health.Monitor) {
	t.Helper()
	status, _ := b.Status()
	if err := a.service.Storage.Coverage.SetStatus(t.Context(), nil, status); err != nil {
		t.Fatal(err)
	}
	a.statusSet = true
}

// page returns the metrics of all replicas.
func (a *alerted) page(t *testing.T) string {
	t.Helper()
	out := httptest.NewRecorder()
	a.service.Observation.Metrics.Handler().ServeHTTP(out, httptest.NewRequest("GET", "/metrics", nil))
	if out.Code != 200 {
		t.Fatalf("%d %s", out.Code, out.Body)
	}
	return out.Body.String() + a.others
}
