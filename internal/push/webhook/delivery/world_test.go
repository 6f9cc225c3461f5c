package delivery_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook"
	"pregon/internal/push/webhook/delivery"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/sqlite"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

const ownerID = "key_owner"

// The accounts of most tests.
var (
	owner = access.WholeAccount(ownerID)
	other = access.WholeAccount("key_other")
)

// quick has the intervals of most tests: milliseconds instead of minutes. Timeouts
// are long, so that nothing times out on a slow machine.
var quick = delivery.Pace{
	SendTimeout: 5 * time.Minute, ClaimFor: 5 * time.Minute, Delay: 20 * time.Millisecond, Rest: time.Millisecond,
	Poll: 20 * time.Millisecond, Grace: 5 * time.Minute, LastWrites: time.Minute,
}

// trail is an audit or other log that tests can read.
type trail struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (l *trail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *trail) record(ctx context.Context, event string, attrs ...slog.Attr) {
	slog.New(slog.NewTextHandler(l, nil)).LogAttrs(ctx, slog.LevelInfo, event, attrs...)
}

func (l *trail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *trail) count(event string) int { return strings.Count(l.String(), "msg="+event+" ") }

// process is one of the processes that share a store.
type process struct {
	*webhook.Manager
	db    store.Store
	audit *trail
	stop  func()
}

// world is a store and its processes.
type world struct {
	path     string
	postgres string // the address of a database to use instead of path
	next     int64  // number of the next report
}

func (w *world) open() (store.Store, error) {
	if w.postgres != "" {
		return postgres.Open(context.Background(), w.postgres)
	}
	return sqlite.Open(context.Background(), w.path, sqlite.Options{Create: true})
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{path: filepath.Join(t.TempDir(), "pregon.db")}
}

// process starts a process on the store, after change has modified its options.
func (w *world) process(t testing.TB, pace delivery.Pace, change func(*webhook.Options)) *process {
	t.Helper()
	p := w.idle(t, pace, change)
	p.run(t)
	return p
}

// idle returns a process that does not run.
func (w *world) idle(t testing.TB, pace delivery.Pace, change func(*webhook.Options)) *process {
	t.Helper()
	db, err := w.open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	log := slog.New(slog.DiscardHandler)
	c := catalog.New(db, log)
	hub := events.NewHub(c, db)
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	background(t, c.Follow)
	p := &process{db: db, audit: &trail{}}
	o := webhook.Options{Store: db, Sealer: testBox(t), Encoder: hub, AllowPrivate: true, Logger: log, Audit: p.audit.record, UserAgent: "pregon/test"}
	if change != nil {
		change(&o)
	}
	p.Manager = webhook.New(o)
	p.Hasten(pace)
	return p
}

// testBox encrypts the secrets of all processes.
func testBox(t testing.TB) *secret.Box {
	t.Helper()
	box, err := secret.NewBox("a key that is long enough to be one")
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func (p *process) run(t testing.TB) {
	t.Helper()
	p.stop = background(t, p.Run)
}

// background calls run until the test ends or stop is called.
func background(t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("run returned %v", err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// publish appends reports, and returns the seq of the last.
func (w *world) publish(t testing.TB, db store.Store, n int, change ...func(*disclosure.Report)) int64 {
	t.Helper()
	b := store.Batch{}
	for range n {
		w.next++
		r := disclosure.Report{
			Type: disclosure.OIR, Number: w.next, CompanyName: "IBERDROLA, S.A.", NIF: "A-48010615",
			Title: fmt.Sprintf("Report %d", w.next), PublishedAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Add(time.Duration(w.next) * time.Second),
		}
		for _, f := range change {
			f(&r)
		}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		b.Reports = append(b.Reports, r)
	}
	out, err := db.Append(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return out.Seq
}

// request is a request that a receiver got.
type request struct {
	id     string
	header http.Header
	body   []byte
	at     time.Time
}

// receiver is the server of a subscriber.
type receiver struct {
	url    string
	answer atomic.Value // func(http.ResponseWriter, *http.Request, int), with the number of requests with this id

	mu   sync.Mutex
	got  []request      // guarded by mu
	seen map[string]int // guarded by mu
	busy int            // guarded by mu
	most int            // guarded by mu: concurrent requests
}

func newReceiver(t testing.TB, answer func(http.ResponseWriter, *http.Request, int)) *receiver {
	t.Helper()
	r := &receiver{seen: map[string]int{}}
	r.set(answer)
	server := httptest.NewServer(r)
	r.url = server.URL + "/hook?password=hunter2"
	t.Cleanup(server.Close)
	return r
}

func (r *receiver) set(answer func(http.ResponseWriter, *http.Request, int)) { r.answer.Store(answer) }

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	id := req.Header.Get("webhook-id")
	r.mu.Lock()
	r.got = append(r.got, request{id, req.Header.Clone(), body, time.Now()})
	r.seen[id]++
	n := r.seen[id]
	r.busy++
	r.most = max(r.most, r.busy)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.busy--
		r.mu.Unlock()
	}()
	r.answer.Load().(func(http.ResponseWriter, *http.Request, int))(w, req, n)
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

var epochInID = regexp.MustCompile(`\.[a-z0-9]+-([0-9]+)$`)

// ids returns the ids of the requests without epochs.
func (r *receiver) ids() (ids []string) {
	for _, q := range r.requests() {
		ids = append(ids, epochInID.ReplaceAllString(q.id, ".$1"))
	}
	return ids
}

// status always responds with code.
func status(code int) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(code) }
}

func ok(http.ResponseWriter, *http.Request, int) {}

// create creates a webhook of the owner.
func create(t testing.TB, p *process, r *receiver, change ...func(*webhook.Draft)) (webhook.Webhook, string) {
	t.Helper()
	d := webhook.Draft{URL: r.url, Enabled: true}
	for _, f := range change {
		f(&d)
	}
	w, raw, err := p.Create(t.Context(), owner, d)
	if err != nil {
		t.Fatal(err)
	}
	return w, raw
}

// until waits for a condition that must become true.
func until(t testing.TB, what string, true func() bool) {
	t.Helper()
	waittest.For(t, what, true)
}

// settled waits until a webhook has n deliveries and none is pending, and returns
// them, the oldest first.
func settled(t testing.TB, p *process, id string, n int) []store.Delivered {
	t.Helper()
	var all []store.Delivered
	until(t, fmt.Sprintf("%d deliveries that are done", n), func() bool {
		if _, e, err := p.Get(t.Context(), owner, id); err != nil || e.Pending > 0 {
			return false
		}
		all = deliveries(t, p, id)
		return len(all) == n && !slices.ContainsFunc(all, func(d store.Delivered) bool { return d.State == store.DeliveryPending })
	})
	return all
}

func deliveries(t testing.TB, p *process, id string) []store.Delivered {
	t.Helper()
	all, err := p.Deliveries(t.Context(), owner, id, store.DeliveryQuery{Limit: 5000})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

// handedOut waits until every change has been fanned out.
func handedOut(t testing.TB, p *process) {
	t.Helper()
	newest, err := p.db.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the log is handed out", func() bool {
		fanned, err := p.db.Fanned(t.Context(), store.ForWebhooks)
		return err == nil && fanned == newest
	})
}

