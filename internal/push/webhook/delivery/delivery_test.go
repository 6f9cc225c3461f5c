package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/queue"
	"pregon/internal/push/webhook"
	"pregon/internal/push/webhook/delivery"
	"pregon/internal/store"
	"pregon/internal/test/waittest"
)

func TestDelivery(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write([]byte("thanks\x00\x1b[1m\xff\n")) })
	hook, raw := create(t, p, r)
	last := w.publish(t, p.db, 250)
	all := settled(t, p, hook.ID, 250)
	if got, want := r.ids(), wanted(hook.ID, hook.StartsAfter, last); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if r.most != 1 {
		t.Errorf("%d concurrent requests, want 1", r.most)
	}
	q := r.requests()[0]
	for name, want := range map[string]string{"Content-Type": "application/json", "User-Agent": "pregon/test"} {
		if got := q.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !verify(t, q, raw) {
		t.Errorf("the signature %q is wrong", q.header.Get("webhook-signature"))
	}
	if sec, err := strconv.ParseInt(q.header.Get("webhook-timestamp"), 10, 64); err != nil || q.at.Sub(time.Unix(sec, 0)).Abs() > 5*time.Minute {
		t.Errorf("the timestamp %q", q.header.Get("webhook-timestamp"))
	}
	var body struct {
		ID, Event string
		Seq       int64
	}
	if err := json.Unmarshal(q.body, &body); err != nil || body.ID != "oir-1" || body.Event != "report.published" || body.Seq != hook.StartsAfter+1 {
		t.Errorf("%s: %v", q.body, err)
	}
	d := all[0]
	if d.State != store.DeliveryDelivered || d.Attempts != 1 || len(d.History) != 1 || d.History[0].Status != 200 || d.History[0].Excerpt != "thanks[1m" || d.History[0].Error != "" {
		t.Errorf("%+v", d)
	}
	_, e, err := p.Get(t.Context(), owner, hook.ID)
	if err != nil || e.LastSuccessAt.IsZero() || !e.FailingSince.IsZero() || e.Pending != 0 {
		t.Errorf("%+v, %v", e, err)
	}
	if s := p.Stats(); s.Delivered != 250 || s.Failed != 0 || s.Retried != 0 || s.InFlight != 0 || s.Lag != 0 {
		t.Errorf("%+v", s)
	}
}

func TestSelection(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	all, _ := create(t, p, r)
	ips, _ := create(t, p, r, func(d *webhook.Draft) { d.Filter.Type = disclosure.IP })
	updates, _ := create(t, p, r, func(d *webhook.Draft) { d.Events = []disclosure.Event{disclosure.Updated} })
	off, _ := create(t, p, r, func(d *webhook.Draft) { d.Enabled = false })
	w.publish(t, p.db, 1)
	seq := w.publish(t, p.db, 1, func(r *disclosure.Report) { r.Type = disclosure.IP })
	settled(t, p, all.ID, 2)
	if got := settled(t, p, ips.ID, 1); got[0].Seq != seq {
		t.Errorf("got %d", got[0].Seq)
	}
	for _, none := range []webhook.Webhook{updates, off} {
		if got := deliveries(t, p, none.ID); len(got) != 0 {
			t.Errorf("%v got %v", none.Events, got)
		}
	}
}

