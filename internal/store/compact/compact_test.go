package compact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/compact"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/sqlite"
	"pregon/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// engines runs a test on both engines. raw writes to the store behind its back.
func engines(t *testing.T, test func(t *testing.T, db compact.Store, raw func(statement string))) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "pregon.db")
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
		must(t, err)
		defer db.Close()
		raw, err := sql.Open("sqlite", path)
		must(t, err)
		defer raw.Close()
		test(t, db, func(statement string) {
			_, err := raw.ExecContext(t.Context(), statement)
			must(t, err)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.Database(t)
		db, err := postgres.Open(t.Context(), url)
		must(t, err)
		defer db.Close()
		raw, err := pgx.Connect(t.Context(), url)
		must(t, err)
		defer raw.Close(context.Background())
		test(t, db, func(statement string) {
			_, err := raw.Exec(t.Context(), statement)
			must(t, err)
		})
	})
}

// document stores a document, with its bytes.
func document(t *testing.T, db store.Store, body []byte) (hash string) {
	t.Helper()
	sum := sha256.Sum256(body)
	hash = hex.EncodeToString(sum[:])
	must(t, db.PutOriginal(t.Context(), hash, body))
	must(t, db.PutDocument(t.Context(), store.Document{
		SHA256: hash, Head: `{"edition":2,"pages":[{"method":"text"}]}`, Pages: []string{"texto"}, Index: index.Build(hash, []string{"texto"}),
	}))
	return hash
}

// evidence stores something that may prove facts.
func evidence(t *testing.T, db store.Store, quote string) (hash string) {
	t.Helper()
	body := []byte(`[{"evidence":{"form":{"page":1,"quote":"` + quote + `"}}}]`)
	sum := sha256.Sum256(body)
	hash = hex.EncodeToString(sum[:])
	must(t, db.PutOriginal(t.Context(), hash, body))
	return hash
}

var options = compact.Options{Deliveries: 30 * 24 * time.Hour, CountDays: 400, Texts: 7 * 24 * time.Hour, Originals: true}

func free(context.Context) error { return nil }

// oldDealing has a name that is kept until it is erased, however old it is.
var oldDealing = disclosure.Position{
	ID:           "dealing-2015000001",
	Kind:         disclosure.Dealing,
	Name:         "Elena Ruiz Salvatierra",
	Natural:      true,
	Number:       "2015000001",
	RegisteredOn: "2015-10-01",
}

// TestRemove: what is old or unused is removed, and nothing else.
func TestRemove(t *testing.T) {
	engines(t, func(t *testing.T, db compact.Store, raw func(statement string)) {
		ctx := t.Context()
		used, unused := document(t, db, []byte("used")), document(t, db, []byte("unused"))
		report := disclosure.Report{
			ID: "oir-1", Type: disclosure.OIR, Number: 1, CompanyName: "X", Title: "T", PublishedAt: time.Now().UTC().Truncate(time.Second),
			Document: disclosure.Document{Status: disclosure.DocumentReady, SHA256: used},
			Facts:    []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"form": "cash"}}}, FactsRules: 1, FactsOf: used,
			FactsDetail: evidence(t, db, "used"),
		}
		evidence(t, db, "unused")
		_, err := db.Append(ctx, store.Batch{
			Reports:   []disclosure.Report{report},
			Issuers:   []disclosure.Issuer{{ID: "A00000001", Name: "Uno"}},
			Positions: []disclosure.Position{oldDealing},
		})
		must(t, err)
		_, err = store.PutRecord(ctx, db, store.Record{Kind: "webhook", ID: "wh_1", Body: "{}"})
		must(t, err)
		head, err := db.Head(ctx)
		must(t, err)
		for seq, event := range map[int64]disclosure.Event{1: disclosure.IssuerUpdated, 2: disclosure.Published} {
			at := time.Now().Add(-time.Duration(3-seq) * 20 * 24 * time.Hour) // 40 and 20 days ago
			must(t, db.Enqueue(ctx, store.Delivery{Webhook: "wh_1", Seq: seq, Event: string(event)}))
			must(t, db.Settle(ctx, store.Result{Webhook: "wh_1", Epoch: head.Epoch, Seq: seq, Attempt: store.Attempt{At: at}, State: store.DeliveryDelivered}))
		}
		today := disclosure.DayOf(time.Now())
		must(t, db.AddCounts(ctx, "b", store.Count{Account: "ana", Day: today - 500, Operation: "list", N: 1}, store.Count{Account: "ana", Day: today, Operation: "list", N: 1}))
		_, err = db.ClaimNonce(ctx, "old", time.Now().Add(time.Minute))
		must(t, err)
		raw(`UPDATE once SET until = until - ` + hour(db) + ` WHERE name = 'old'`)
		_, _, err = db.RemoveDocuments(ctx, options.Texts) // marks the text
		must(t, err)
		raw(`UPDATE document SET unused_since = unused_since - ` + week(db) + ` WHERE sha256 = '` + unused + `'`)

		tables, err := db.Tables(ctx)
		must(t, err)
		plan, err := compact.Plan(ctx, db, options, tables)
		must(t, err)
		got := map[string]int64{}
		for _, r := range plan {
			got[r.What] = r.Rows
			if r.Rows > 0 && r.Bytes <= 0 {
				t.Errorf("%s: %d bytes", r.What, r.Bytes)
			}
		}
		want := map[string]int64{
			"settled deliveries and their attempts": 2, "counts of usage": 1, "expired nonces": 1, "texts that no report has": 1,
			"replaced parts of the index of words": 0, "bytes of documents that no report has": 2,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the plan (-want +got):\n%s", diff)
		}
		refused := fault.New(fault.Conflict, "busy")
		if err := compact.Remove(ctx, db, options, func(context.Context) error { return refused }); fault.KindOf(err) != fault.Conflict {
			t.Errorf("without the lease: got error %v, want %v", err, refused)
		}
		if _, err := db.Original(ctx, unused); err != nil {
			t.Errorf("without the lease the bytes were removed: %v", err)
		}
		must(t, compact.Remove(ctx, db, options, free))
		remains(t, db, used, unused)
		if _, err := db.Original(ctx, report.FactsDetail); err != nil {
			t.Errorf("the evidence of facts was removed: %v", err)
		}
		log := storetest.CheckLog(t, db)
		if last := log[len(log)-1]; last.Position == nil || last.Position.Name != oldDealing.Name {
			t.Errorf("the name of a position was removed: %+v", last)
		}
		storetest.Verify(t, db)
	})
}

