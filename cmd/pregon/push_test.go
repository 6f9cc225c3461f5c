package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/rest/resttest"
	"pregon/internal/waittest"
)

// everyEvent lists all event types.
var everyEvent = []string{"report.published", "report.backfilled", "report.updated", "report.corrected", "issuer.updated"}

func everyEventQuery() string { return "events=" + url.QueryEscape(strings.Join(everyEvent, ",")) }

// pushed is an event as a client received it, over any channel.
type pushed struct {
	Seq       int64
	ID, Event string
	Changed   int // number of changed fields
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *pushed) UnmarshalJSON(b []byte) error {
	var e struct {
		Seq       int64
		ID, Event string
		Changed   []string
	}
	err := json.Unmarshal(b, &e)
	*p = pushed{e.Seq, e.ID, e.Event, len(e.Changed)}
	return err
}

// witness records the events of one channel, in the order of arrival.
type witness struct {
	mu    sync.Mutex
	seen  []pushed // guarded by mu
	wrong error    // guarded by mu: the first error
}

func (w *witness) saw(events ...pushed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, events...)
}

func (w *witness) protest(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrong == nil {
		w.wrong = err
	}
}

func (w *witness) all() ([]pushed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen), w.wrong
}

// complete returns an error unless every change came once, in order.
func (w *witness) complete(after, newest int64) error {
	seen, err := w.all()
	if err != nil {
		return err
	}
	for i, e := range seen {
		if want := after + 1 + int64(i); e.Seq != want {
			return fmt.Errorf("got change %d, want %d", e.Seq, want)
		}
	}
	if last := after + int64(len(seen)); last != newest {
		return fmt.Errorf("last change: got %d, want %d", last, newest)
	}
	return nil
}

// call sends a request with a key and a body. It validates the answer against the
// OpenAPI document.
func call(ctx context.Context, base, key, method, path string, body, into any) (int, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		sent = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, sent)
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-API-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := resttest.Read(resp)
	if err != nil {
		return 0, err
	}
	if err := resttest.Check(req, answer); err != nil {
		return 0, fmt.Errorf("%s %s is not answered as documented: %w", method, path, err)
	}
	if into == nil || resp.StatusCode >= 300 {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(answer.Body, into)
}

// demand is like call but fails unless the status is want.
func demand(t *testing.T, base, key, method, path string, body, into any, want int) {
	t.Helper()
	got, err := call(t.Context(), base, key, method, path, body, into)
	if err != nil || got != want {
		t.Fatalf("%s %s: %d %v, want %d", method, path, got, err, want)
	}
}

// hook is a webhook as its owner sees it.
type hook struct {
	ID, Secret, URL string
	StartsAfter     int64 `json:"starts_after"`
	Enabled         bool
	DisabledReason  *string `json:"disabled_reason"`
	Endpoint        struct{ Pending, Dead int }
}

// delivery is the delivery of a change to a webhook.
type delivery struct {
	ID      string
	Seq     int64
	State   string
	DueAt   *time.Time `json:"due_at"`
	History []struct {
		OK      bool
		Status  *int
		Error   *string
		Excerpt *string
	}
}

func createHook(t *testing.T, base, key, target string) (h hook) {
	t.Helper()
	demand(t, base, key, http.MethodPost, "/api/v1/webhooks", map[string]any{"url": target, "events": everyEvent}, &h, http.StatusCreated)
	return h
}

// isMessage reports whether an id is that of the delivery of a change to a webhook.
func isMessage(id, webhook string, seq int64) bool {
	cursor, ok := strings.CutPrefix(id, webhook+".")
	return ok && frame{id: cursor}.at(seq)
}

// frame is a part of a stream.
type frame struct{ id, name, data string }

// at reports whether the cursor of a frame is at a change.
func (f frame) at(seq int64) bool { return strings.HasSuffix(f.id, fmt.Sprintf("-%d", seq)) }