// TestAnswers checks the outcome of a delivery for each response.
func TestAnswers(t *testing.T) {
	cutting := func(w http.ResponseWriter, _ *http.Request, _ int) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	short := func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("begun"))
	}
	hanging := func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }
	trickling := func(w http.ResponseWriter, r *http.Request, _ int) {
		for range 2000 { // more than the stored excerpt
			_, _ = w.Write([]byte("."))
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
	redirect := func(w http.ResponseWriter, r *http.Request, _ int) {
		http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
	}
	const never = 5 * time.Minute
	for name, c := range map[string]struct {
		answer  func(http.ResponseWriter, *http.Request, int)
		ok      bool
		says    string
		timeout time.Duration
	}{
		"200":       {status(200), true, "", never},
		"204":       {status(204), true, "", never},
		"299":       {status(299), true, "", never},
		"301":       {redirect, false, "the answer was 301: redirects are not followed", never},
		"304":       {status(304), false, "the answer was 304: redirects are not followed", never},
		"400":       {status(400), false, "the answer was 400", never},
		"500":       {status(500), false, "the answer was 500", never},
		"cut":       {cutting, false, "the connection was closed early", never},
		"short":     {short, true, "", never},
		"hanging":   {hanging, false, "no answer within 200ms", 200 * time.Millisecond},
		"trickling": {trickling, true, "", never},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			pace := quick
			pace.SendTimeout = c.timeout
			p := w.process(t, pace, nil)
			r := newReceiver(t, c.answer)
			hook, _ := create(t, p, r)
			w.publish(t, p.db, 1)
			d := settled(t, p, hook.ID, 1)[0]
			want, attempts := store.DeliveryDead, 10
			if c.ok {
				want, attempts = store.DeliveryDelivered, 1
			}
			if d.State != want || len(d.History) != attempts {
				t.Fatalf("%s after %d attempts", d.State, len(d.History))
			}
			for _, a := range d.History {
				if a.Error != c.says {
					t.Errorf("%q, want %q", a.Error, c.says)
				}
			}
			ids := r.ids()
			if len(ids) > attempts || len(slices.Compact(ids)) != 1 { // a busy receiver may see fewer
				t.Errorf("got %v", ids)
			}
			if s := p.Stats(); !c.ok && (s.Failed != 10 || s.Dead != 1 || s.Retried != 9) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestConnectionRefused(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	hook, _ := create(t, p, r, func(d *webhook.Draft) { d.URL = "http://127.0.0.1:1/" })
	w.publish(t, p.db, 1)
	if d := settled(t, p, hook.ID, 1)[0]; d.History[0].Error != "the connection was refused" || d.History[0].Status != 0 {
		t.Errorf("%+v", d.History[0])
	}
}

// Only a bounded part of an endless response is read.
func TestEndlessAnswer(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	var sent atomic.Int64
	r := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		for r.Context().Err() == nil {
			n, err := io.WriteString(w, strings.Repeat("x", 1<<16))
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 1)
	d := settled(t, p, hook.ID, 1)[0]
	if d.State != store.DeliveryDelivered || len(d.History[0].Excerpt) != 1<<10 {
		t.Errorf("%s, %d bytes kept", d.State, len(d.History[0].Excerpt))
	}
	if sent.Load() > 64<<20 {
		t.Errorf("%d bytes were sent", sent.Load())
	}
}

func TestGone(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, status(http.StatusGone))
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 5)
	until(t, "the webhook is disabled", func() bool {
		got, e, err := p.Get(t.Context(), owner, hook.ID)
		return err == nil && !got.Enabled && got.DisabledReason == "the receiver answered 410 Gone" && !got.DisabledAt.IsZero() && e.Dead == 1 && e.Pending == 4
	})
	until(t, "the audit names it", func() bool { return p.audit.count("webhook.disabled") > 0 }) // written after the store
	if p.audit.count("webhook.disabled") != 1 || strings.Contains(p.audit.String(), "hunter2") {
		t.Errorf("the audit: %s", p.audit)
	}
	w.publish(t, p.db, 1)
	handedOut(t, p)
	if got := deliveries(t, p, hook.ID); len(got) != 5 || len(r.ids()) != 1 {
		t.Errorf("%d deliveries, %d requests", len(got), len(r.ids()))
	}
	// The owner enables it again: the pending deliveries are sent in order.
	r.set(ok)
	again, err := p.Update(t.Context(), owner, hook.ID, func(d *webhook.Draft) error { d.Enabled = true; return nil })
	if err != nil || again.DisabledReason != "" || !again.DisabledAt.IsZero() || again.StartsAfter != 6 {
		t.Fatalf("%+v, %v", again, err)
	}
	w.publish(t, p.db, 1)
	settled(t, p, hook.ID, 6)
	if got, want := r.ids()[1:], append(wanted(hook.ID, 1, 5), hook.ID+".7"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFailingTooLong(t *testing.T) {
	w := newWorld(t)
	pace := quick
	pace.TooLong = 1500 * time.Millisecond
	pace.Delay = 200 * time.Millisecond
	p := w.process(t, pace, nil)
	r := newReceiver(t, status(500))
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 1)
	var got webhook.Webhook
	until(t, "the webhook is disabled", func() bool {
		var err error
		got, _, err = p.Get(t.Context(), owner, hook.ID)
		return err == nil && !got.Enabled
	})
	if !strings.HasPrefix(got.DisabledReason, "nothing was delivered since ") || !strings.HasSuffix(got.DisabledReason, "; last error: the answer was 500") {
		t.Errorf("the reason: %q", got.DisabledReason)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "-5": 0, "7": 7 * time.Second, "86400": 24 * time.Hour, "86401": 24 * time.Hour, "99999999999999999": 24 * time.Hour,
		"99999999999999999999999": 0, "soon": 0,
		now.Add(time.Minute).Format(http.TimeFormat):    time.Minute,
		now.Add(-time.Minute).Format(http.TimeFormat):   0,
		now.Add(48 * time.Hour).Format(http.TimeFormat): 24 * time.Hour,
	} {
		if got := delivery.RetryAfter(header, now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

// Retry-After delays all deliveries to a receiver.
func TestRetryAfterDelaysAll(t *testing.T) {
	for _, code := range []int{429, 503} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.process(t, quick, nil)
			var asked atomic.Bool
			r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				if asked.CompareAndSwap(false, true) {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(code)
				}
			})
			hook, _ := create(t, p, r)
			w.publish(t, p.db, 3)
			for _, d := range settled(t, p, hook.ID, 3) {
				if d.State != store.DeliveryDelivered {
					t.Errorf("%d is %s", d.Seq, d.State)
				}
			}
			got := r.requests()
			if len(got) != 4 || got[1].at.Sub(got[0].at) < 900*time.Millisecond {
				t.Errorf("%d requests", len(got))
			}
		})
	}
}

