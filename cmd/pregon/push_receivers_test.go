package main_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// receiver takes webhooks and checks their signatures.
type receiver struct {
	witness // each change when it first came
	*httptest.Server
	hook  hook
	ready chan struct{} // closed when hook is known
	moody bool          // takes its time, and refuses one of a hundred changes, once
	loose bool          // may get changes in another order
	mood  atomic.Int32  // what else it does wrong at present

	ids     map[int64]string // guarded by witness.mu
	copies  int              // guarded by witness.mu
	refused map[string]bool  // guarded by witness.mu
}

// Moods of a receiver. It refuses a change, or keeps its sender waiting, only once:
// a second failure would be retried after minutes.
const (
	calmMood    = iota
	slowMood    // takes a second for an answer
	failingMood // answers 500
	hangingMood // does not answer
)

func newReceiver(t *testing.T, moody bool) *receiver {
	t.Helper()
	r := &receiver{ready: make(chan struct{}), moody: moody, ids: map[int64]string{}, refused: map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) register(t *testing.T, base, key string) {
	t.Helper()
	r.hook = createHook(t, base, key, r.URL)
	close(r.ready)
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // its sender died
	}
	<-r.ready
	id := req.Header.Get("Webhook-Id")
	if err := verify(r.hook.Secret, req.Header, body); err != nil {
		r.protest(fmt.Errorf("%s: %w", id, err))
	}
	var e pushed
	if err := json.Unmarshal(body, &e); err != nil {
		r.protest(fmt.Errorf("%s: %w", id, err))
	}
	if r.moody {
		waittest.Pace(req.Context(), rand.N(20*time.Millisecond))
		if rand.IntN(100) == 0 && r.firstTime(id) {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
	}
	if !r.inMood(w, req, id) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch other, known := r.ids[e.Seq]; {
	case !known:
		r.ids[e.Seq] = id
		r.add(e)
	case other != id:
		r.wrong = errors.Join(r.wrong, fmt.Errorf("change %d came as %s and as %s", e.Seq, other, id))
	default:
		r.copies++
	}
}

// inMood reports whether the receiver takes a message now.
func (r *receiver) inMood(w http.ResponseWriter, req *http.Request, id string) bool {
	switch mood := r.mood.Load(); {
	case mood == slowMood:
		waittest.Pace(req.Context(), time.Second)
	case mood == failingMood && r.firstTime(id):
		w.WriteHeader(http.StatusInternalServerError)
		return false
	case mood == hangingMood && r.firstTime(id):
		<-req.Context().Done()
		return false
	}
	return req.Context().Err() == nil
}

func (r *receiver) firstTime(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.refused[id]
	r.refused[id] = true
	return first
}

func (r *receiver) repeats() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.copies
}

// verify checks a signature as the standard says.
func verify(secret string, h http.Header, body []byte) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if !slices.Contains(strings.Fields(h.Get("Webhook-Signature")), want) {
		return errors.New("the signature is wrong")
	}
	return nil
}

// received returns an error unless exactly the changes up to newest came. A receiver
// that never failed must have them in order.
func (r *receiver) received(newest int64) error {
	seen, err := r.all()
	if err != nil {
		return err
	}
	bySeq := func(a, b pushed) int { return int(a.Seq - b.Seq) }
	if !r.moody && !r.loose && !slices.IsSortedFunc(seen, bySeq) {
		return fmt.Errorf("webhook: got events out of order: %v", seen)
	}
	slices.SortFunc(seen, bySeq)
	if err := (&witness{seen: seen}).complete(r.hook.StartsAfter, newest); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// badReceiver is a receiver that misbehaves, with the expected result of its first
// delivery.
type badReceiver struct {
	answer http.HandlerFunc
	state  string // of the delivery after one attempt
	status int    // 0: there is no answer
	reason string
}

// badReceivers returns receivers that each misbehave in one way. Those that hang do
// so until the sender disconnects or the test ends.
func badReceivers(ended <-chan struct{}, elsewhere string) map[string]badReceiver {
	hang := func(r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ended:
		}
	}
	status := func(code int, header, value string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if header != "" {
				w.Header().Set(header, value)
			}
			w.WriteHeader(code)
			fmt.Fprintf(w, "I say %d", code)
		}
	}
	return map[string]badReceiver{
		"hangs": {func(_ http.ResponseWriter, r *http.Request) { hang(r) }, "pending", 0, "no answer within 15s"},
		"stops midway": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
			_ = http.NewResponseController(w).Flush()
			hang(r)
		}, "delivered", 200, ""}, // the status decides
		"cuts":      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "pending", 0, "the connection was closed early"},
		"redirects": {status(301, "Location", elsewhere), "pending", 301, "the answer was 301: redirects are not followed"},
		"is gone":   {status(410, "", ""), "dead", 410, "the answer was 410"},
		"is busy":   {status(429, "Retry-After", "7200"), "pending", 429, "the answer was 429"},
		"fails":     {status(500, "", ""), "pending", 500, "the answer was 500"},
		"has no end": {func(w http.ResponseWriter, _ *http.Request) {
			for more := []byte(strings.Repeat("x", 4096)); ; {
				if _, err := w.Write(more); err != nil {
					return
				}
			}
		}, "delivered", 200, ""},
	}
}