// event decodes the frame of a change. It returns false for other frames.
func (f frame) event() (e pushed, ok bool, err error) {
	if !slices.Contains(everyEvent, f.name) {
		return pushed{}, false, nil
	}
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		return pushed{}, false, err
	}
	if !f.at(e.Seq) || f.name != e.Event {
		return pushed{}, false, fmt.Errorf("frame of %+v: got id %s and event %s", e, f.id, f.name)
	}
	return e, true, nil
}

// listener reads a stream.
type listener struct {
	*http.Response
	lines *bufio.Reader
}

// listen opens a stream that continues after a change.
func listen(ctx context.Context, client *http.Client, base, key, after string) (*listener, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/stream?"+everyEventQuery(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("X-API-Key", key)
	req.Header.Set("Last-Event-ID", after)
	req.Header.Set("Accept-Encoding", "gzip") // the answer must not be compressed
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Encoding") != "" {
		resp.Body.Close()
		return nil, fmt.Errorf("the stream is answered with %s %v", resp.Status, resp.Header)
	}
	return &listener{resp, bufio.NewReader(resp.Body)}, nil
}

// next returns the next frame. As the standard requires, an incomplete frame is
// dropped.
func (l *listener) next() (f frame, err error) {
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return frame{}, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.name = value
		case "data":
			f.data += value
		case "":
			return f, nil
		}
	}
}

// until reads events up to a change.
func (l *listener) until(newest int64) (seen []pushed, err error) {
	for len(seen) == 0 || seen[len(seen)-1].Seq < newest {
		f, err := l.next()
		if err != nil {
			return seen, err
		}
		e, ok, err := f.event()
		if err != nil {
			return seen, err
		}
		if ok {
			seen = append(seen, e)
		}
	}
	return seen, nil
}

// fleet is some replicas of serve, which are killed and started again.
type fleet struct {
	spec, dir string
	args      []string
	sights    []*sight // one for each

	mu     sync.Mutex
	serves []*service // guarded by mu
}

// sight is the connection of one replica to the source, which can be cut.
type sight struct {
	url   string
	blind atomic.Bool
}

func newSight(t *testing.T, origin string) *sight {
	t.Helper()
	target, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	proxy, s := httputil.NewSingleHostReverseProxy(target), &sight{}
	proxy.ErrorLog = log.New(io.Discard, "", 0) // the source fails on purpose
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.blind.Load() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (f *fleet) startAll(t *testing.T) {
	t.Helper()
	f.serves = make([]*service, len(f.sights))
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, s := range f.serves {
			if s != nil {
				_ = s.cmd.Process.Kill()
			}
		}
	})
	for i := range f.sights {
		if err := f.start(i); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fleet) start(i int) error {
	s, err := startService([]string{"PREGON_STORE=" + f.spec}, f.dir, slices.Concat(f.args, sourceArgs(f.sights[i].url))...)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serves[i] = s
	return nil
}

// restart kills a replica without warning and starts it again.
func (f *fleet) restart(i int) error {
	f.mu.Lock()
	s := f.serves[i]
	f.mu.Unlock()
	_ = s.end(syscall.SIGKILL)
	return f.start(i)
}

// any returns the address of a random replica, which may just have died.
func (f *fleet) any() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.serves[rand.IntN(len(f.serves))].url
}

const comeBack = 50 * time.Millisecond // of clients, after something broke

// poll follows the change list until the context ends.
func (f *fleet) poll(ctx context.Context, key string, after int64, w *witness) {
	for ctx.Err() == nil {
		var list struct {
			Data      []pushed
			NextAfter int64 `json:"next_after"`
			Ahead     bool
		}
		path := fmt.Sprintf("/api/v1/changes?after=%d&limit=100&wait=2", after)
		status, err := call(ctx, f.any(), key, http.MethodGet, path, nil, &list)
		switch {
		case err != nil || status == http.StatusServiceUnavailable: // it is dead, or just starts
			waittest.Pace(ctx, comeBack)
			continue
		case status != http.StatusOK:
			w.protest(fmt.Errorf("changes after %d are answered with %d", after, status))
			return
		case list.Ahead: // another replica was quicker
			waittest.Pace(ctx, comeBack)
			continue
		}
		w.saw(list.Data...)
		after = list.NextAfter
	}
}

