package watchlist_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/push/watchlist"
	"pregon/internal/store"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// The accounts of most tests.
var (
	ana  = access.WholeAccount("key_ana")
	luis = access.WholeAccount("key_luis")
)

// principal is who sends a request for an account.
func principal(account string) access.Principal {
	return access.Principal{ID: account, Key: account, Mode: access.ByKey, Scope: access.AllScopes}
}

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
	t  *testing.T
	db store.Store
	o  watchlist.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pregon.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{t: t, db: db}
	w.o = watchlist.Options{Store: db, Sealer: box(t, "a key of forty characters for these tests")}
	return w
}

func box(t *testing.T, key string) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// process is one of the processes that share a store.
type process struct {
	*watchlist.Registry
	t     *testing.T
	audit *trail
}

// process returns a process on the store, after change has modified its options.
func (w *world) process(change func(*watchlist.Options)) *process {
	w.t.Helper()
	p := &process{t: w.t, audit: &trail{}}
	o := w.o
	o.Audit = p.audit.record
	if change != nil {
		change(&o)
	}
	p.Registry = watchlist.New(o)
	p.refresh()
	return p
}

func (p *process) refresh() {
	p.t.Helper()
	if err := p.Refresh(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// create makes a list with issuers.
func (p *process) create(by access.Reach, name string, issuers ...string) watchlist.List {
	p.t.Helper()
	l, err := p.Create(p.t.Context(), by, watchlist.Draft{Name: name, Issuers: issuers})
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// names returns the names of the lists within a reach, in their order.
func (p *process) names(by access.Reach) string {
	p.t.Helper()
	lists, err := p.List(p.t.Context(), by)
	if err != nil {
		p.t.Fatal(err)
	}
	names := make([]string, len(lists))
	for i, l := range lists {
		names[i] = l.Name
	}
	return strings.Join(names, " ")
}

// issuers returns n identifiers.
func issuers(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("fi-%d", i+1)
	}
	return out
}

func wantKind(t *testing.T, err error, kind fault.Kind, text string) {
	t.Helper()
	if fault.KindOf(err) != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("%v (%v), want %v with %q", err, fault.KindOf(err), kind, text)
	}
}

// broken is a store that fails when a test wants it to.
type broken struct {
	store.Records
	reads, writes bool
}

var errBroken = errors.New("the disk is full")

func (b *broken) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	if b.reads {
		return nil, errBroken
	}
	return b.Records.RecordsSince(ctx, kind, revision)
}

func (b *broken) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if b.writes {
		return nil, errBroken
	}
	return b.Records.PutRecords(ctx, lease, records...)
}
