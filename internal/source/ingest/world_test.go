package ingest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	"pregon/internal/test/waittest"
)

// hurried holds short intervals for tests.
var hurried = intervals{
	failingBeforeYield: time.Second,
	probeInterval:      500 * time.Millisecond,
	dead:               time.Hour,
	retryAfterYield:    2 * time.Second,
	bidInterval:        time.Minute,
	compare:            10 * time.Second,
	compareNight:       10 * time.Second,
	grace:              500 * time.Millisecond,
	distrust:           time.Hour,
	instead:            500 * time.Millisecond,
	slowest:            500 * time.Millisecond,
	reconcile:          2 * time.Second,
	reconcileSoon:      200 * time.Millisecond,
	hr:                 2 * time.Second,
	sweep:              5 * time.Second,
	gaps:               300 * time.Millisecond,
	gapsAfter:          2 * time.Second,
	incomplete:         2 * time.Second,
	unresolved:         300 * time.Millisecond,
	retry:              500 * time.Millisecond,
	unread:             300 * time.Millisecond,
	reask:              time.Second,
	examine:            time.Millisecond,
	reread:             50 * time.Millisecond,
	starting:           time.Second,
	brief:              time.Second,
}

// world is a simulated source and a store on disk, with ingest between them.
type world struct {
	*testing.T
	url      string
	path     string
	store    store.Store
	cat      *catalog.Catalog
	coverage *coverage.Tracker
	end      func() // closes the store
	hasty    bool   // uses short request timeouts, for faults that hang
}

// testMarket is shared by all tests, since creating it is slow.
var testMarket = sync.OnceValue(func() *market.Market { return market.New(1) })

// begun is the file of a store with the first days and the directory loaded.
var begun struct {
	sync.Once
	file []byte
}

// newWorld returns a world whose store has the first days and the directory.
func newWorld(t *testing.T) *world {
	t.Helper()
	begun.Do(func() {
		w := newEmptyWorld(t)
		_, stop := w.start()
		stop()
		w.end()
		var err error
		if begun.file, err = os.ReadFile(w.path); err != nil {
			t.Fatal(err)
		}
	})
	path := filepath.Join(t.TempDir(), "pregon.db")
	if err := os.WriteFile(path, begun.file, 0o600); err != nil {
		t.Fatal(err)
	}
	return newWorldOf(t, path)
}

func newEmptyWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, filepath.Join(t.TempDir(), "pregon.db"))
}