// follow listens until the context ends, and comes back with the last id.
func (f *fleet) follow(ctx context.Context, key string, after int64, w *witness) {
	last := strconv.FormatInt(after, 10)
	for ; ctx.Err() == nil; waittest.Pace(ctx, comeBack) {
		l, err := listen(ctx, http.DefaultClient, f.any(), key, last)
		if err != nil {
			continue // it is dead, or just starts
		}
		last = l.record(last, w)
		l.Body.Close()
	}
}

// record reads a stream to its end and returns its last id.
func (l *listener) record(last string, w *witness) string {
	for {
		f, err := l.next()
		if err != nil {
			return last
		}
		if f.name == "hello" && !strings.Contains(f.data, `"requested":null`) {
			if !strings.Contains(f.data, "ahead of all changes") {
				w.protest(fmt.Errorf("the cursor %s is not taken: %s", last, f.data))
			}
			return last // another replica was quicker
		}
		e, ok, err := f.event()
		if err != nil {
			w.protest(err)
		}
		if ok {
			w.saw(e)
		}
		if f.id != "" {
			last = f.id
		}
	}
}

// receiver takes webhooks and checks their signatures.
type receiver struct {
	witness // each change when it first came
	*httptest.Server
	hook  hook
	ready chan struct{} // closed when hook is known
	moody bool          // takes its time, and refuses one of a hundred changes, once

	ids     map[int64]string // guarded by witness.mu
	copies  int              // guarded by witness.mu
	refused map[string]bool  // guarded by witness.mu
}

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
	r.mu.Lock()
	defer r.mu.Unlock()
	switch other, known := r.ids[e.Seq]; {
	case !known:
		r.ids[e.Seq] = id
		r.seen = append(r.seen, e)
	case other != id:
		r.wrong = errors.Join(r.wrong, fmt.Errorf("change %d came as %s and as %s", e.Seq, other, id))
	default:
		r.copies++
	}
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
	if !r.moody && !slices.IsSortedFunc(seen, bySeq) {
		return fmt.Errorf("webhook: got events out of order: %v", seen)
	}
	slices.SortFunc(seen, bySeq)
	if err := (&witness{seen: seen}).complete(r.hook.StartsAfter, newest); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}

// pushPlay describes the load and the faults while clients listen.
type pushPlay struct {
	lasts  time.Duration
	every  time.Duration // between reports, about
	kills  time.Duration // between kills, about
	faults []string      // one of which is injected into the source now and then
	// moreHarm returns faults of replica i that are used as well as kills.
	moreHarm func(f *fleet) []func(i int) error
}

// TestPushAgrees kills serves while clients use the change list, the stream and
// webhooks. Each client must receive exactly the published reports.
func TestPushAgrees(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := pushPlay{lasts: 12 * time.Second, every: 100 * time.Millisecond, kills: 3 * time.Second}
			play.run(t, newStore(t), map[string]int{"sqlite": 1, "postgres": 2}[name], 2*patient)
		})
	}
}

