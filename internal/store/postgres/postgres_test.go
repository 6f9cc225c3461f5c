package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/storetest"
	"pregon/internal/test/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Engine{
		Fresh: func(t *testing.T) func() (store.Store, error) {
			url := pgtest.Database(t)
			return func() (store.Store, error) { return openFaulty(t.Context(), url) }
		},
		FailCommit: func(s store.Store, after bool, err error) { s.(*faulty).Fail(after, err) },
		Newer: func(t *testing.T, s store.Store) {
			query(t, s.(*faulty).url, `UPDATE schema_version SET version = version + 1`)
		},
	})
}

func BenchmarkStore(b *testing.B) {
	s, err := postgres.Open(b.Context(), pgtest.Database(b))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	storetest.Bench(b, s)
}

// faulty is a store whose next commit can be made to fail.
type faulty struct {
	*postgres.Store
	storetest.Commits
	url string
}

func openFaulty(ctx context.Context, url string) (store.Store, error) {
	s, err := postgres.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	s.SetIdle(time.Minute) // on a busy machine a test may pause inside a transaction for seconds
	f := &faulty{Store: s, url: url}
	s.WrapCommit(f.Commit)
	return f, nil
}

func open(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// connect returns a connection that is open until the test ends.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// query runs SQL that returns one column of text, or nothing, on a separate
// connection.
func query(t *testing.T, url, sql string, args ...any) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func report(number int64) disclosure.Report {
	return disclosure.Report{
		ID: disclosure.ReportID(disclosure.IP, number), Type: disclosure.IP, Number: number,
		CompanyName: "EJEMPLAR FICTICIA, S.A.", Title: "Resultados <b>2025</b>", PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC),
	}
}

