package verify_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/proof"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/sqlite"
	"pregon/internal/store/storetest"
	"pregon/internal/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// world is a store and a way to write to it behind its back.
type world struct {
	*testing.T
	engine string
	db     verify.Store
	raw    func(statement string) error
}

// worlds opens a new store of each engine.
var worlds = map[string]func(t *testing.T) *world{
	"sqlite": func(t *testing.T) *world {
		path := filepath.Join(t.TempDir(), "pregon.db")
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close(); raw.Close() })
		return &world{t, "sqlite", db, func(s string) error { _, err := raw.ExecContext(t.Context(), s); return err }}
	},
	"postgres": func(t *testing.T) *world {
		url := pgtest.Database(t)
		db, err := postgres.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close(); _ = raw.Close(context.Background()) })
		return &world{t, "postgres", db, func(s string) error {
			_, err := raw.Exec(t.Context(), s, pgx.QueryExecModeSimpleProtocol)
			return err
		}}
	},
}

// engines runs a test on both engines.
func engines(t *testing.T, test func(w *world)) {
	for name, open := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(open(t))
		})
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func hashOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// fill puts something into every table: changes 1 and 2 are issuers, 3 to 5 the
// publications of reports, 6 and 7 their documents, 8 a correction.
func (w *world) fill() {
	ctx := w.Context()
	reports := make([]disclosure.Report, 3)
	for i := range reports {
		reports[i] = disclosure.Report{
			ID: fmt.Sprintf("oir-%d", i+1), Type: disclosure.OIR, Number: int64(i + 1), CompanyName: "ALMAZARA FICTICIA, S.A.", Title: "Acuerdo",
			PublishedAt: time.Now().UTC().Truncate(time.Second), TimeFrom: disclosure.FromFeed, PDFURL: fmt.Sprintf("https://regulator.example/%d", i+1),
		}
	}
	w.append(store.Batch{
		Issuers: []disclosure.Issuer{{ID: "A00000001", Name: "Uno"}, {ID: "A00000002", Name: "Dos"}},
		Reports: reports,
	})
	for i := range 2 {
		w.document(i+1, fmt.Sprintf("texto número %d con palabras", i+1))
	}
	w.append(store.Batch{Aside: []disclosure.Report{{ID: "oir-1", Type: disclosure.OIR, Number: 1, CorrectedBy: "oir-3"}}})
	keeper := &index.Keeper{Store: w.db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}
	w.must(keeper.Settle(ctx))
	hook, err := store.PutRecord(ctx, w.db, store.Record{Kind: "webhook", ID: "wh_1", Body: "{}"})
	w.must(err)
	_, err = store.PutRecord(ctx, w.db, store.Record{Kind: store.CoverageKind, ID: "day", Body: "covered"})
	w.must(err)
	fanned, err := w.db.Fanned(ctx, store.ForWebhooks)
	w.must(err)
	delivery := store.Delivery{Webhook: "wh_1", Seq: 3, Event: string(disclosure.Published)}
	w.must(w.db.FanOut(ctx, store.FanOut{
		From:       fanned,
		To:         8,
		Revisions:  map[string]int64{"webhook": hook.Revision},
		Deliveries: []store.Delivery{delivery},
	}))
	head, err := w.db.Head(ctx)
	w.must(err)
	w.must(w.db.Settle(ctx, store.Result{Webhook: "wh_1", Epoch: head.Epoch, Seq: 3, Attempt: store.Attempt{At: time.Now(), Status: 200}, State: store.DeliveryDelivered}))
	w.must(w.db.AddCounts(ctx, "batch", store.Count{Account: "ana", Day: disclosure.DayOf(time.Now()), Operation: "list", N: 3}))
	_, err = w.db.RecordUse(ctx, "ana", time.Now())
	w.must(err)
	_, err = w.db.AcquireLease(ctx, "other", "test", time.Second)
	w.must(err)
}

func (w *world) append(b store.Batch) {
	w.Helper()
	_, err := w.db.Append(w.Context(), b)
	w.must(err)
}

// document stores the document of a report.
func (w *world) document(number int, body string) {
	w.Helper()
	ctx, sha := w.Context(), hashOf(body)
	w.must(w.db.PutOriginal(ctx, sha, []byte(body)))
	w.must(w.db.PutDocument(ctx, store.Document{
		SHA256: sha, Bytes: int64(len(body)), Head: `{"edition":2,"pages":[{"method":"text"}]}`, Pages: []string{body}, Index: index.Build(sha, []string{body}),
	}))
	detail := evidenceOf(number)
	w.must(w.db.PutOriginal(ctx, hashOf(detail), []byte(detail)))
	id := fmt.Sprintf("oir-%d", number)
	w.append(store.Batch{Aside: []disclosure.Report{{
		ID: id, Type: disclosure.OIR, Number: int64(number), TextReadyAt: time.Now().UTC().Truncate(time.Microsecond),
		Document: disclosure.Document{Status: disclosure.DocumentReady, SHA256: sha, Link: fmt.Sprintf("https://regulator.example/%d", number)},
		Facts:    []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"form": "cash"}}}, FactsRules: 1, FactsOf: sha, FactsDetail: hashOf(detail),
	}}})
}

// evidenceOf returns what proves the facts of a report.
func evidenceOf(number int) string {
	return fmt.Sprintf(`[{"evidence":{"form":{"page":1,"quote":"efectivo %d"}}}]`, number)
}

// check returns the checker and its findings.
func (w *world) check() (*verify.Checker, []verify.Finding) {
	w.Helper()
	var found []verify.Finding
	c := verify.New(w.db, verify.Options{Found: func(f verify.Finding) { found = append(found, f) }})
	w.must(c.Run(w.Context()))
	return c, found
}