// wanted returns the ids of the deliveries after one seq up to another.
func wanted(id string, after, upTo int64) (ids []string) {
	for seq := after + 1; seq <= upTo; seq++ {
		ids = append(ids, fmt.Sprintf("%s.%d", id, seq))
	}
	return ids
}

// verify checks a signature without code of the package.
func verify(t testing.TB, q request, secret string) bool {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) != 32 {
		t.Fatalf("the secret %q: %v", secret, err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", q.header.Get("webhook-id"), q.header.Get("webhook-timestamp"), q.body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return slices.Contains(strings.Split(q.header.Get("webhook-signature"), " "), want)
}

// flaky is a store whose calls fail at random, before or after they take effect.
// Once dead, they always fail.
type flaky struct {
	webhook.Store
	often float64
	dead  atomic.Bool
}

var errFlaky = errors.New("the store does not answer")

func (f *flaky) do(do func() error) error {
	if f.dead.Load() || rand.Float64() < f.often {
		return errFlaky
	}
	if err := do(); err != nil {
		return err
	}
	if f.dead.Load() || rand.Float64() < f.often {
		return errFlaky
	}
	return nil
}

func (f *flaky) Fanned(ctx context.Context, of store.Consumer) (seq int64, err error) {
	err = f.do(func() (err error) { seq, err = f.Store.Fanned(ctx, of); return err })
	return seq, err
}

func (f *flaky) FanOut(ctx context.Context, o store.FanOut) error {
	return f.do(func() error { return f.Store.FanOut(ctx, o) })
}

func (f *flaky) Claim(ctx context.Context, c store.Claim) (claimed []store.Claimed, err error) {
	err = f.do(func() (err error) { claimed, err = f.Store.Claim(ctx, c); return err })
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

func (f *flaky) Renew(ctx context.Context, holder string, ttl time.Duration, webhooks ...string) (held []string, err error) {
	err = f.do(func() (err error) { held, err = f.Store.Renew(ctx, holder, ttl, webhooks...); return err })
	return held, err
}

func (f *flaky) Release(ctx context.Context, holder string, webhooks ...string) error {
	return f.do(func() error { return f.Store.Release(ctx, holder, webhooks...) })
}

func (f *flaky) Settle(ctx context.Context, results ...store.Result) error {
	return f.do(func() error { return f.Store.Settle(ctx, results...) })
}

func (f *flaky) ChangesAt(ctx context.Context, seqs ...int64) (changes []disclosure.Change, err error) {
	err = f.do(func() (err error) { changes, err = f.Store.ChangesAt(ctx, seqs...); return err })
	if err != nil {
		return nil, err
	}
	return changes, nil
}

func (f *flaky) RecordsSince(ctx context.Context, kind string, revision int64) (records []store.Record, err error) {
	err = f.do(func() (err error) { records, err = f.Store.RecordsSince(ctx, kind, revision); return err })
	if err != nil {
		return nil, err
	}
	return records, nil
}
