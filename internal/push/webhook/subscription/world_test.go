package subscription_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/disclosure"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	accountID = "key_owner"
	address   = "http://127.0.0.1:1/hook?password=hunter2" // of a receiver to which nothing is sent
)

// The accounts of most tests.
var (
	owner = access.WholeAccount(accountID)
	other = access.WholeAccount("key_other")
)

// trail is an audit that tests can read.
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

// world is a store that processes share.
type world struct {
	path string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{path: filepath.Join(t.TempDir(), "pregon.db")}
}

// process is one of the processes that share a store.
type process struct {
	*subscription.Registry
	db    store.Store
	audit *trail
}

// process returns a process on the store, after change has modified its options.
func (w *world) process(t testing.TB, change func(*subscription.Options)) *process {
	t.Helper()
	db, err := sqlite.Open(context.Background(), w.path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	box, err := secret.NewBox("a key that is long enough to be one")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{db: db, audit: &trail{}}
	o := subscription.Options{
		Store:        db,
		Sealer:       box,
		AllowPrivate: true,
		Audit:        p.audit.record,
	}
	if change != nil {
		change(&o)
	}
	p.Registry = subscription.New(o)
	return p
}

// create creates a webhook of the owner.
func create(t testing.TB, p *process, change ...func(*subscription.Draft)) (subscription.Webhook, string) {
	t.Helper()
	d := subscription.Draft{URL: address, Enabled: true}
	for _, f := range change {
		f(&d)
	}
	w, raw, err := p.Create(t.Context(), owner, d)
	if err != nil {
		t.Fatal(err)
	}
	return w, raw
}

// publish appends reports.
func publish(t testing.TB, db store.Store, n int64) {
	t.Helper()
	b := store.Batch{}
	for number := int64(1); number <= n; number++ {
		r := disclosure.Report{
			Type:        disclosure.OIR,
			Number:      number,
			CompanyName: "IBERDROLA, S.A.",
			NIF:         "A-48010615",
			Title:       fmt.Sprintf("Report %d", number),
			PublishedAt: time.Date(2026, 3, 2, 9, 0, int(number), 0, time.UTC),
		}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		b.Reports = append(b.Reports, r)
	}
	if _, err := db.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// endpoint returns the state of the deliveries of a webhook.
func endpoint(t testing.TB, db store.Store, id string) store.Endpoint {
	t.Helper()
	endpoints, err := db.Endpoints(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return endpoints[id]
}