func newWorldOf(t *testing.T, path string) *world {
	t.Helper()
	server, err := simserver.Open(simserver.Options{Market: testMarket(), Seed: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(server)
	t.Cleanup(func() {
		_ = server.Close() // first, so that answers that hang end
		site.CloseClientConnections()
		site.Close()
	})
	w := &world{T: t, url: site.URL, path: path}
	w.store = w.open()
	w.cat, w.coverage = catalog.New(w.store, slog.New(slog.DiscardHandler)), coverage.New(w.store)
	if err := errors.Join(w.cat.Load(t.Context()), w.coverage.Refresh(t.Context())); err != nil {
		t.Fatal(err)
	}
	catalogue, notes := w.run(w.cat.Follow), w.run(w.coverage.Follow)
	w.end = func() {
		catalogue()
		notes()
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// open opens the store once more, as another process would.
func (w *world) open() store.Store {
	w.Helper()
	db, err := sqlite.Open(w.Context(), w.path, sqlite.Options{Create: true})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = db.Close() })
	return db
}

// run runs a function until the test ends, or until stop is called.
func (w *world) run(what func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := what(ctx); !errors.Is(err, context.Canceled) {
			w.Errorf("run ended with %v, want context.Canceled", err)
		}
	}()
	stop = func() { cancel(); <-ended }
	w.Cleanup(stop)
	return stop
}

// newIngest returns an ingest of this world with short intervals.
func (w *world) newIngest(holder string) *Ingest {
	w.Helper()
	source, err := regulator.New(regulator.Options{
		Origin: w.url, UserAgent: "test", Queue: throttle.New(0), Transport: w.transport(),
	})
	if err != nil {
		w.Fatal(err)
	}
	listed, err := exchange.New(exchange.Options{Origin: w.url, UserAgent: "test"})
	if err != nil {
		w.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		logger = slog.New(slog.NewTextHandler(w.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	i := New(Options{
		Store: w.store, Coverage: w.coverage, Known: w.cat.Known(), Recent: w.cat.Known(), Regulator: source, Exchange: listed,
		Poll: 200 * time.Millisecond, Holder: holder, Logger: logger.With("holder", holder),
	})
	i.intervals = hurried
	i.monitor = health.NewMonitor(2 * time.Second)
	return i
}

// session returns a session whose loops do not run.
func (w *world) session() *session {
	w.Helper()
	i := w.newIngest("first")
	lease, err := tryLease(w.Context(), w.store, i.Holder)
	if err != nil {
		w.Fatal(err)
	}
	s, err := i.newSession(w.Context(), &lease)
	if err == nil {
		err = s.begin(w.Context())
	}
	if err != nil {
		w.Fatal(err)
	}
	w.eventually(func() error {
		_, err := s.Regulator.Feed(w.Context(), disclosure.IP, [32]byte{}) // so that the kind of source is known
		return err
	})
	if err := s.claim(w.Context()); err != nil {
		w.Fatal(err)
	}
	return s
}

// catchUp waits until the catalogue has a change.
func (w *world) catchUp(seq int64) {
	w.Helper()
	w.eventually(func() error {
		if at := w.cat.Snapshot().Seq(); at < seq {
			return fmt.Errorf("the catalogue is at %d, want %d", at, seq)
		}
		return nil
	})
}

// hasty is a transport with a shorter timeout than the client.
type hasty struct {
	*http.Transport
	within time.Duration
}

func (w *world) transport() hasty {
	within := time.Minute
	if w.hasty {
		within = 3 * time.Second
	}
	return hasty{http.DefaultTransport.(*http.Transport).Clone(), within}
}

func (h hasty) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), h.within)
	resp, err := h.Transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = hastyBody{resp.Body, cancel}
	return resp, nil
}

type hastyBody struct {
	io.ReadCloser
	cancel func()
}

func (b hastyBody) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

// start runs an ingest and waits until the first days are loaded.
func (w *world) start() (i *Ingest, stop func()) {
	w.Helper()
	i = w.newIngest("first")
	stop = w.run(i.Run)
	w.eventually(func() error {
		i.mu.Lock()
		defer i.mu.Unlock()
		if !Started(w.coverage) || i.session == nil {
			return errors.New("the first days are not loaded")
		}
		return nil
	})
	return i, stop
}

// patient is how long a test waits for a condition. It does not measure speed.
const patient = 10 * time.Minute

// eventually waits until the check passes.
func (w *world) eventually(check func() error) {
	w.Helper()
	waittest.ForNil(w, check)
}

// ask sends a request to the control API of the simulator.
func (w *world) ask(method, path, body string) string {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, answer, err)
	}
	return string(answer)
}

// publish publishes a report and returns its id.
func (w *world) publish(body string) string {
	w.Helper()
	var out struct{ ID string }
	if err := json.Unmarshal([]byte(w.ask(http.MethodPost, "/_sim/publish", body)), &out); err != nil {
		w.Fatal(err)
	}
	return out.ID
}