func (p pushPlay) run(t *testing.T, spec string, replicas int, patience time.Duration) {
	t.Helper()
	src := startSource(t)
	f := &fleet{spec: spec, dir: t.TempDir(), args: []string{"--source", "cnmv", "--poll", "100ms", "--webhook-allow-private"}}
	for range replicas {
		s := &sight{url: src.url}
		if p.moreHarm != nil {
			s = newSight(t, src.url)
		}
		f.sights = append(f.sights, s)
	}
	f.startAll(t)
	harms := []func(int) error{f.restart}
	if p.moreHarm != nil {
		harms = append(harms, p.moreHarm(f)...)
	}
	r := newReader(t, src, spec)
	r.serve = f.serves[0]
	r.started(t)
	key := pregon(t, spec, "keys", "create", "--plan", "enterprise")
	from := disclosure.DayOf(time.Now()) - 30
	before := src.truth(t, from, from+31, disclosure.IP, disclosure.OIR)

	receivers := []*receiver{newReceiver(t, false), newReceiver(t, true)}
	for _, r := range receivers {
		r.register(t, f.any(), key)
	}
	after := receivers[0].hook.StartsAfter
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var streamed, polled witness
	go f.follow(ctx, key, after, &streamed)
	go f.poll(ctx, key, after, &polled)

	killed := make(chan error, 1)
	end := time.Now().Add(p.lasts)
	go func() { killed <- f.harmUntil(end, p.kills, harms) }()
	for n := 0; time.Now().Before(end); n++ {
		if len(p.faults) > 0 && n%50 == 0 {
			src.disarm(t)
			src.arm(t, p.faults[rand.IntN(len(p.faults))])
		}
		src.publish(t, `{"type":%q}`, []string{"oir", "ip", "oir"}[n%3])
		waittest.Pace(t.Context(), p.every/2+rand.N(p.every))
	}
	src.disarm(t)
	if err := <-killed; err != nil {
		t.Fatal(err)
	}

	filed := src.truth(t, from, from+31, disclosure.IP, disclosure.OIR)
	for id := range before {
		delete(filed, id)
	}
	agreed := func() error {
		newest, err := r.store.Newest(t.Context())
		if err != nil {
			return err
		}
		if err := errors.Join(streamed.complete(after, newest), polled.complete(after, newest)); err != nil {
			return err
		}
		for _, r := range receivers {
			if err := r.received(newest); err != nil {
				return err
			}
		}
		return same(filed, &streamed, &polled)
	}
	for deadline := time.Now().Add(patience); ; waittest.Pace(t.Context(), 200*time.Millisecond) {
		err := agreed()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			for i, s := range f.serves {
				t.Logf("the log of serve %d:\n%s", i, s.log.events())
			}
			t.Fatal(err)
		}
	}
	seen, _ := streamed.all()
	t.Logf("%d reports, %d changes, and %d and %d webhooks that came again", len(filed), len(seen), receivers[0].repeats(), receivers[1].repeats())
	for _, s := range f.serves {
		if err := s.end(syscall.SIGTERM); err != nil {
			t.Errorf("serve did not end cleanly: %v\n%s", err, s.log)
		}
	}
}

// harmUntil applies faults to replicas at random moments.
func (f *fleet) harmUntil(end time.Time, every time.Duration, harms []func(i int) error) error {
	for {
		waittest.Pace(context.Background(), every/2+rand.N(every))
		if time.Now().After(end) {
			return nil
		}
		if err := harms[rand.IntN(len(harms))](rand.IntN(len(f.sights))); err != nil {
			return err
		}
	}
}

// same returns an error unless the stream and the change list have the same events,
// and announce every report once and nothing else.
func same(filed map[string]apiReport, streamed, polled *witness) error {
	stream, _ := streamed.all()
	listed, _ := polled.all()
	if !slices.Equal(stream, listed) {
		return errors.New("the stream and the change list differ")
	}
	announced := map[string]int{}
	for _, e := range stream {
		// Later updates of a historical report have the same event.
		news := e.Event == string(disclosure.Published) || e.Event == string(disclosure.Backfilled) && e.Changed == 0
		if news && !strings.HasPrefix(e.ID, "hr-") { // those are seen within minutes
			announced[e.ID]++
		}
	}
	for id, n := range announced {
		if _, ok := filed[id]; !ok || n != 1 {
			return fmt.Errorf("%s was announced %d times, want 1; published: %v", id, n, ok)
		}
	}
	if len(announced) != len(filed) {
		return fmt.Errorf("announced reports: got %d, want %d", len(announced), len(filed))
	}
	return nil
}