// TestPushBadReceivers has a good receiver among bad ones: it gets everything,
// and the deliveries to the others are listed with their errors.
func TestPushBadReceivers(t *testing.T) {
	longtest.Skip(t, "receivers are slow")
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			s := startReplica(t, spec, "--webhook-allow-private")
			db := openStore(t, spec)
			key := pregon(t, spec, "keys", "create", "--plan", "enterprise")
			ended := make(chan struct{})
			var strayed atomic.Int64
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed.Add(1) }))
			t.Cleanup(elsewhere.Close)
			bad := badReceivers(ended, elsewhere.URL)
			hooks := map[string]hook{}
			for name, b := range bad {
				server := httptest.NewServer(b.answer)
				t.Cleanup(server.Close)
				hooks[name] = createHook(t, s.url, key, server.URL)
			}
			slow := newReceiver(t, true)
			slow.register(t, s.url, key)
			good := newReceiver(t, false)
			good.register(t, s.url, key)
			t.Cleanup(func() { close(ended) })

			newest := file(t, db, 100)
			eventually(t, func() error { return good.received(newest) })
			for name, b := range bad {
				var d delivery
				eventually(t, func() error {
					if d = firstDelivery(t, s, key, hooks[name]); len(d.History) == 0 {
						return fmt.Errorf("no attempt at the receiver that %s is listed", name)
					}
					return nil
				})
				b.check(t, name, d)
			}
			if strayed.Load() > 0 {
				t.Error("a redirect was followed")
			}
			eventually(t, func() error {
				var h hook
				demand(t, s.url, key, http.MethodGet, "/api/v1/webhooks/"+hooks["is gone"].ID, nil, &h, http.StatusOK)
				if h.Enabled || h.DisabledReason == nil || !strings.Contains(*h.DisabledReason, "410") || h.Endpoint.Dead != 1 {
					return fmt.Errorf("the receiver that is gone: %+v", h)
				}
				return nil
			})
			eventually(t, func() error { return slow.received(newest) })

			// Undelivered changes are pending, and are listed as such.
			for _, name := range []string{"hangs", "cuts", "redirects", "is busy", "fails"} {
				var h hook
				demand(t, s.url, key, http.MethodGet, "/api/v1/webhooks/"+hooks[name].ID, nil, &h, http.StatusOK)
				if !h.Enabled || h.Endpoint.Pending != 100 {
					t.Errorf("the receiver that %s: %+v", name, h)
				}
			}
			newest = file(t, db, 10)
			eventually(t, func() error { return good.received(newest) })
		})
	}
}

// firstDelivery returns the first delivery of a webhook, or the zero value if there
// is none yet.
func firstDelivery(t *testing.T, s *service, key string, h hook) delivery {
	t.Helper()
	var list struct{ Data []delivery }
	path := fmt.Sprintf("/api/v1/webhooks/%s/deliveries?before=%d", h.ID, h.StartsAfter+2)
	demand(t, s.url, key, http.MethodGet, path, nil, &list, http.StatusOK)
	if len(list.Data) == 0 {
		return delivery{}
	}
	if len(list.Data) != 1 || !isMessage(list.Data[0].ID, h.ID, h.StartsAfter+1) {
		t.Fatalf("%s lists %+v", path, list.Data)
	}
	return list.Data[0]
}

func (b badReceiver) check(t *testing.T, name string, d delivery) {
	t.Helper()
	h := d.History[0]
	status, reason := 0, ""
	if h.Status != nil {
		status = *h.Status
	}
	if h.Error != nil {
		reason = *h.Error
	}
	if d.State != b.state || status != b.status || reason != b.reason || h.OK != (b.state == "delivered") {
		t.Errorf("the receiver that %s: %s, %d, %q; want %s, %d, %q", name, d.State, status, reason, b.state, b.status, b.reason)
	}
	if (d.DueAt == nil) != (b.state != "pending") {
		t.Errorf("the receiver that %s: %s is due at %v", name, d.State, d.DueAt)
	}
	if status == 429 && time.Until(*d.DueAt) < time.Hour {
		t.Errorf("the receiver that %s asked for two hours: got the next attempt at %v", name, d.DueAt)
	}
	if status >= 300 && (h.Excerpt == nil || *h.Excerpt != fmt.Sprintf("I say %d", status)) {
		t.Errorf("the receiver that %s: the excerpt is not its answer", name)
	}
}

// TestPushReceiverComesBack checks that a receiver that works again gets the events
// that it missed, in order, and can request redelivery.
func TestPushReceiverComesBack(t *testing.T) {
	longtest.Skip(t, "a receiver is away for a while")
	t.Parallel()
	spec := engines["sqlite"](t)
	s := startReplica(t, spec, "--webhook-allow-private")
	db := openStore(t, spec)
	key := pregon(t, spec, "keys", "create", "--plan", "enterprise")
	r := newReceiver(t, false)
	h := createHook(t, s.url, key, "http://127.0.0.1:1") // where no server listens
	file(t, db, 5)
	eventually(t, func() error {
		if d := firstDelivery(t, s, key, h); len(d.History) == 0 || *d.History[0].Error != "the connection was refused" {
			return errors.New("the first attempt is not listed")
		}
		return nil
	})
	r.hook, r.moody = h, true // the first change was tried before, and comes later than others
	close(r.ready)
	demand(t, s.url, key, http.MethodPatch, "/api/v1/webhooks/"+h.ID, map[string]any{"url": r.URL}, nil, http.StatusOK)
	newest := file(t, db, 5)
	eventually(t, func() error { return r.received(newest) })

	var again struct{ Queued int }
	demand(t, s.url, key, http.MethodPost, "/api/v1/webhooks/"+h.ID+"/redeliver", map[string]any{"since": newest - 3}, &again, http.StatusAccepted)
	eventually(t, func() error {
		if _, wrong := r.all(); again.Queued != 3 || r.repeats() < 3 || wrong != nil { // more when an answer came too late
			return fmt.Errorf("%d were queued, %d came again, %v", again.Queued, r.repeats(), wrong)
		}
		return nil
	})
}
