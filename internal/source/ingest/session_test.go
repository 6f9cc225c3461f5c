package ingest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/store"
)

// TestUnstoredReports: while reports cannot be stored, the state does not improve
// because the status can, and the reason names the store.
func TestUnstoredReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(Options{Logger: slog.New(slog.DiscardHandler), Poll: time.Second})
		s := &term{Ingest: i}
		sees := func() health.Status {
			for _, name := range disclosure.Types {
				i.monitor.OK(health.Feed(name))
			}
			return i.Status()
		}
		var states []health.State
		for second := range 60 {
			full := errors.New("no space left on device")
			if err := s.recordAppend(t.Context(), store.Unavailable(full)); !errors.Is(err, full) {
				t.Fatalf("recordAppend: got %v, want %v", err, full)
			}
			if second%5 == 0 {
				if err := s.recordStatus(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			status := sees()
			states = append(states, status.State)
			for _, r := range status.Reasons {
				if r.Surface != health.Store || !strings.Contains(r.Text(), "the store") {
					t.Fatalf("reason: got %+v, want one that names the store", r)
				}
			}
			time.Sleep(time.Second)
		}
		want := []health.State{health.Quiet, health.Degraded, health.Blind}
		if got := slices.Compact(states); !slices.Equal(got, want) {
			t.Errorf("states: got %v, want %v", got, want)
		}
		if err := s.recordAppend(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if got := sees().State; got != health.Quiet {
			t.Errorf("after reports were stored: got %s, want quiet", got)
		}
	})
}

// TestLateNumbers: a missing number is looked up though the clock was set back after
// its neighbour was published, and again though its last search is in the future.
func TestLateNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracker := coverage.New(noRecords{})
		i := New(Options{Logger: slog.New(slog.DiscardHandler), Coverage: tracker})
		g := newGaps(&writer{term: &term{Ingest: i}})
		gap := coverage.Gap{First: 7, Last: 7, Next: coverage.Numbered{Number: 8, At: time.Now().Add(time.Hour)}}
		missing := func(want bool) {
			t.Helper()
			g.remember(disclosure.OIR, []coverage.Gap{gap})
			if got := g.missing(disclosure.OIR, 7, gap); got != want {
				t.Errorf("missing: got %v, want %v", got, want)
			}
		}
		missing(false)
		time.Sleep(i.intervals.gapsAfter)
		missing(false)
		time.Sleep(time.Second)
		missing(true)
		if err := tracker.SetAbsent(t.Context(), nil, disclosure.OIR, 7, time.Now()); err != nil {
			t.Fatal(err)
		}
		missing(false)
		if err := tracker.SetAbsent(t.Context(), nil, disclosure.OIR, 7, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		missing(true)
	})
}

// TestRunBegins: the start counts from when ingest runs, which is after the catalogue was
// loaded.
func TestRunBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracker := coverage.New(noRecords{})
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		i := New(Options{Logger: slog.New(slog.DiscardHandler), Coverage: tracker, Store: noLease{}})
		if err := i.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("run ended with %v, want context.Canceled", err)
		}
		if got := tracker.SourceStatus(true); got.State != health.Starting {
			t.Errorf("the source is %s because of %v, want starting", got.State, got.Reasons)
		}
	})
}

// noLease is a store whose lease cannot be acquired.
type noLease struct{ store.Store }

func (noLease) AcquireLease(ctx context.Context, _, _ string, _ time.Duration) (store.Lease, error) {
	return store.Lease{}, ctx.Err()
}

// TestTermAfterACrash: a term continues the state that an earlier process reported.
func TestTermAfterACrash(t *testing.T) {
	w := newEmptyWorld(t)
	began := time.Now().Add(-time.Minute)
	starting := health.Status{State: health.Starting, Since: began, At: time.Now()}
	if err := w.coverage.SetStatus(t.Context(), nil, starting); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i := w.newIngest("second")
	if err := i.work(ctx, &store.Lease{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("work ended with %v, want context.Canceled", err)
	}
	if got := i.Status(); got.State != health.Blind {
		t.Errorf("a minute after the first process began the source is %s because of %v, want blind", got.State, got.Reasons)
	}
}

// noRecords keeps nothing: the tracker answers from memory.
type noRecords struct{ store.Records }

func (noRecords) PutRecords(_ context.Context, _ *store.Lease, records ...store.Record) ([]store.Record, error) {
	return records, nil
}
