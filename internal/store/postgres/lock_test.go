package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/waittest"
)

// holding runs statements in a transaction that stays open until it is committed or
// the test ends.
func holding(t *testing.T, url string, statements ...string) pgx.Tx {
	t.Helper()
	tx, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range statements {
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return tx
}

// waiting returns how many connections wait for a lock.
func waiting(t *testing.T, url string) int {
	t.Helper()
	return len(query(t, url, `SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
}

// TestCountersDoNotWait: a lock on the head of the log does not block writers of
// coverage records, and a lock on their counter does not block writers of other
// records.
func TestCountersDoNotWait(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	holding(t, url, `SELECT seq FROM log_head FOR UPDATE`)
	if _, err := store.PutRecord(ctx, s, store.Record{Kind: store.CoverageKind, ID: "a", Body: "1"}); err != nil {
		t.Error(err)
	}
	holding(t, url, `SELECT revision FROM note_head FOR UPDATE`)
	if _, err := store.PutRecord(ctx, s, key); err != nil {
		t.Error(err)
	}
}

// TestOnceDoesNotWait: an expired name that is locked by another transaction does
// not block claims of other names.
func TestOnceDoesNotWait(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	query(t, url, `INSERT INTO once (name, until) SELECT 'old ' || i, to_timestamp(i) FROM generate_series(1, 9) i`)
	holding(t, url, `UPDATE once SET until = now() + interval '1 hour' WHERE name = 'old 5'`)
	once(t, s, "a", true)
	want := []string{"a", "old 5"}
	if diff := cmp.Diff(want, query(t, url, `SELECT name FROM once ORDER BY name`)); diff != "" {
		t.Errorf("the names left (-want +got):\n%s", diff)
	}
}

// TestClaimDoesNotWait: a webhook that is locked by another transaction does not
// block claims of other webhooks, and a fan-out does not block claims at all.
func TestClaimDoesNotWait(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Enqueue(ctx, deliveries...); err != nil {
		t.Fatal(err)
	}
	claim := store.Claim{Holder: "ana", Webhooks: []string{"a", "b"}, Endpoints: 9, Each: 9, TTL: time.Hour}
	for _, step := range []struct {
		lock string
		want int
	}{{`KEY SHARE`, 2}, {`NO KEY UPDATE`, 1}} {
		holding(t, url, `SELECT FROM endpoint WHERE webhook = 'a' FOR `+step.lock)
		if got, err := s.Claim(ctx, claim); err != nil || len(got) != step.want {
			t.Errorf("with a locked for %s, Claim = %v, %v", step.lock, got, err)
		}
	}
}

// TestFanOutWaitsForRecords: FanOut waits for a concurrent write of a record, and
// sees the record.
func TestFanOutWaitsForRecords(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	tx := holding(t, url, // as PutRecords does
		`SELECT revision FROM record_head FOR UPDATE`,
		`INSERT INTO record VALUES ('webhook', 'a', '1', 1)`,
		`UPDATE record_head SET revision = 1`)
	fanned := make(chan error, 1)
	go func() { fanned <- s.FanOut(t.Context(), store.FanOut{To: 1, Deliveries: deliveries}) }()
	waittest.For(t, "FanOut waits", func() bool { return waiting(t, url) > 0 })
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-fanned; fault.KindOf(err) != fault.Conflict {
		t.Errorf("FanOut did not see the webhook: %v", err)
	}
}

// TestSegmentsAppearInOrder: a segment that becomes visible after another comes after
// it, even if its transaction began before.
func TestSegmentsAppearInOrder(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	tx := holding(t, url, `LOCK TABLE word_block IN SHARE MODE`)
	var first, second errgroup.Group
	first.Go(func() error { // it waits after its id was drawn
		return s.PutDocument(t.Context(), store.Document{SHA256: strings.Repeat("a", 64), Head: "{}", Index: store.Segment{Blocks: [][]byte{{1}}}})
	})
	waittest.For(t, "the first waits", func() bool { return waiting(t, url) == 1 })
	var stored atomic.Bool
	second.Go(func() error {
		defer stored.Store(true)
		return s.PutDocument(t.Context(), store.Document{SHA256: strings.Repeat("b", 64), Head: "{}"})
	})
	waittest.For(t, "the second waits or is stored", func() bool { return stored.Load() || waiting(t, url) == 2 })
	before, err := s.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tx.Commit(t.Context()), first.Wait(), second.Wait()); err != nil {
		t.Fatal(err)
	}
	after, err := s.Segments(t.Context())
	if err != nil || len(after) != 2 {
		t.Fatalf("%d segments, %v, want 2", len(after), err)
	}
	for i := range before {
		if before[i].ID != after[i].ID {
			t.Errorf("segments %v, and then %v: the new one is not the last", before, after)
		}
	}
}
