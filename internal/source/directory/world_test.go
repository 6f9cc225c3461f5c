package directory

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
	"pregon/internal/sim/simserver"
	"pregon/internal/source/coverage"
	"pregon/internal/source/exchange"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

// world is a simulated source and a store, with a catalogue that follows it.
type world struct {
	*testing.T
	url      string
	cat      *catalog.Catalog
	coverage *coverage.Tracker
	monitor  *health.Monitor

	mu    sync.Mutex
	store store.Store // guarded by mu
	fail  error       // guarded by mu: of Append
}

// testMarket is shared by all tests: creating it takes a moment.
var testMarket = sync.OnceValue(func() *market.Market { return market.New(1) })

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := simserver.Open(simserver.Options{Market: testMarket(), Seed: 1, Logger: slog.New(slog.DiscardHandler)})
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
	w := &world{T: t, url: site.URL, store: db, monitor: health.NewMonitor(time.Minute)}
	w.cat, w.coverage = catalog.New(db, slog.New(slog.DiscardHandler)), coverage.New(db)
	if err := w.cat.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		_ = w.cat.Follow(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-followed
		_ = db.Close()
	})
	return w
}

// refresher returns a Refresher of this world.
func (w *world) refresher() *Refresher {
	w.Helper()
	source, err := regulator.New(regulator.Options{Origin: w.url, UserAgent: "test", Queue: throttle.New(0)})
	if err != nil {
		w.Fatal(err)
	}
	listed, err := exchange.New(exchange.Options{Origin: w.url, UserAgent: "test"})
	if err != nil {
		w.Fatal(err)
	}
	lease, err := w.store.AcquireLease(w.Context(), "test", "test", time.Hour)
	if err != nil {
		w.Fatal(err)
	}
	return New(Options{
		Coverage: w.coverage, Lease: &lease, Known: w.cat.Known(), Regulator: source, Exchange: listed,
		Monitor: w.monitor, Logger: slog.New(slog.DiscardHandler), Append: w.append, RecordRead: w.recordRead,
	})
}

func (w *world) append(ctx context.Context, issuers []disclosure.Issuer) error {
	w.mu.Lock()
	err := w.fail
	w.mu.Unlock()
	if err == nil {
		_, err = w.store.Append(ctx, store.Batch{Issuers: issuers})
	}
	return w.recordRead(ctx, health.Store, time.Time{}, store.Unavailable(err))
}

// failAppend sets the error of Append, nil for none.
func (w *world) failAppend(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

func (w *world) recordRead(_ context.Context, surface string, _ time.Time, err error) error {
	if err == nil {
		w.monitor.OK(surface)
	} else {
		w.monitor.Fail(surface, regulator.Reason(err), regulator.IsMarkup(err))
	}
	return err
}

// surface returns the state of a surface in the monitor.
func (w *world) surface(name string) health.Surface {
	status, _ := w.monitor.Status()
	for _, s := range status.Surfaces {
		if s.Name == name {
			return s
		}
	}
	return health.Surface{}
}

// add stores an issuer and waits until the catalogue has it.
func (w *world) add(i disclosure.Issuer) {
	w.Helper()
	if _, err := w.store.Append(w.Context(), store.Batch{Issuers: []disclosure.Issuer{i}}); err != nil {
		w.Fatal(err)
	}
	w.log()
}

// log returns the length of the log, once the catalogue has all of it.
func (w *world) log() int64 {
	w.Helper()
	if err := w.cat.Known().CatchUp(w.Context()); err != nil {
		w.Fatal(err)
	}
	seq, err := w.store.Newest(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return seq
}

// issuer returns a stored issuer.
func (w *world) issuer(key string) disclosure.Issuer {
	w.Helper()
	w.log()
	i, ok := w.cat.Known().Issuer(key)
	if !ok {
		w.Errorf("issuer %s: got none, want one", key)
	}
	return i
}