func TestSchedule(t *testing.T) {
	p := newWorld(t).idle(t, delivery.Pace{}, nil)
	var least, most, sum time.Duration
	for n, want := range queue.DefaultDelays {
		sum += want
		least, most = 1000*time.Hour, 0
		for range 200 {
			r := p.Classify(n, 500, 0)
			if r.State != store.DeliveryPending {
				t.Fatalf("attempt %d: %s", n+1, r.State)
			}
			least, most = min(least, r.Wait), max(most, r.Wait)
		}
		if most > queue.MaxWait {
			t.Errorf("after attempt %d up to %v, want %v at most", n+1, most, queue.MaxWait)
		}
		if least < want*9/10 || most > want*11/10 || most-least < want/20 {
			t.Errorf("after attempt %d between %v and %v, want about %v", n+1, least, most, want)
		}
	}
	if sum < 75*time.Hour || sum > 76*time.Hour {
		t.Errorf("the retries last %v in total", sum)
	}
	if r := p.Classify(9, 500, time.Hour); r.State != store.DeliveryDead {
		t.Errorf("after the tenth: %s", r.State)
	}
	if r := p.Classify(0, 410, 0); r.State != store.DeliveryDead {
		t.Errorf("after 410: %s", r.State)
	}
	if got := p.Classify(0, 429, time.Hour).Wait; got != time.Hour {
		t.Errorf("with Retry-After: %v", got)
	}
	if got := p.Classify(1, 429, time.Second).Wait; got < 4*time.Minute {
		t.Errorf("with a short Retry-After: %v", got)
	}
}

