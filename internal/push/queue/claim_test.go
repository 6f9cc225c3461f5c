package queue_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/push/queue"
	"pregon/internal/store"
)

// rows is a store with one delivery to one endpoint, which it claims once.
type rows struct {
	mu      sync.Mutex
	claimed bool
	failing bool     // it does not renew
	calls   []string // that change results and claims, in order
}

func (r *rows) Claim(_ context.Context, c store.Claim) ([]store.Claimed, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claimed || c.Failing {
		return nil, nil
	}
	r.claimed = true
	return []store.Claimed{{Webhook: c.Webhooks[0], Deliveries: []store.Delivery{{Webhook: c.Webhooks[0], Seq: 1}}}}, nil
}

func (r *rows) Renew(_ context.Context, _ string, _ time.Duration, endpoints ...string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failing {
		return nil, errors.New("the store does not answer")
	}
	return endpoints, nil
}

func (r *rows) Release(_ context.Context, _ string, endpoints ...string) error {
	r.called("release", len(endpoints))
	return nil
}

func (r *rows) Settle(_ context.Context, results ...store.Result) error {
	r.called("settle", len(results))
	return nil
}

func (r *rows) called(name string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > 0 {
		r.calls = append(r.calls, name)
	}
}

func (r *rows) PruneDeliveries(context.Context, time.Time, int) (int, error) { return 0, nil }

func (r *rows) CorrectTimes(context.Context, time.Duration, time.Duration) (int, error) {
	return 0, nil
}

// run runs a queue over the rows until work has returned.
func run(t *testing.T, r *rows, work func(c *queue.Claim)) {
	ctx, stop := context.WithCancel(t.Context())
	q := queue.New(queue.Options{
		Store:  r,
		Logger: slog.New(slog.DiscardHandler),
		Noun:   "tests",
		Timing: queue.DefaultTiming,
		Each:   1,
		Endpoints: func() iter.Seq[queue.Endpoint] {
			return slices.Values([]queue.Endpoint{{ID: "one"}})
		},
		Serves: func(string) bool { return true },
		Work: func(c *queue.Claim, _ store.Claimed) {
			work(c)
			stop()
		},
		Wake: make(chan struct{}, 1),
	})
	if err := q.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A claim that is renewed is not over, however long an attempt takes within a turn.
func TestClaimThatIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run(t, &rows{}, func(c *queue.Claim) {
			for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(100 * time.Millisecond) {
				if c.Over() {
					t.Errorf("the claim is over after %v", time.Since(began))
					return
				}
			}
		})
	})
}

// Attempts are canceled after seven of the eight seconds of a claim that is not renewed,
// and none begins in the two seconds before.
func TestClaimThatIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run(t, &rows{failing: true}, func(c *queue.Claim) {
			began := time.Now()
			for !c.Over() {
				time.Sleep(10 * time.Millisecond)
			}
			if got := time.Since(began).Round(100 * time.Millisecond); got != 5*time.Second {
				t.Errorf("the claim is over after %v, want 5 s", got)
			}
			if c.Context().Err() != nil {
				t.Error("attempts are canceled already")
			}
			<-c.Context().Done()
			if got := time.Since(began).Round(100 * time.Millisecond); got != 7*time.Second {
				t.Errorf("attempts are canceled after %v, want 7 s", got)
			}
		})
	})
}

// Results are written before the claim is released, so that no other process sends them
// again.
func TestResultsBeforeRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rows{}
		run(t, r, func(c *queue.Claim) {
			c.Settle(store.Result{Webhook: "one", Seq: 1, State: store.DeliveryDelivered})
		})
		if len(r.calls) < 2 || r.calls[0] != "settle" || slices.Contains(r.calls[1:], "settle") {
			t.Errorf("the store was called to %q, want settle and then release", r.calls)
		}
	})
}
