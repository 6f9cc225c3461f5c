package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/alerttest"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/delivery"
	"pregon/internal/push/alert/message"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/events"
	"pregon/internal/push/queue"
	"pregon/internal/push/watchlist"
	"pregon/internal/search"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

var ana = access.WholeAccount("https://id.example.com#ana")

// letter is a message that a sender got.
type letter struct {
	to     string // the address
	id     string
	at     time.Time
	titles []string
	more   int
	ok     bool
}

// postbox is a sender that keeps what it gets.
type postbox struct {
	// answer, if not nil, decides about the n-th message to an address, from 1.
	answer func(ctx context.Context, to string, n int) channel.Outcome

	mu  sync.Mutex
	got []letter // guarded by mu
}

func (p *postbox) Send(ctx context.Context, to alert.Channel, m *message.Message) channel.Outcome {
	l := letter{
		to:   to.Address,
		id:   m.ID,
		at:   time.Now(),
		more: m.More,
		ok:   true,
	}
	for i := range m.Items {
		title := m.Items[i].Title
		if m.Items[i].Facts != "" {
			title += " with facts"
		}
		if m.Items[i].Note != "" {
			title += " again"
		}
		l.titles = append(l.titles, title)
	}
	p.mu.Lock()
	n := 1
	for _, before := range p.got {
		if before.to == l.to {
			n++
		}
	}
	place := len(p.got)
	p.got = append(p.got, l)
	p.mu.Unlock()
	if p.answer == nil {
		return channel.Outcome{OK: true, Status: 250}
	}
	o := p.answer(ctx, to.Address, n)
	p.mu.Lock()
	p.got[place].ok = o.OK
	p.mu.Unlock()
	return o
}

// letters returns the messages to an address, or all if it is empty.
func (p *postbox) letters(to string) []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.got), func(l letter) bool { return to != "" && l.to != to })
}