// Bad receivers of any kind do not delay others. Those that hang do so until the
// process stops.
func TestBadReceivers(t *testing.T) {
	w := newWorld(t)
	pace := quick
	pace.SendTimeout, pace.Grace = time.Hour, 10*time.Millisecond
	p := w.process(t, pace, nil)
	hanging := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
	failing := newReceiver(t, status(500))
	good := newReceiver(t, ok)
	for range 20 {
		create(t, p, hanging)
		create(t, p, failing)
	}
	hook, _ := create(t, p, good)
	w.publish(t, p.db, 20)
	settled(t, p, hook.ID, 20)
	p.stop() // before the receivers, which would wait for the end of their requests
}

// A delivery that waits for a retry does not delay later ones, which stay in
// order. It is refused until the last one has arrived.
func TestOvertaking(t *testing.T) {
	w := newWorld(t)
	pace := quick
	pace.Delay = time.Second
	p := w.process(t, pace, nil)
	var last atomic.Bool
	r := newReceiver(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch id := r.Header.Get("webhook-id"); {
		case strings.HasSuffix(id, "-6"):
			last.Store(true)
		case strings.HasSuffix(id, "-3") && !last.Load():
			w.WriteHeader(500)
		}
	})
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 6)
	for _, d := range settled(t, p, hook.ID, 6) {
		if d.State != store.DeliveryDelivered {
			t.Errorf("%d is %s", d.Seq, d.State)
		}
	}
	var got []string // ids in order of first arrival
	for _, id := range r.ids() {
		if !slices.Contains(got, id) {
			got = append(got, id)
		}
	}
	if want := wanted(hook.ID, 0, 6); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTwoProcesses(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(t, quick, nil), w.process(t, quick, nil)
	r := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) { waittest.Pace(r.Context(), time.Millisecond) })
	hooks := make([]webhook.Webhook, 20)
	for i := range hooks {
		hooks[i], _ = create(t, a, r)
	}
	var last int64
	for range 10 {
		last = w.publish(t, a.db, 10)
		waittest.Pace(t.Context(), 20*time.Millisecond)
	}
	for _, h := range hooks {
		settled(t, b, h.ID, 100)
	}
	byHook := map[string][]string{}
	for _, id := range r.ids() {
		hook, _, _ := strings.Cut(id, ".")
		byHook[hook] = append(byHook[hook], id)
	}
	for _, h := range hooks {
		if got, want := byHook[h.ID], wanted(h.ID, h.StartsAfter, last); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if a.Stats().Delivered+b.Stats().Delivered != 2000 {
		t.Errorf("%+v and %+v", a.Stats(), b.Stats())
	}
}

// No delivery is lost when calls of the store fail, and none is sent twice while
// no process dies.
func TestFlakyStore(t *testing.T) {
	w := newWorld(t)
	flakyStore := func(o *webhook.Options) { o.Store = &flaky{Store: o.Store, often: 0.1} }
	calm := w.idle(t, quick, nil)
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 && time.Now().UnixNano()/1000%10 == 0 {
			w.WriteHeader(500)
		}
	})
	hooks := make([]webhook.Webhook, 5)
	for i := range hooks {
		hooks[i], _ = create(t, calm, r)
	}
	for range 2 {
		w.process(t, quick, flakyStore)
	}
	var last int64
	for range 20 {
		last = w.publish(t, calm.db, 5)
		waittest.Pace(t.Context(), 10*time.Millisecond)
	}
	for _, h := range hooks {
		for _, d := range settled(t, calm, h.ID, 100) {
			if d.State != store.DeliveryDelivered || d.Attempts > 2 {
				t.Errorf("%d is %s after %d", d.Seq, d.State, d.Attempts)
			}
		}
		got := r.ids()
		for _, id := range wanted(h.ID, h.StartsAfter, last) {
			r.mu.Lock()
			n := r.seen[id]
			r.mu.Unlock()
			if !slices.Contains(got, id) || n > 2 {
				t.Errorf("%s was delivered %d times", id, n)
			}
		}
	}
}