func publish(t *testing.T, s *postgres.Store, number int64) {
	t.Helper()
	b := store.Batch{Reports: []disclosure.Report{report(number)}, New: disclosure.Published}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// TestNotification makes Wait poll so rarely that only a notification, or the
// listener's reconnection after its connection was cut, can wake it.
func TestNotification(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	reader, writer := open(t, url), open(t, url)
	reader.SetPoll(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for seq := range int64(4) {
		waited := make(chan error, 1)
		go func() { waited <- reader.Wait(ctx, seq) }()
		if seq == 2 {
			cutListeners(t, url)
		}
		publish(t, writer, seq+1)
		if err := <-waited; err != nil {
			t.Fatalf("waiting for a change after %d: %v", seq, err)
		}
	}
}

const listeners = `SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`

// cutListeners waits until both stores listen and cuts their connections.
func cutListeners(t *testing.T, url string) {
	t.Helper()
	waittest.For(t, "both stores listen", func() bool { return len(query(t, url, listeners)) >= 2 })
	query(t, url, `SELECT pg_terminate_backend(pid::int)::text FROM (`+listeners+`) l`)
}

// TestCutConnections: the store works after the idle connections of its pool were
// cut.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	publish(t, s, 1)
	query(t, url, `SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	for number := int64(2); number < 5; number++ {
		b := store.Batch{Reports: []disclosure.Report{report(number)}, New: disclosure.Published}
		for {
			_, err := s.Append(t.Context(), b)
			if err == nil {
				break
			}
			if fault.KindOf(err) != fault.Unavailable {
				t.Fatalf("a cut connection is %v: %v", fault.KindOf(err), err)
			}
		}
	}
	if seq, err := s.Newest(t.Context()); err != nil || seq != 4 {
		t.Errorf("Newest = %d, %v", seq, err)
	}
}

// TestBytesAreKept: a replay returns the written records byte for byte.
func TestBytesAreKept(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	publish(t, s, 1)
	changes, err := s.Changes(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	row, err := store.EncodeRow(changes[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{row.Body}, query(t, url, `SELECT body::text FROM change`)); diff != "" {
		t.Error(diff)
	}
}

var key = store.Record{Kind: "key", ID: "a", Body: "1"}

// TestOnceForgets: each claim of a name deletes up to a hundred expired names, and
// no others.
func TestOnceForgets(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url)
	once(t, s, "kept", true)
	query(t, url, `INSERT INTO once (name, until) SELECT 'old ' || i, to_timestamp(i) FROM generate_series(1, 250) i`)
	for _, step := range []struct {
		name  string
		first bool
		left  string
	}{
		{"kept", false, "251"}, {"a", true, "152"}, {"a", false, "152"}, {"old 250", true, "52"}, {"b", true, "4"}, {"c", true, "5"},
	} {
		once(t, s, step.name, step.first)
		if diff := cmp.Diff([]string{step.left}, query(t, url, `SELECT count(*)::text FROM once`)); diff != "" {
			t.Errorf("the number of names after %s (-want +got):\n%s", step.name, diff)
		}
	}
	once(t, s, "kept", false)
}

// once claims a name for an hour.
func once(t *testing.T, s *postgres.Store, name string, want bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := s.ClaimNonce(ctx, name, time.Now().Add(time.Hour)); err != nil || got != want {
		t.Errorf("ClaimNonce(%q) = %t, %v; want %t", name, got, err, want)
	}
}

var deliveries = []store.Delivery{{Webhook: "a", Seq: 1, Event: "x"}, {Webhook: "b", Seq: 1, Event: "x"}}

// TestPlainRole: a role that may only read and write rows, and delete names,
// deliveries and the words of documents, can open a database whose schema is up to
// date.
func TestPlainRole(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	open(t, url)
	role := "plain_" + config.Database // roles are shared by all databases
	query(t, url, `CREATE ROLE `+role+` LOGIN`)
	query(t, url, `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO `+role)
	query(t, url, `GRANT DELETE ON once, use_count, endpoint, delivery, attempt, document, filed_document, word_segment, word_block TO `+role)
	s := open(t, "postgres://"+role+"@/"+config.Database+"?host="+config.Host)
	publish(t, s, 1)
	if _, err := store.PutRecord(t.Context(), s, store.Record{Kind: store.CoverageKind, ID: "a", Body: "1"}); err != nil {
		t.Error(err)
	}
	if _, err := store.PutRecord(t.Context(), s, key); err != nil {
		t.Error(err)
	}
	once(t, s, "a", true)
	if _, err := s.RecordUse(t.Context(), "a", time.Now()); err != nil {
		t.Error(err)
	}
	if err := s.AddCounts(t.Context(), "a", store.Count{Account: "a", Day: 1, Operation: "getReports", N: 1}); err != nil {
		t.Error(err)
	}
	if n, err := s.PruneCounts(t.Context(), 2, 9); err != nil || n != 1 {
		t.Errorf("PruneCounts = %d, %v", n, err)
	}
	if err := s.FanOut(t.Context(), store.FanOut{To: 1, Deliveries: deliveries}); err != nil {
		t.Error(err)
	}
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	result := store.Result{Webhook: "a", Epoch: head.Epoch, Seq: 1, State: store.DeliveryDelivered, Attempt: store.Attempt{At: time.Now().Add(-time.Minute)}}
	if err := s.Settle(t.Context(), result); err != nil {
		t.Error(err)
	}
	if n, err := s.PruneDeliveries(t.Context(), time.Now(), 9); err != nil || n != 1 {
		t.Errorf("PruneDeliveries = %d, %v", n, err)
	}
	if err := s.DropDeliveries(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	document := store.Document{SHA256: strings.Repeat("0", 64), Index: store.Segment{Blocks: [][]byte{nil}}}
	for range 2 {
		if err := s.PutDocument(t.Context(), document); err != nil {
			t.Error(err)
		}
	}
	if err := s.PutOriginal(t.Context(), document.SHA256, nil); err != nil {
		t.Error(err)
	}
	for _, status := range []disclosure.DocumentStatus{disclosure.DocumentReady, disclosure.DocumentFailed} {
		r := report(1)
		r.Document = disclosure.Document{Status: status, SHA256: document.SHA256}
		if _, err := s.Append(t.Context(), store.Batch{Reports: []disclosure.Report{r}}); err != nil {
			t.Error(err)
		}
		if _, _, err := s.RemoveDocuments(t.Context(), 0); err != nil {
			t.Error(err)
		}
		if _, err := s.SweepSegments(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenFailures(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		url  string
		kind fault.Kind
	}{
		"malformed":   {"postgres://u:secret@h:port/db", fault.Invalid},
		"no server":   {"postgres://u:secret@127.0.0.1:1/db", fault.Unavailable},
		"no database": {"postgres://postgres@/nowhere?host=" + config.Host, fault.Unavailable},
		"no user":     {"postgres://nemo@/" + config.Database + "?host=" + config.Host, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), test.url)
			if fault.KindOf(err) != test.kind {
				t.Errorf("%v, want %v", err, test.kind)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := postgres.Open(ctx, pgtest.Database(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a cancelled context = %v", err)
	}
}