// check compares the messages to an address, each written as its titles.
func (p *postbox) check(t *testing.T, to string, want ...string) {
	t.Helper()
	var got []string
	for _, l := range p.letters(to) {
		line := strings.Join(l.titles, ", ")
		if l.more > 0 {
			line += fmt.Sprintf(" and %d more", l.more)
		}
		if !l.ok {
			line += " (failed)"
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the messages to %s (-want +got):\n%s", to, diff)
	}
}

// world is a store and its processes.
type world struct {
	path     string
	postgres string                         // the address of a database to use instead of path
	number   int64                          // of the last report
	gone     atomic.Value                   // the account that is not served, if any
	keys     atomic.Pointer[access.Keyring] // nil: every key is valid
	behind   atomic.Bool                    // the keys are not known as they are now
	poll     time.Duration                  // of tests that last for hours; 0: that of production
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{path: filepath.Join(t.TempDir(), "pregon.db")}
}

// access returns the access of an account, with a key if there are keys.
func (w *world) access(account, key string) subscription.Access {
	a := subscription.Access{Scope: access.AllScopes}
	if account == w.gone.Load() {
		a.Gone = "it was deleted"
	}
	a.Behind = key != "" && w.behind.Load()
	if keys := w.keys.Load(); keys != nil && key != "" && a.Gone == "" {
		state, known := keys.State(key)
		a.Scope &= state.Scope
		a.Gone = state.Gone
		a.Since = state.Since
		if !known {
			a.Gone = "it is not known"
		}
	}
	return a
}

func (w *world) open() (store.Store, error) {
	if w.postgres != "" {
		return postgres.Open(context.Background(), w.postgres)
	}
	return sqlite.Open(context.Background(), w.path, sqlite.Options{Create: true})
}

// process is one of the processes that share a store.
type process struct {
	*delivery.Service
	db      store.Store
	hub     *events.Hub
	alerts  *subscription.Registry
	asked   *alerttest.Senders
	lists   *watchlist.Registry
	stop    func()
	catalog *catalog.Catalog
}

// process starts a process on the store, after change has modified its options.
func (w *world) process(t testing.TB, sender delivery.Sender, change func(*delivery.Options)) *process {
	t.Helper()
	p := w.idle(t, sender, change)
	p.run(t)
	return p
}

// idle returns a process that does not run.
func (w *world) idle(t testing.TB, sender delivery.Sender, change func(*delivery.Options)) *process {
	t.Helper()
	db, err := w.open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	c := catalog.New(db, slog.New(slog.DiscardHandler))
	p := &process{db: db, hub: events.NewHub(c, db), catalog: c}
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	background(t, c.Follow)
	box, err := secret.NewBox("a key of thirty-two bytes for tests")
	if err != nil {
		t.Fatal(err)
	}
	p.asked = &alerttest.Senders{}
	p.alerts = subscription.New(subscription.Options{
		Store:   db,
		Sealer:  box,
		Senders: p.asked,
		Epoch:   func() string { return p.hub.Head().Epoch },
		Access:  w.access,
		Link:    func(path string) string { return alerttest.BaseURL + path },
	})
	if err := p.alerts.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.lists = watchlist.New(watchlist.Options{
		Store:  db,
		Sealer: box,
		Epoch:  func() string { return p.hub.Head().Epoch },
	})
	background(t, p.alerts.Follow)
	background(t, p.lists.Follow)
	o := delivery.Options{
		Store:     db,
		Encoder:   p.hub,
		Directory: func() *search.Directory { return c.Snapshot().Directory() },
		Alerts:    p.alerts,
		Lists:     p.lists,
		Sender:    sender,
		Writer:    message.Writer{BaseURL: alerttest.BaseURL},
		Links:     func(alert.Channel) message.Links { return message.Links{Site: alerttest.BaseURL + "/"} },
	}
	if change != nil {
		change(&o)
	}
	p.Service = delivery.New(o)
	if w.poll != 0 {
		timing := queue.DefaultTiming
		timing.Poll = w.poll
		timing.Slots = 64
		p.SetTiming(timing)
	}
	return p
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

// channel returns an active channel for e-mails.
func (p *process) channel(t testing.TB, by access.Reach, address string) alert.Channel {
	t.Helper()
	return p.channelOf(t, by, alert.Email, address)
}

// channelOf returns an active channel of a kind.
func (p *process) channelOf(t testing.TB, by access.Reach, kind alert.Kind, address string) alert.Channel {
	t.Helper()
	c, _, err := p.alerts.CreateChannel(t.Context(), by, subscription.ChannelDraft{
		Kind:     kind,
		Address:  address,
		Language: message.English,
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.State == alert.Active { // a browser
		return c.Channel
	}
	confirmed, err := p.alerts.Confirm(t.Context(), p.asked.Code(t))
	if err != nil {
		t.Fatal(err)
	}
	return confirmed
}

// alert creates an alert for everything, after change has modified it.
func (p *process) alert(t testing.TB, by access.Reach, channel string, rhythm alert.Rhythm, change func(*subscription.AlertDraft)) string {
	t.Helper()
	d := subscription.AlertDraft{
		Channel: channel,
		Rhythm:  rhythm,
		Enabled: true,
	}
	if change != nil {
		change(&d)
	}
	a, err := p.alerts.CreateAlert(t.Context(), by, d)
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

// publish appends reports, and returns the number of the first. Their documents are to be
// read.
func (w *world) publish(t testing.TB, db store.Store, n int, change ...func(*disclosure.Report)) int64 {
	t.Helper()
	first := w.number + 1
	b := store.Batch{}
	for range n {
		w.number++
		r := disclosure.Report{
			Type:        disclosure.OIR,
			Number:      w.number,
			CompanyName: "EMPRESA FICTICIA UNO, S.A.",
			NIF:         "A-12345674",
			Title:       fmt.Sprintf("Report %d", w.number),
			PublishedAt: time.Now().UTC().Truncate(time.Second),
			Document:    disclosure.Document{Status: disclosure.DocumentPending},
		}
		for _, f := range change {
			f(&r)
		}
		b.Reports = append(b.Reports, r)
	}
	appendAll(t, db, b)
	return first
}

func appendAll(t testing.TB, db store.Store, b store.Batch) {
	t.Helper()
	for i := range b.Reports {
		if err := b.Reports[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// withoutDocument makes reports of which nothing more will be known.
func withoutDocument(r *disclosure.Report) {
	r.Document = disclosure.Document{Status: disclosure.DocumentNone}
}

// update changes a report.
func update(t testing.TB, db store.Store, number int64, change func(*disclosure.Report)) {
	t.Helper()
	reports, err := db.Reports(t.Context(), fmt.Sprintf("oir-%d", number))
	if err != nil || len(reports) != 1 {
		t.Fatalf("got %d reports, %v", len(reports), err)
	}
	change(&reports[0])
	appendAll(t, db, store.Batch{Reports: reports})
}

// hash is that of a document.
var hash = strings.Repeat("0", 64)

// readDocument gives a report a document that was read, and facts.
func readDocument(r *disclosure.Report) {
	r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: hash}
	r.Facts = []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"gross_per_share": "0.25", "currency": "EUR"}}}
	r.FactsRules = 1
	r.FactsOf = hash
}
