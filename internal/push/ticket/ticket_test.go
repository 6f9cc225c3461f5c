package ticket_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/push/ticket"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// onEngines runs a test with a store of each engine.
func onEngines(t *testing.T, test func(*testing.T, *world)) {
	for name, newAddress := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "pregon.db") },
		"postgres": func(t *testing.T) string { return pgtest.Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, newAddress(t)))
		})
	}
}

// world is a store that processes share, and their clock.
type world struct {
	t     *testing.T
	db    store.Store
	start time.Time
	moved atomic.Int64
}

func newWorld(t *testing.T, address string) *world {
	t.Helper()
	at, err := engine.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	db, err := at.Open(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &world{
		t:     t,
		db:    db,
		start: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC),
	}
}

func (w *world) now() time.Time { return w.start.Add(time.Duration(w.moved.Load())) }

// wait moves the clock.
func (w *world) wait(d time.Duration) { w.moved.Add(int64(d)) }

// process returns a process on the store.
func (w *world) process() *ticket.Registry {
	w.t.Helper()
	r := ticket.New(ticket.Options{Store: w.db, Now: w.now})
	if err := r.Refresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// following returns a process that follows the store until the test ends.
func (w *world) following() *ticket.Registry {
	r := w.process()
	ctx, stop := context.WithCancel(context.Background())
	var loop sync.WaitGroup
	loop.Go(func() { _ = r.Maintain(ctx) })
	w.t.Cleanup(func() { stop(); loop.Wait() })
	return r
}

var (
	ana = access.Principal{
		ID:         "key_ana",
		Mode:       access.ByKey,
		Scope:      access.ReadReports,
		Credential: "key_ana",
		Key:        "key_ana",
	}
	inside = events.Selection{
		Events: []disclosure.Event{disclosure.Published},
		Filter: disclosure.Filter{Type: disclosure.IP, Search: "dividendo"},
	}
)

// create makes a ticket of ana.
func (w *world) create(r *ticket.Registry) string {
	w.t.Helper()
	_, text, err := r.Create(w.t.Context(), ana, inside)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

// places counts the open streams.
type places struct{ n atomic.Int64 }

func (p *places) acquire() (func(), error) {
	p.n.Add(1)
	return func() { p.n.Add(-1) }, nil
}

// connect opens a connection with a ticket.
func (w *world) connect(r *ticket.Registry, text string, p *places) *ticket.Connection {
	w.t.Helper()
	found, err := r.Find(w.t.Context(), text)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := r.Connect(w.t.Context(), found, p.acquire)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

func ended(c *ticket.Connection) bool {
	select {
	case <-c.Ended():
		return true
	default:
		return false
	}
}

// A ticket that one process made is known to another, with its caller and its selection.
func TestFindElsewhere(t *testing.T) {
	onEngines(t, func(t *testing.T, w *world) {
		one, other := w.process(), w.process()
		found, err := other.Find(t.Context(), w.create(one))
		if err != nil {
			t.Fatal(err)
		}
		if found.Caller != ana || found.Selection.Filter != inside.Filter ||
			!slices.Equal(found.Selection.Events, inside.Events) {
			t.Errorf("the other process knows %+v", found)
		}
	})
}

// The store does not have the text of a ticket.
func TestStoredByDigest(t *testing.T) {
	onEngines(t, func(t *testing.T, w *world) {
		text := w.create(w.process())
		records, err := w.db.RecordsSince(t.Context(), "stream-ticket", 0)
		if err != nil || len(records) != 1 {
			t.Fatal(records, err)
		}
		if strings.Contains(records[0].Body+records[0].ID, text[10:]) {
			t.Errorf("the record has the ticket: %s", records[0].Body)
		}
	})
}

// A text that differs in one character, or is not whole, opens nothing.
func TestChangedText(t *testing.T) {
	w := newWorld(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	r := w.process()
	text := w.create(r)
	for i := range text {
		changed := []byte(text)
		changed[i] = 'x'
		if text[i] == 'x' {
			changed[i] = 'y'
		}
		if _, err := r.Find(t.Context(), string(changed)); err == nil {
			t.Fatalf("%q opens what %q does", changed, text)
		}
	}
	for _, wrong := range []string{"", ticket.Prefix, text[:len(text)-1], text + "0", strings.ToUpper(text)} {
		if _, err := r.Find(t.Context(), wrong); err == nil {
			t.Errorf("%q opens a stream", wrong)
		}
	}
}

// A ticket waits a minute for its first use, and is valid for 15 minutes from then on.
func TestExpiry(t *testing.T) {
	onEngines(t, func(t *testing.T, w *world) {
		one, other := w.process(), w.process()
		unused, used := w.create(one), w.create(one)
		w.wait(ticket.FirstUse - time.Second)
		w.connect(one, used, &places{})
		w.wait(time.Second)
		if _, err := one.Find(t.Context(), unused); err == nil || !strings.Contains(err.Error(), "within a minute") {
			t.Errorf("a ticket that was not used: %v", err)
		}
		w.wait(ticket.Reuse - 2*time.Second)
		w.connect(other, used, &places{}) // 14:59 after the first use
		w.wait(time.Second)
		for _, r := range []*ticket.Registry{one, other} {
			if err := r.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Find(t.Context(), used); err == nil || !strings.Contains(err.Error(), "15 minutes") {
				t.Errorf("15 minutes after the first use: %v", err)
			}
		}
	})
}

// A newer connection ends the older one, in this process at once and in another one soon.
func TestOneConnection(t *testing.T) {
	onEngines(t, func(t *testing.T, w *world) {
		one, other := w.following(), w.following()
		text, unrelated := w.create(one), w.create(one)
		var p places
		bystander := w.connect(one, unrelated, &p)
		first := w.connect(one, text, &p)
		second := w.connect(one, text, &p)
		if !ended(first) || ended(second) {
			t.Errorf("on one replica: %v, %v; want the first one ended", ended(first), ended(second))
		}
		if n := p.n.Load(); n != 2 {
			t.Errorf("%d places are taken, want 2", n)
		}
		var elsewhere places
		third := w.connect(other, text, &elsewhere)
		waittest.For(t, "the connection to another replica did not end", func() bool { return ended(second) })
		if ended(third) || ended(bystander) {
			t.Errorf("the newest one ended: %v; that of another ticket: %v", ended(third), ended(bystander))
		}
		third.Close()
		if n := elsewhere.n.Load(); n != 0 {
			t.Errorf("%d places are taken after the end", n)
		}
	})
}

// Of connections that are opened at the same time on two replicas, one stays.
func TestConcurrentConnections(t *testing.T) {
	onEngines(t, func(t *testing.T, w *world) {
		replicas := []*ticket.Registry{w.following(), w.following()}
		text := w.create(replicas[0])
		var mu sync.Mutex
		var open []*ticket.Connection // guarded by mu
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				r := replicas[i%2]
				found, err := r.Find(t.Context(), text)
				if err != nil {
					t.Error(err)
					return
				}
				c, err := r.Connect(t.Context(), found, (&places{}).acquire)
				if fault.KindOf(err) == fault.Unavailable {
					return // others were faster, again and again
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				open = append(open, c)
			})
		}
		all.Wait()
		waittest.For(t, "not exactly one connection stays", func() bool {
			left := 0
			for _, c := range open {
				if !ended(c) {
					left++
				}
			}
			return left == 1
		})
		for _, c := range open {
			c.Close()
		}
	})
}

// A connection that finds no place does not stay.
func TestNoPlace(t *testing.T) {
	w := newWorld(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	r := w.process()
	found, err := r.Find(t.Context(), w.create(r))
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	if _, err := r.Connect(t.Context(), found, func() (func(), error) { return nil, full }); !errors.Is(err, full) {
		t.Errorf("connected: %v", err)
	}
}

// Expired records are removed, and their ids are used again: the store does not grow.
func TestRemoveExpired(t *testing.T) {
	onEngines(t, func(t *testing.T, w *world) {
		one, other := w.process(), w.process()
		for range 3 {
			ids := map[string]bool{}
			for range 5 {
				w.create(one)
			}
			kept := w.create(one)
			w.wait(ticket.FirstUse / 2)
			w.connect(one, kept, &places{})
			w.wait(ticket.FirstUse * 2)
			if err := other.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := other.RemoveExpired(t.Context()); err != nil {
				t.Fatal(err)
			}
			records, err := w.db.RecordsSince(t.Context(), "stream-ticket", 0)
			if err != nil {
				t.Fatal(err)
			}
			left := 0
			for _, r := range records {
				ids[r.ID] = true
				if r.Body != "" {
					left++
				}
			}
			if left != 1 || len(ids) != 6 {
				t.Errorf("%d records are left and %d ids, want 1 and 6", left, len(ids))
			}
			if _, err := one.Find(t.Context(), kept); err != nil {
				t.Errorf("a ticket that is in use was removed: %v", err)
			}
			w.wait(ticket.Reuse + 2*time.Minute)
			if err := errors.Join(other.RemoveExpired(t.Context()), one.Refresh(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An account has a bounded number of tickets that have not expired.
func TestMaxOpen(t *testing.T) {
	w := newWorld(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	r := w.process()
	for range ticket.MaxOpen {
		w.create(r)
	}
	_, _, err := r.Create(t.Context(), ana, inside)
	if fault.KindOf(err) != fault.RateLimited || !strings.Contains(err.Error(), "500") {
		t.Errorf("one more: %v", err)
	}
	luis := ana
	luis.ID = "key_luis"
	if _, _, err := r.Create(t.Context(), luis, inside); err != nil {
		t.Errorf("another account: %v", err)
	}
	w.wait(ticket.FirstUse)
	w.create(r)
}
