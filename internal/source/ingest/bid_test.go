package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/coverage"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/test/longtest"
)

// TestBlindLeader: a holder that cannot reach the source releases the lease to
// a process that can.
func TestBlindLeader(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newWorld(t)
	first := w.newIngest("first")
	away := w.cutOff(first)
	w.run(first.Run)
	w.eventually(func() error {
		if !first.Holding() {
			return errors.New("the first does not hold the lease")
		}
		return nil
	})
	db := w.open() // as in another process
	second := w.newIngest("second")
	second.Store, second.Coverage = db, coverage.New(db)
	w.run(second.Coverage.Follow)
	w.run(second.Run)
	away.Store(true)
	w.eventually(func() error {
		if !second.Holding() {
			return errors.New("the one that sees the source does not read it")
		}
		return nil
	})
	id := w.publish(`{"type":"oir"}`)
	w.eventually(func() error { return w.has(id) })
	w.state(health.Live)
	w.once()
}

// cutOff disconnects an ingest from the source once the flag is set.
func (w *world) cutOff(i *Ingest) *atomic.Bool {
	w.Helper()
	away := new(atomic.Bool)
	source, err := regulator.New(regulator.Options{Origin: w.url, UserAgent: "test", Queue: throttle.New(0), Transport: wire{away, http.DefaultTransport}})
	if err != nil {
		w.Fatal(err)
	}
	i.Regulator = source
	return away
}

// wire is a network that can be cut.
type wire struct {
	away *atomic.Bool
	http.RoundTripper
}

func (c wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.away.Load() {
		return nil, errors.New("no route to host")
	}
	return c.RoundTripper.RoundTrip(r)
}

// TestBid: while the holder is blind, a process that sees every series bids for
// the lease. One that sees only some series, or released the lease, does not.
func TestBid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session() // holds the lease, and reads nothing
	blind := func() {
		t.Helper()
		if err := s.writeStatus(t.Context(), health.Status{State: health.Blind, At: time.Now(), Unseen: []disclosure.Type{disclosure.OIR}}); err != nil {
			t.Fatal(err)
		}
	}
	w.arm(`{"kind":"error500","surface":"feed","type":"ip","for":"1h"}`)
	other := w.newIngest("other")
	if err := other.probe(t.Context(), []disclosure.Type{disclosure.OIR}); err == nil {
		t.Error("a process that cannot read IP offers to take over")
	}
	w.disarm()
	gaveUp := w.newIngest("gave up")
	now := time.Now()
	gaveUp.yieldedAt.Store(&now)
	w.run(func(ctx context.Context) error { gaveUp.bid(ctx); return ctx.Err() })
	w.run(func(ctx context.Context) error { other.bid(ctx); return ctx.Err() })
	w.eventually(func() error {
		blind() // repeatedly, as the holder does: an old offer expires
		if memo := w.coverage.Value(bidKey); !strings.HasPrefix(memo, "other at ") {
			return fmt.Errorf("the offer is %q, want one of other", memo)
		}
		return nil
	})
}

// TestYield: when a holder releases the lease.
func TestYield(t *testing.T) {
	began := time.Now()
	type step struct {
		after time.Duration
		blind bool
		memo  string
		want  bool
	}
	for name, steps := range map[string][]step{
		"well, with an offer":    {{0, false, "", false}, {time.Minute, false, "b", false}},
		"alone":                  {{0, false, "", false}, {15 * time.Second, true, "", false}, {time.Hour, true, "", false}},
		"another sees":           {{0, false, "", false}, {15 * time.Second, true, "", false}, {20 * time.Second, true, "b", false}, {34 * time.Second, true, "b", false}, {35 * time.Second, true, "b", true}},
		"another saw long ago":   {{0, false, "b", false}, {15 * time.Second, true, "b", false}, {time.Minute, true, "b", false}},
		"another saw for a time": {{0, false, "", false}, {15 * time.Second, true, "b", false}, {40 * time.Second, true, "b", false}, {45 * time.Second, true, "c", true}},
		"blind with breaks":      {{0, true, "", false}, {15 * time.Second, true, "b", false}, {16 * time.Second, false, "b", false}, {30 * time.Second, true, "c", false}, {49 * time.Second, true, "d", false}, {50 * time.Second, true, "d", true}},
	} {
		var v holder
		for _, st := range steps {
			if got := v.shouldYield(began.Add(st.after), st.blind, st.memo, &usual); got != st.want {
				t.Errorf("%s: release after %v: got %v, want %v", name, st.after, got, st.want)
			}
		}
	}
}