// A process dies with unsettled results and claims. Another takes over when the
// claims expire.
func TestCrash(t *testing.T) {
	w := newWorld(t)
	pace := quick
	pace.ClaimFor = 2 * time.Second
	pace.Grace, pace.LastWrites = 10*time.Millisecond, 10*time.Millisecond
	var first *flaky
	a := w.process(t, pace, func(o *webhook.Options) {
		first = &flaky{Store: o.Store}
		o.Store = first
	})
	r := newReceiver(t, nil)
	stopped := make(chan struct{})
	r.set(func(_ http.ResponseWriter, req *http.Request, _ int) {
		if len(r.ids()) > 100 { // so that it dies before all are sent
			select {
			case <-stopped:
			case <-req.Context().Done():
			}
		}
	})
	hook, _ := create(t, a, r)
	last := w.publish(t, a.db, 200)
	until(t, "some are sent", func() bool { return len(r.ids()) > 50 })
	first.dead.Store(true)
	a.stop()
	close(stopped)
	before := len(r.ids())
	if before >= 200 {
		t.Fatal("the process died after all deliveries")
	}
	b := w.process(t, quick, nil)
	settled(t, b, hook.ID, 200)
	seen := map[string]int{}
	for _, id := range r.ids() {
		seen[id]++
	}
	twice := 0
	for _, id := range wanted(hook.ID, hook.StartsAfter, last) {
		if seen[id] == 0 {
			t.Errorf("%s was not delivered", id)
		}
		if seen[id] > 1 {
			twice++
		}
	}
	t.Logf("%d of %d that were sent before were sent again", twice, before)
	// The last arrivals of each id are in order. The last request of the first
	// process may arrive after its death.
	var order []string
	for _, id := range slices.Backward(r.ids()) {
		if !slices.Contains(order, id) {
			order = append(order, id)
		}
	}
	slices.Reverse(order)
	if !slices.IsSortedFunc(order, func(a, b string) int { return seqOf(t, a) - seqOf(t, b) }) {
		t.Errorf("out of order: %v", order)
	}
}

