package registers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract/xls"
	"pregon/internal/fault"
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
	"pregon/internal/source/coverage"
	"pregon/internal/source/docfetch"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/test/waittest"
)

// hurried are short intervals for tests.
var hurried = intervals{
	shorts:       50 * time.Millisecond,
	shortsSoon:   50 * time.Millisecond,
	dealings:     200 * time.Millisecond,
	dealingsIdle: 200 * time.Millisecond,
	sweep:        time.Hour,
	unread:       100 * time.Millisecond,
	reread:       20 * time.Millisecond,
	pace:         time.Millisecond,
	lastDays:     200 * time.Millisecond,
	issuer:       time.Hour,
	identity:     time.Hour,
	soon:         500 * time.Millisecond,
	former:       500 * time.Millisecond,
	next:         20 * time.Millisecond,
	erase:        500 * time.Millisecond,
	pause:        0,
	firstRetry:   20 * time.Millisecond,
	longestRetry: 100 * time.Millisecond,
}

// testMarket is shared by all tests: creating it takes a moment.
var testMarket = sync.OnceValue(func() *market.Market { return market.New(1) })

// world is a simulated regulator and a store, with a catalogue that follows it.
type world struct {
	*testing.T
	site      *simserver.Server
	url       string
	store     store.Store
	cat       *catalog.Catalog
	coverage  *coverage.Tracker
	documents *document.Keeper // nil: documents are not read
	retention int
	appended  func() error // called before every append; an error ends it

	mu     sync.Mutex
	failed map[string][]string // guarded by mu: errors of surfaces
}

// newWorld returns a world whose directory has the companies of the market, unless some are
// given.
func newWorld(t *testing.T, companies ...disclosure.Issuer) *world {
	t.Helper()
	server, err := simserver.Open(simserver.Options{
		Market: testMarket(),
		Seed:   1,
		Shorts: simserver.ShortsOptions{Size: 400, Every: -1},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(server)
	t.Cleanup(func() {
		_ = server.Close() // first, so that pending answers end
		site.CloseClientConnections()
		site.Close()
	})
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		T:         t,
		site:      server,
		url:       site.URL,
		store:     db,
		cat:       catalog.New(db, slog.New(slog.DiscardHandler)),
		coverage:  coverage.New(db),
		retention: MaxRetention,
		failed:    map[string][]string{},
	}
	if err := errors.Join(w.cat.Load(t.Context()), w.coverage.Refresh(t.Context())); err != nil {
		t.Fatal(err)
	}
	if len(companies) == 0 {
		companies = listedCompanies()
	}
	if _, err := db.Append(t.Context(), store.Batch{Issuers: companies}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var follower sync.WaitGroup
	follower.Go(func() { _ = w.cat.Follow(ctx) })
	t.Cleanup(func() {
		cancel()
		follower.Wait()
		_ = db.Close()
	})
	if err := w.cat.Known().CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// listedCompanies returns some companies of the market that are listed.
func listedCompanies() (out []disclosure.Issuer) {
	const enough = 6
	for _, i := range testMarket().Issuers() {
		if i.Kind == disclosure.Company && isListed(&i) && len(out) < enough {
			out = append(out, i)
		}
	}
	return out
}

// reader returns a reader of some registers, with short intervals and without a lease.
func (w *world) reader(names ...Name) *Reader {
	w.Helper()
	client, err := regulator.New(regulator.Options{Origin: w.url, UserAgent: "test", Queue: throttle.New(0)})
	if err != nil {
		w.Fatal(err)
	}
	if _, err := client.Feed(w.Context(), disclosure.IP, [32]byte{}); err != nil { // so that the kind of source is known
		w.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		logger = slog.New(slog.NewTextHandler(w.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	r := New(Options{
		Settings: Settings{
			Read:      names,
			Retention: w.retention,
		},
		Store:      w.store,
		Coverage:   w.coverage,
		Known:      w.cat.Known(),
		Regulator:  client,
		Documents:  w.documents,
		Workbook:   func(_ context.Context, b []byte) (xls.Book, error) { return xls.Read(b) },
		Logger:     logger,
		Failure:    docfetch.Failed,
		Append:     w.append,
		RecordRead: w.record,
	})
	r.intervals = hurried
	return r
}

func (w *world) append(ctx context.Context, b store.Batch) error {
	if w.appended != nil {
		if err := w.appended(); err != nil {
			return err
		}
	}
	_, err := w.store.Append(ctx, b)
	return err
}

func (w *world) record(ctx context.Context, surface string, _ time.Time, err error) error {
	if err != nil && ctx.Err() == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed[surface] = append(w.failed[surface], fmt.Sprint(err, " ", regulator.Cause(err)))
	}
	return err
}

// failures returns the errors of a surface.
func (w *world) failures(surface string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.failed[surface])
}

// run runs a reader until a condition holds.
func (w *world) run(r *Reader, until func() error) {
	w.Helper()
	stop := w.start(r)
	defer stop()
	w.eventually(until)
}

// start runs a reader until it is stopped.
func (w *world) start(r *Reader) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
			w.Errorf("Run ended with %v", err)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// eventually waits until check returns nil.
func (w *world) eventually(check func() error) {
	w.Helper()
	waittest.ForNil(w.T, func() error {
		err := check()
		if err == nil {
			return nil
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Errorf("%w; failures: %v", err, w.failed)
	})
}

// positions returns the positions of a kind, by id.
func (w *world) positions(kind disclosure.PositionKind) map[string]*disclosure.Position {
	w.Helper()
	if err := w.cat.Known().CatchUp(w.Context()); err != nil {
		w.Fatal(err)
	}
	out := map[string]*disclosure.Position{}
	for p := range w.cat.Known().Positions(kind) {
		out[p.ID] = p
	}
	return out
}

// events returns the events of positions after a seq, and how often each occurs.
func (w *world) events(after int64) map[disclosure.Event]int {
	w.Helper()
	out := map[disclosure.Event]int{}
	for {
		changes, err := w.store.Changes(w.Context(), after, 1000)
		if err != nil {
			w.Fatal(err)
		}
		for _, c := range changes {
			after = c.Seq
			if c.Position != nil {
				out[c.Event]++
			}
		}
		if len(changes) < 1000 {
			return out
		}
	}
}

// newest returns the newest seq.
func (w *world) newest() int64 {
	w.Helper()
	seq, err := w.store.Newest(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return seq
}

// arm makes the simulated site fail.
func (w *world) arm(fault string) {
	w.Helper()
	w.control(http.MethodPost, fault)
}

// disarm ends the faults of the site.
func (w *world) disarm() {
	w.Helper()
	w.control(http.MethodDelete, "")
}

func (w *world) control(method, body string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+"/_sim/fault", bytes.NewBufferString(body))
	if err != nil {
		w.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		w.Fatalf("%s /_sim/fault: %s", method, answer.Status)
	}
}

// unavailable is an error of a store that does not answer.
var unavailable = fault.New(fault.Unavailable, "the store does not answer")