func (w *world) arm(body string) { w.ask(http.MethodPost, "/_sim/fault", body) }
func (w *world) disarm()         { w.ask(http.MethodDelete, "/_sim/fault", "") }
func (w *world) report(id string) *disclosure.Report {
	w.Helper()
	found, err := w.store.Reports(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	if len(found) == 0 {
		return nil
	}
	return &found[0]
}

func today() disclosure.Day { return disclosure.DayOf(time.Now()) }

// filed is a report as the simulator published it.
type filed struct {
	ID          string
	Type        disclosure.Type
	CompanyName string `json:"company_name"`
	NIF         string
	Title       string
	Category    string
	PublishedAt time.Time `json:"published_at"`
	PDFURL      string    `json:"pdf_url"`
	SourceURL   string    `json:"source_url"`
	Related     []struct{ ID string }
}

// truth returns the reports that the simulator published from one day to
// another. The simulator generates each day again, so request only the days needed.
func (w *world) truth(from, to disclosure.Day, types ...disclosure.Type) (out []filed) {
	w.Helper()
	for _, t := range types {
		query := url.Values{"type": {strings.ToLower(string(t))}, "from": {from.String()}, "to": {to.String()}}
		lines := bufio.NewScanner(strings.NewReader(w.ask(http.MethodGet, "/_sim/filings?"+query.Encode(), "")))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var f filed
			if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
				w.Fatal(err)
			}
			out = append(out, f)
		}
	}
	return out
}

// exact returns an error unless the store has exactly the reports that the simulator
// published since a day, with the same text and times.
func (w *world) exact(from disclosure.Day, types ...disclosure.Type) error {
	have := map[string]disclosure.Report{}
	if _, err := w.store.Current(w.Context(), func(c disclosure.Change) error {
		if c.Report != nil && slices.Contains(types, c.Report.Type) && disclosure.DayOf(c.Report.PublishedAt) >= from {
			have[c.Report.ID] = *c.Report
		}
		return nil
	}); err != nil {
		return err
	}
	for _, want := range w.truth(from, today(), types...) {
		r, ok := have[want.ID]
		if !ok {
			return fmt.Errorf("%s of %v is missing", want.ID, want.PublishedAt)
		}
		delete(have, want.ID)
		if err := want.differs(&r); err != nil {
			return err
		}
	}
	for id, r := range have {
		return fmt.Errorf("%s of %v was never published", id, r.PublishedAt)
	}
	return nil
}

// differs compares a report with the published one. History has a precision of
// minutes.
func (f filed) differs(r *disclosure.Report) error {
	got := filed{
		ID: r.ID, Type: r.Type, CompanyName: r.CompanyName, NIF: r.NIF, Title: r.Title,
		Category: strings.Join(strings.Fields(r.Category), " "), PublishedAt: r.PublishedAt, PDFURL: r.PDFURL, SourceURL: r.SourceURL,
	}
	f.Category = strings.Join(strings.Fields(f.Category), " ")
	f.Related = nil
	f.PublishedAt = f.PublishedAt.UTC()
	if r.TimeFrom == disclosure.FromList && r.Backfilled {
		f.PublishedAt = f.PublishedAt.Truncate(time.Minute)
	}
	if diff := cmp.Diff(f, got); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", r.ID, diff)
	}
	return nil
}

// once checks that every report was announced exactly once.
func (w *world) once() {
	w.Helper()
	announced := map[string]int{}
	for after := int64(0); ; {
		changes, err := w.store.Changes(w.Context(), after, 1000)
		if err != nil {
			w.Fatal(err)
		}
		for _, c := range changes {
			after = c.Seq
			if c.Report != nil && len(c.Changed) == 0 {
				announced[c.Report.ID]++
			}
		}
		if len(changes) < 1000 {
			break
		}
	}
	for id, n := range announced {
		if n != 1 {
			w.Errorf("%s was announced %d times, want 1", id, n)
		}
	}
}

// whole waits until the store is exact, and checks that each report was announced
// once.
func (w *world) whole() {
	w.Helper()
	from := today() - 7
	w.eventually(func() error {
		// A new store begins with the HR of the latest pages only.
		return errors.Join(w.exact(from, disclosure.IP, disclosure.OIR), w.exact(from+7, disclosure.HR))
	})
	w.once()
}

// state waits until the status of the source is one of the states.
func (w *world) state(want ...health.State) health.Status {
	w.Helper()
	var status health.Status
	w.eventually(func() error {
		var ok bool
		if status, ok = w.coverage.Status(); !ok || !slices.Contains(want, status.State) {
			return fmt.Errorf("the source is %q because of %v, want %v", status.State, status.Reasons, want)
		}
		return nil
	})
	return status
}