// TestSweepMany: thousands of small segments that were replaced need few transactions.
func TestSweepMany(t *testing.T) {
	engines(t, func(t *testing.T, db compact.Store, raw func(statement string)) {
		ctx := t.Context()
		document(t, db, []byte("used"))
		past := "1"
		if _, ok := db.(*sqlite.Store); !ok {
			past = "'2020-01-01'"
		}
		raw(`INSERT INTO word_segment (state, token, changed_at) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT 2, i, ` + past + ` FROM n`)
		raw(`INSERT INTO word_block (id, body) SELECT id * 16777216, head FROM word_segment WHERE state = 2`)
		sweeps := 0
		for more := true; more; sweeps++ {
			var err error
			more, err = db.SweepSegments(ctx)
			must(t, err)
		}
		if sweeps > 6 {
			t.Errorf("3000 segments were removed in %d transactions, want 6 at most", sweeps)
		}
		tables, err := db.Tables(ctx)
		must(t, err)
		for _, table := range tables {
			if (table.Name == "word_segment" || table.Name == "word_block") && table.Rows != 1 {
				t.Errorf("%s has %d rows, want the one in use", table.Name, table.Rows)
			}
		}
	})
}

func hour(db compact.Store) string {
	if _, ok := db.(*sqlite.Store); ok {
		return "3600000000"
	}
	return "interval '1 hour'"
}

func week(db compact.Store) string {
	if _, ok := db.(*sqlite.Store); ok {
		return "691200000000"
	}
	return "interval '8 days'"
}

// remains checks what TestRemove expects to remain.
func remains(t *testing.T, db compact.Store, used, unused string) {
	t.Helper()
	ctx := t.Context()
	for _, read := range []func(string) error{
		func(hash string) error { _, err := db.Original(ctx, hash); return err },
		func(hash string) error { _, err := db.Document(ctx, hash); return err },
	} {
		if err := read(used); err != nil {
			t.Errorf("the document of a report: %v", err)
		}
		if err := read(unused); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a document that no report has: got error %v, want NotFound", err)
		}
	}
	tables, err := db.Tables(ctx)
	must(t, err)
	for _, table := range tables {
		if want, ok := map[string]int64{"delivery": 1, "attempt": 1, "use_count": 1, "change": 3, "once": 1, "sealed_name": 1}[table.Name]; ok && table.Rows != want {
			t.Errorf("%s has %d rows, want %d", table.Name, table.Rows, want)
		}
	}
}

// TestReturnSpace: the file is written anew the first time, only if no other process
// disturbs, and later shrinks in steps.
func TestReturnSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	must(t, err)
	defer db.Close()
	fill := func(round int) (size int64) {
		for i := range 50 {
			document(t, db, bytes.Repeat(fmt.Appendf(nil, "%d %d ", round, i), 20_000))
		}
		must(t, db.Truncate(t.Context()))
		must(t, compact.Remove(t.Context(), db, options, free))
		return sizeOf(t, path)
	}
	full := fill(1)
	refused := fault.New(fault.Conflict, "busy")
	space, _, err := compact.ReturnSpace(t.Context(), db, full, func(context.Context) error { return refused })
	if space != compact.Kept || fault.KindOf(err) != fault.Conflict || sizeOf(t, path) < full {
		t.Errorf("beside a reader: %v, %v, %d bytes of %d", space, err, sizeOf(t, path), full)
	}
	for round, exclusive := range []func(context.Context) error{free, func(context.Context) error { return refused }} {
		space, unused, err := compact.ReturnSpace(t.Context(), db, full, exclusive)
		if now := sizeOf(t, path); space != compact.Returned || err != nil || now > full/10 || unused < full/2 {
			t.Errorf("round %d: %v, %v, %d bytes of %d, %d were unused", round, space, err, now, full, unused)
		}
		fill(2)
	}
	storetest.Verify(t, db)
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}