func seqOf(t *testing.T, id string) int {
	t.Helper()
	_, text, _ := strings.Cut(id, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A process that stops finishes the current exchange and releases the rest at
// once.
func TestStopping(t *testing.T) {
	w := newWorld(t)
	pace := quick
	pace.ClaimFor = time.Hour
	a := w.idle(t, pace, nil)
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	begun, finish := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r := newReceiver(t, func(http.ResponseWriter, *http.Request, int) {
		once.Do(func() { close(begun) })
		<-finish
	})
	hook, _ := create(t, a, r)
	w.publish(t, a.db, 3)
	<-begun
	end()
	close(finish)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	got := deliveries(t, a, hook.ID)
	if got[0].State != store.DeliveryDelivered || got[1].State != store.DeliveryPending {
		t.Errorf("%s, %s", got[0].State, got[1].State)
	}
	b := w.process(t, pace, nil)
	settled(t, b, hook.ID, 3)
	if got := r.ids(); !slices.Equal(got, wanted(hook.ID, 0, 3)) {
		t.Errorf("got %v", got)
	}
}

// A request without a response when the process stops does not count as a failure.
func TestStoppingWithoutAnswer(t *testing.T) {
	w := newWorld(t)
	pace := quick
	pace.SendTimeout, pace.Grace = time.Hour, 50*time.Millisecond
	p := w.process(t, pace, nil)
	begun := make(chan struct{}, 1)
	r := newReceiver(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 1)
	<-begun
	p.stop()
	if d := deliveries(t, p, hook.ID)[0]; d.State != store.DeliveryPending || d.Attempts != 0 || len(d.History) != 0 {
		t.Errorf("%+v", d)
	}
}

// A webhook created during the fan-out gets every change after its start.
func TestCreationRaces(t *testing.T) {
	w := newWorld(t)
	ps := []*process{w.process(t, quick, nil), w.process(t, quick, nil)}
	r := newReceiver(t, ok)
	var publishing sync.WaitGroup
	var last int64
	publishing.Go(func() {
		for range 50 {
			last = w.publish(t, ps[0].db, 3)
			waittest.Pace(t.Context(), 5*time.Millisecond)
		}
	})
	var hooks []webhook.Webhook
	for i := range 20 {
		h, _ := create(t, ps[i%2], r)
		hooks = append(hooks, h)
		waittest.Pace(t.Context(), 5*time.Millisecond)
	}
	publishing.Wait()
	for _, h := range hooks {
		until(t, fmt.Sprintf("%s has everything after %d", h.ID, h.StartsAfter), func() bool {
			got := map[int64]bool{}
			for _, d := range deliveries(t, ps[0], h.ID) {
				got[d.Seq] = true
			}
			for seq := h.StartsAfter + 1; seq <= last; seq++ {
				if !got[seq] {
					return false
				}
			}
			return true
		})
	}
}

// While the owner of a webhook is unknown or gone, its deliveries wait until the
// owner is known again.
func TestOwnerNotKnown(t *testing.T) {
	w := newWorld(t)
	var dead atomic.Bool
	var refused atomic.Int64
	p := w.process(t, quick, func(o *webhook.Options) {
		o.AccountStatus = func(string) webhook.AccountStatus {
			if dead.Load() {
				refused.Add(1)
				return webhook.AccountStatus{Gone: "its key is not known"}
			}
			return webhook.AccountStatus{Scope: access.AllScopes}
		}
	})
	r := newReceiver(t, ok)
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 1)
	settled(t, p, hook.ID, 1)
	dead.Store(true)
	w.publish(t, p.db, 1)
	until(t, "it is handed out", func() bool { return len(deliveries(t, p, hook.ID)) == 2 })
	before := refused.Load()
	until(t, "the owner is asked for again", func() bool { return refused.Load() > before+3 })
	if len(r.ids()) != 1 {
		t.Errorf("got %v", r.ids())
	}
	dead.Store(false)
	until(t, "it is sent", func() bool { return len(r.ids()) == 2 })
}

func TestBodySize(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	hook, raw := create(t, p, r)
	w.publish(t, p.db, 1, func(r *disclosure.Report) { r.Summary = strings.Repeat("ñ", 15_000) })
	w.publish(t, p.db, 1, func(r *disclosure.Report) { r.Title = strings.Repeat("ñ\"", 50_000) })
	w.publish(t, p.db, 1, func(r *disclosure.Report) { r.CompanyName = strings.Repeat("x", 50_000) })
	settled(t, p, hook.ID, 3)
	for i, q := range r.requests() {
		var body struct {
			Title, ID, Event string
			Seq              int64
			Truncated        bool
		}
		if err := json.Unmarshal(q.body, &body); err != nil {
			t.Fatal(err)
		}
		if len(q.body) > delivery.LongestBody || !body.Truncated || body.ID == "" || body.Seq != int64(i+1) || body.Event != "report.published" || !verify(t, q, raw) {
			t.Errorf("%d bytes: %.300s", len(q.body), q.body)
		}
		if i == 0 && body.Title != "Report 1" || i == 1 && (len(body.Title) < 2000 || !strings.HasSuffix(body.Title, "…")) {
			t.Errorf("the title has %d bytes", len(body.Title))
		}
	}
	plain := []byte(`{"title":"x"}`)
	if got := delivery.Fit(plain); string(got) != string(plain) {
		t.Errorf("%s", got)
	}
}
