package delivery_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/push/webhook"
	"pregon/internal/push/webhook/delivery"
	"pregon/internal/store"
)

// exchange is a request that a slowReceiver got.
type exchange struct {
	id         string
	began, end time.Time
	cut        bool
}

// slowReceiver answers after a delay, without a network, in the time of a synctest
// bubble.
type slowReceiver struct {
	takes time.Duration

	mu  sync.Mutex
	got []exchange // guarded by mu
}

func (r *slowReceiver) RoundTrip(req *http.Request) (*http.Response, error) {
	e := exchange{id: req.Header.Get("webhook-id"), began: time.Now()}
	r.mu.Lock()
	n := len(r.got)
	r.got = append(r.got, e)
	r.mu.Unlock()
	select {
	case <-time.After(r.takes):
	case <-req.Context().Done():
		e.cut = true
	}
	e.end = time.Now()
	r.mu.Lock()
	r.got[n] = e
	r.mu.Unlock()
	if e.cut {
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
}

func (r *slowReceiver) exchanges() []exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// inTurn reports an error unless each exchange began after the one before it.
func (r *slowReceiver) inTurn(t *testing.T) {
	t.Helper()
	got := r.exchanges()
	for i := 1; i < len(got); i++ {
		if before := got[i-1]; before.end.IsZero() || got[i].began.Before(before.end) {
			t.Errorf("%s began while %s was being sent", got[i].id, before.id)
		}
	}
}

// slow starts a process whose receiver is r, with the intervals of production.
func (w *world) slow(t *testing.T, r *slowReceiver, change func(*webhook.Options)) *process {
	t.Helper()
	return w.process(t, delivery.Pace{}, func(o *webhook.Options) {
		o.Client = &http.Client{Transport: r}
		if change != nil {
			change(o)
		}
	})
}

// hooked creates a webhook for a slowReceiver.
func hooked(t *testing.T, p *process) webhook.Webhook {
	t.Helper()
	h, _, err := p.Create(t.Context(), owner, webhook.Draft{URL: "https://192.0.2.1/hook", Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// An attempt may last longer than a claim: no other process sends meanwhile.
func TestClaimIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := newWorld(t), &slowReceiver{takes: 14 * time.Second}
		a := w.slow(t, r, nil)
		w.slow(t, r, nil)
		hook := hooked(t, a)
		last := w.publish(t, a.db, 3)
		settled(t, a, hook.ID, 3)
		var ids []string
		for _, e := range r.exchanges() {
			ids = append(ids, epochInID.ReplaceAllString(e.id, ".$1"))
		}
		if want := wanted(hook.ID, hook.StartsAfter, last); !slices.Equal(ids, want) {
			t.Errorf("got %v, want %v", ids, want)
		}
		r.inTurn(t)
	})
}

// A process that can no longer renew its claim stops sending before another
// takes over, which is within ten seconds.
func TestClaimLapses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := newWorld(t), &slowReceiver{takes: 14 * time.Second}
		var cut *flaky
		a := w.slow(t, r, func(o *webhook.Options) {
			cut = &flaky{Store: o.Store}
			o.Store = cut
		})
		hook := hooked(t, a)
		w.publish(t, a.db, 1)
		time.Sleep(5 * time.Second)
		if n := len(r.exchanges()); n != 1 {
			t.Fatalf("%d exchanges before the store failed, want 1", n)
		}
		b := w.slow(t, r, nil)
		cut.dead.Store(true)
		died := time.Now()
		settled(t, b, hook.ID, 1)
		r.inTurn(t)
		got := r.exchanges()
		if len(got) != 2 || !got[0].cut || got[1].cut || got[0].id != got[1].id {
			t.Fatalf("got %+v, want an interrupted one and its retry", got)
		}
		if took := got[1].began.Sub(died); took > 10*time.Second {
			t.Errorf("the other process took over after %v", took)
		}
		cut.dead.Store(false) // for the end of the test
	})
}

// A process that stops keeps the claims of deliveries in progress.
func TestClaimIsKeptWhileStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r := newWorld(t), &slowReceiver{takes: 13 * time.Second}
		a := w.slow(t, r, nil)
		hook := hooked(t, a)
		w.publish(t, a.db, 1)
		time.Sleep(4 * time.Second)
		b := w.slow(t, r, nil)
		ended := make(chan struct{})
		go func() { defer close(ended); a.stop() }()
		settled(t, b, hook.ID, 1)
		<-ended
		if got := r.exchanges(); len(got) != 1 || got[0].cut {
			t.Errorf("got %+v, want one exchange", got)
		}
	})
}

// thief is a store in which another process takes over the claims.
type thief struct {
	webhook.Store
	mu    sync.Mutex
	taken bool // guarded by mu
}

func (s *thief) Renew(context.Context, string, time.Duration, ...string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = true
	return nil, nil
}

func (s *thief) Claim(ctx context.Context, c store.Claim) ([]store.Claimed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken {
		return nil, nil
	}
	return s.Store.Claim(ctx, c)
}

func TestLostClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, r, s := newWorld(t), &slowReceiver{takes: 600 * time.Millisecond}, &thief{}
		p := w.slow(t, r, func(o *webhook.Options) {
			s.Store = o.Store
			o.Store = s
		})
		hook := hooked(t, p)
		w.publish(t, p.db, 20)
		time.Sleep(20 * time.Second)
		got := r.exchanges()
		if n := len(got); n == 0 || n >= 20 || !got[n-1].cut {
			t.Fatalf("got %d requests %+v, want some, the last of which was cut", n, got)
		}
		if late := got[len(got)-1].end.Sub(got[0].began); late > 2*time.Second {
			t.Errorf("the process continued for %v, want until the next renewal", late)
		}
		n := 0
		for _, d := range deliveries(t, p, hook.ID) {
			if d.State == store.DeliveryDelivered {
				n++
			}
		}
		if n != len(got)-1 {
			t.Errorf("%d are settled, want %d", n, len(got)-1)
		}
	})
}

// settlements records when results were written, and how many.
type settlements struct {
	webhook.Store

	mu    sync.Mutex
	times []time.Time // guarded by mu
}

func (s *settlements) Settle(ctx context.Context, results ...store.Result) error {
	s.mu.Lock()
	s.times = append(s.times, time.Now())
	s.mu.Unlock()
	return s.Store.Settle(ctx, results...)
}

func (s *settlements) all() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}

// The results of several webhooks are written together, and the last one at once.
func TestResultsAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hooks, changes = 5, 20
		w, r, s := newWorld(t), &slowReceiver{takes: 6 * time.Millisecond}, &settlements{}
		p := w.slow(t, r, func(o *webhook.Options) {
			s.Store = o.Store
			o.Store = s
		})
		var all []webhook.Webhook
		for range hooks {
			all = append(all, hooked(t, p))
		}
		w.publish(t, p.db, changes)
		for _, h := range all {
			settled(t, p, h.ID, changes)
		}
		written := s.all()
		if n := len(written); n > changes/2 {
			t.Errorf("%d results were written %d times", hooks*changes, n)
		}
		sent := r.exchanges()
		last := sent[0].end
		for _, e := range sent {
			if e.end.After(last) {
				last = e.end
			}
		}
		if waited := written[len(written)-1].Sub(last); waited != 0 {
			t.Errorf("the last result waited %v", waited)
		}
	})
}