func (w *world) repair(c *verify.Checker) {
	w.Helper()
	w.must(c.Repair(w.Context(), func(ctx context.Context) (*store.Lease, error) {
		l, err := w.db.AcquireLease(ctx, "ingest", "test", time.Minute)
		return &l, err
	}))
}

// TestClean: a store that only the program wrote has no findings.
func TestClean(t *testing.T) {
	engines(t, func(w *world) {
		if _, found := w.check(); len(found) > 0 {
			w.Errorf("findings of an empty store: %v", found)
		}
		w.fill()
		storetest.Verify(w.T, w.db)
	})
}

// TestRepairedText: the service fetches a text that was lost again.
func TestRepairedText(t *testing.T) {
	engines(t, func(w *world) {
		w.fill()
		w.must(w.raw(map[string]string{"sqlite": `DELETE FROM document_text`, "postgres": `DELETE FROM document`}[w.engine]))
		c, _ := w.check()
		w.repair(c)
		reports, err := w.db.Reports(w.Context(), "oir-1", "oir-2")
		w.must(err)
		for _, r := range reports {
			if !r.WantsDocument() {
				w.Errorf("%s does not want its document: %+v", r.ID, r.Document)
			}
		}
		w.document(1, "texto número 1 con palabras") // as the service does
		w.document(2, "texto número 2 con palabras")
		storetest.Verify(w.T, w.db)
	})
}

// TestRepairedWords: after a damaged segment was dropped, its documents are indexed
// again.
func TestRepairedWords(t *testing.T) {
	engines(t, func(w *world) {
		w.fill()
		w.must(w.raw(`DELETE FROM word_block`))
		c, _ := w.check()
		w.repair(c)
		missing, err := w.db.Unindexed(w.Context(), 10)
		w.must(err)
		if len(missing) != 2 {
			w.Errorf("%d documents are to be indexed, want 2", len(missing))
		}
		w.must((&index.Keeper{Store: w.db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}).Settle(w.Context()))
		if missing, err = w.db.Unindexed(w.Context(), 10); err != nil || len(missing) > 0 {
			w.Errorf("%d documents are not indexed, %v", len(missing), err)
		}
		storetest.Verify(w.T, w.db)
	})
}

// TestWhileWritten: a store that is being written has no findings.
func TestWhileWritten(t *testing.T) {
	engines(t, func(w *world) {
		w.fill()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 10 {
				storetest.Verify(w.T, w.db)
			}
		}()
		n := 10
		for verifying := true; verifying || n == 10; n++ {
			w.write(n)
			select {
			case <-done:
				verifying = false
			default:
			}
		}
		storetest.Verify(w.T, w.db)
	})
}

// write publishes a report, its document and a delivery, and merges the index.
func (w *world) write(number int) {
	ctx := w.Context()
	report := disclosure.Report{
		ID: fmt.Sprintf("oir-%d", number), Type: disclosure.OIR, Number: int64(number), CompanyName: "X", Title: "T",
		PublishedAt: time.Now().UTC().Truncate(time.Second), PDFURL: "https://regulator.example/1",
	}
	w.append(store.Batch{Reports: []disclosure.Report{report}})
	w.document(number, fmt.Sprintf("texto %d", number))
	head, err := w.db.Head(ctx)
	w.must(err)
	w.must(w.db.Enqueue(ctx, store.Delivery{Webhook: "wh_1", Seq: head.Seq, Event: string(disclosure.Updated)}))
	w.must(w.db.Settle(ctx, store.Result{Webhook: "wh_1", Epoch: head.Epoch, Seq: head.Seq, Attempt: store.Attempt{At: time.Now()}, State: store.DeliveryDelivered}))
	w.must((&index.Keeper{Store: w.db, Holder: "test", Logger: slog.New(slog.DiscardHandler)}).Settle(ctx))
}

// TestKept: a history that was rewritten, with hashes that agree with it, is found by
// those who kept the hashes. The first wrong change is named.
func TestKept(t *testing.T) {
	engines(t, func(w *world) {
		w.fill()
		var kept []tlog.Hash
		w.must(w.db.LeafHashes(w.Context(), 0, func(h tlog.Hash) error { kept = append(kept, h); return nil }))
		var tree proof.Tree
		tree.Append(kept...)
		found := func(size int64, kept *proof.Tree) (all []string) {
			root, err := tree.Root(min(size, tree.Size()))
			w.must(err)
			c := verify.New(w.db, verify.Options{Size: size, Root: root, Kept: kept, Found: func(f verify.Finding) {
				if f.Kind == verify.LogHash || f.Kind == verify.LogGap {
					all = append(all, string(f.Kind)+" "+f.Where)
				}
			}})
			w.must(c.Run(w.Context()))
			return all
		}
		check := func(size int64, kept *proof.Tree, want ...string) {
			w.Helper()
			if all := found(size, kept); !slices.Equal(all, want) {
				w.Errorf("of %d changes, with their hashes: %v, got findings %q, want %q", size, kept != nil, all, want)
			}
		}
		check(8, &tree)
		check(8, nil)
		var longer proof.Tree
		longer.Append(append(kept, kept[:2]...)...)
		check(10, &longer, "log-gap changes 9 to 10")
		w.must(w.raw(`UPDATE change SET changed = 'corrected_by,title' WHERE seq = 8`))
		w.must(w.raw(`DELETE FROM leaf`))
		w.must(w.raw(`UPDATE log_head SET leaves = 0`))
		for added := 1; added > 0; {
			var err error
			added, err = w.db.AddLeaves(w.Context())
			w.must(err)
		}
		check(8, &tree, "log-hash change 8 (oir-1)")
		check(8, nil, "log-hash changes 1 to 8")
		check(7, nil)
	})
}
