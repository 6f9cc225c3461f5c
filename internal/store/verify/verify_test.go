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
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/store"
	"pregon/internal/store/postgres"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/sqlite"
	"pregon/internal/store/storetest"
	"pregon/internal/store/verify"
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
	fanned, err := w.db.Fanned(ctx)
	w.must(err)
	delivery := store.Delivery{Webhook: "wh_1", Seq: 3, Event: string(disclosure.Published)}
	w.must(w.db.FanOut(ctx, store.FanOut{From: fanned, To: 8, Revision: hook.Revision, Deliveries: []store.Delivery{delivery}}))
	head, err := w.db.Head(ctx)
	w.must(err)
	w.must(w.db.Settle(ctx, store.Result{Webhook: "wh_1", Epoch: head.Epoch, Seq: 3, Attempt: store.Attempt{At: time.Now(), Status: 200}, State: store.DeliveryDelivered}))
	w.must(w.db.AddCounts(ctx, "batch", store.Count{Owner: "ana", Day: disclosure.DayOf(time.Now()), Operation: "list", N: 3}))
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
	id := fmt.Sprintf("oir-%d", number)
	w.append(store.Batch{Aside: []disclosure.Report{{
		ID: id, Type: disclosure.OIR, Number: int64(number), TextReadyAt: time.Now().UTC().Truncate(time.Microsecond),
		Document: disclosure.Document{Status: disclosure.DocumentReady, SHA256: sha, Link: fmt.Sprintf("https://regulator.example/%d", number)},
	}}})
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

// damage is something that is wrong with a store.
type damage struct {
	name     string
	sql      string
	sqlite   string // in place of sql
	kind     verify.Kind
	where    string // a part of where it is
	repaired bool
	others   []verify.Kind // that follow from it
	only     string        // engine
}

var first, second = hashOf("texto número 1 con palabras"), hashOf("texto número 2 con palabras")

var damages = []damage{
	// The log.
	{name: "gap", sql: `DELETE FROM change WHERE seq = 4`, kind: verify.LogGap, where: "change 4", others: []verify.Kind{verify.Pointer, verify.LogStep, verify.File}},
	{name: "lost end", sql: `UPDATE log_head SET seq = 10`, kind: verify.LogGap, where: "changes 9 to 10"},
	{name: "head behind", sql: `UPDATE log_head SET seq = 7`, kind: verify.LogHead, where: "change 8", others: []verify.Kind{verify.Fanned}},
	{name: "epoch", sql: `UPDATE log_head SET epoch = ''`, kind: verify.LogHead, where: "log_head"},
	{name: "undecodable", sql: `UPDATE change SET body = '{"id": 5}' WHERE seq = 5`, kind: verify.LogRow, where: "change 5 (oir-3)"},
	{
		name: "invalid", sql: `UPDATE change SET body = replace(CAST(body AS text), 'Acuerdo', '')::json WHERE seq = 5`,
		sqlite: `UPDATE change SET body = replace(body, 'Acuerdo', '') WHERE seq = 5`, kind: verify.LogRow, where: "change 5 (oir-3)",
	},
	{name: "subject", sql: `UPDATE change SET subject = 'oir-9' WHERE seq = 5`, kind: verify.LogSubject, where: "change 5 (oir-9)"},
	{name: "event", sql: `UPDATE change SET event = 'report.updated' WHERE seq = 5`, kind: verify.LogStep, where: "change 5 (oir-3)"},
	{name: "changed", sql: `UPDATE change SET changed = 'title' WHERE seq = 8`, kind: verify.LogStep, where: "change 8 (oir-1)"},
	{
		name: "time", sql: `UPDATE change SET occurred_at = '2090-01-01' WHERE seq = 1`,
		sqlite: `UPDATE change SET occurred_at = 3786912000000000 WHERE seq = 1`, kind: verify.LogTime, where: "change 1 (A00000001)",
	},
	// What is derived from it.
	{name: "pointer behind", sql: `UPDATE report SET seq = 3 WHERE id = 'oir-1'`, kind: verify.Pointer, where: "report oir-1", repaired: true},
	{name: "pointer missing", sql: `DELETE FROM report WHERE id = 'oir-2'`, kind: verify.Pointer, where: "report oir-2", repaired: true},
	{name: "pointer too many", sql: `INSERT INTO report (id, seq) VALUES ('oir-77', 3)`, kind: verify.Pointer, where: "report oir-77", repaired: true},
	{name: "issuer missing", sql: `DELETE FROM issuer WHERE id = 'A00000002'`, kind: verify.Pointer, where: "issuer A00000002", repaired: true},
	{name: "filed missing", sql: `DELETE FROM filed_document WHERE report = 'oir-1'`, kind: verify.Filed, where: "report oir-1", repaired: true},
	{
		name: "filed wrong", sql: `UPDATE filed_document SET sha256 = '` + second + `' WHERE report = 'oir-1'`,
		sqlite: `UPDATE filed_document SET document = (SELECT number FROM document WHERE sha256 = '` + second + `') WHERE report = 'oir-1'`,
		kind:   verify.Filed, where: "report oir-1", repaired: true,
	},
	{
		name: "filed too many", sql: `INSERT INTO filed_document (report, sha256) VALUES ('oir-3', '` + first + `')`,
		sqlite: `INSERT INTO filed_document (report, document) SELECT 'oir-3', number FROM document WHERE sha256 = '` + first + `'`,
		kind:   verify.Filed, where: "report oir-3", repaired: true,
	},
	// Deliveries.
	{name: "fanned", sql: `UPDATE fanned SET seq = 99`, kind: verify.Fanned, where: "fanned", repaired: true},
	{name: "attempt", sql: `DELETE FROM delivery`, kind: verify.Attempt, where: "change 3 to wh_1", repaired: true},
	{name: "endpoint", sql: `DELETE FROM endpoint`, kind: verify.NoEndpoint, where: "webhook wh_1", repaired: true},
	{name: "orphan", sql: `INSERT INTO endpoint (webhook) VALUES ('wh_9')`, kind: verify.OrphanEndpoint, where: "webhook wh_9", repaired: true},
	{name: "delivery of no change", sql: `UPDATE delivery SET seq = 50`, kind: verify.Delivery, where: "change 50 to wh_1", others: []verify.Kind{verify.Attempt}},
	{name: "delivery without a time", sql: `UPDATE delivery SET state = 'pending'`, kind: verify.Delivery, where: "change 3 to wh_1"},
	{name: "delivery of another event", sql: `UPDATE delivery SET event = 'report.updated'`, kind: verify.Delivery, where: "change 3 to wh_1"},
	// Records and what is beside them.
	{name: "revision", sql: `UPDATE record SET revision = 70 WHERE id = 'wh_1'`, kind: verify.Record, where: "webhook wh_1"},
	{name: "record", sql: `UPDATE record SET body = '{' WHERE id = 'wh_1'`, kind: verify.Record, where: "webhook wh_1"},
	{name: "same revision", sql: `INSERT INTO record (kind, id, body, revision) VALUES ('key', 'k', '{}', 1)`, kind: verify.Record, where: " "},
	{name: "note", sql: `UPDATE note SET revision = 70`, kind: verify.Record, where: "coverage day"},
	{name: "count", sql: `UPDATE use_count SET n = -1`, kind: verify.Usage, where: "list by ana"},
	{name: "use", sql: `UPDATE use_mark SET first_at = '2090-01-01'`, sqlite: `UPDATE use_mark SET first_at = 3786912000000000`, kind: verify.Usage, where: "use of ana"},
	{name: "nonce", sql: `UPDATE once SET until = '2090-01-01'`, sqlite: `UPDATE once SET until = 3786912000000000`, kind: verify.Usage, where: "nonce counts batch"},
	{name: "setting", sql: `UPDATE setting SET value = 'yesterday' WHERE name = 'created_at'`, kind: verify.Setting, where: "created_at"},
	{name: "lease", sql: `UPDATE lease SET term = 0`, kind: verify.Setting, where: "lease other"},
	// Documents.
	{
		name: "text missing", sql: `DELETE FROM document WHERE sha256 = '` + first + `'`,
		sqlite: `DELETE FROM document_text WHERE document = (SELECT number FROM document WHERE sha256 = '` + first + `')`,
		kind:   verify.TextMissing, where: "report oir-1", repaired: true,
	},
	{
		name: "text broken", sql: `UPDATE document SET head = '{' WHERE sha256 = '` + first + `'`,
		sqlite: `UPDATE document_text SET head = '{' WHERE document = (SELECT number FROM document WHERE sha256 = '` + first + `')`,
		kind:   verify.TextBroken, where: first, repaired: true,
	},
	{
		name: "pages lost", sql: `UPDATE document SET pages = '{}' WHERE sha256 = '` + second + `'`,
		sqlite: `UPDATE document_text SET pages = '[]' WHERE document = (SELECT number FROM document WHERE sha256 = '` + second + `')`,
		kind:   verify.TextBroken, where: second, repaired: true,
	},
	{
		name: "bytes", sql: `UPDATE original SET body = '\x00' WHERE sha256 = '` + first + `'`,
		sqlite: `UPDATE original SET body = x'00' WHERE sha256 = '` + first + `'`, kind: verify.Bytes, where: first,
	},
	// The index of words.
	{name: "block missing", sql: `DELETE FROM word_block WHERE id = (SELECT min(id) FROM word_block)`, kind: verify.Segment, where: "segment", repaired: true},
	{name: "block damaged", sql: `UPDATE word_block SET body = '\x010203'`, sqlite: `UPDATE word_block SET body = x'010203'`, kind: verify.Segment, where: "segment", repaired: true},
	{
		name: "head damaged", sql: `UPDATE word_segment SET head = '\xff'`, sqlite: `UPDATE word_segment SET head = x'ff'`,
		kind: verify.Segment, where: "segment", repaired: true, others: []verify.Kind{verify.NotFound},
	},
	{name: "segment missing", sql: `DELETE FROM word_segment WHERE id = (SELECT min(id) FROM word_segment)`, kind: verify.NotFound, where: "document", repaired: true},
	// The file.
	{
		name: "references", only: "sqlite", sql: `INSERT INTO report (id, seq) VALUES ('oir-78', 999)`, kind: verify.File, where: "table report",
		others: []verify.Kind{verify.Pointer}, repaired: true,
	},
}

// TestDamage: each damage is found, and repaired if that is possible. Nothing else
// is found, and the log is never changed, but for a text that is to be fetched again.
func TestDamage(t *testing.T) {
	for name, open := range worlds {
		for _, d := range damages {
			if d.only != "" && d.only != name {
				continue
			}
			t.Run(name+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				open(t).damaged(d)
			})
		}
	}
}

func (w *world) damaged(d damage) {
	w.fill()
	before, err := w.db.Changes(w.Context(), 0, 100)
	w.must(err)
	statement := d.sql
	if w.engine == "sqlite" && d.sqlite != "" {
		statement = d.sqlite
	}
	w.must(w.raw(statement))
	c, found := w.check()
	named := slices.ContainsFunc(found, func(f verify.Finding) bool {
		return f.Kind == d.kind && strings.Contains(f.Where, d.where) && (d.kind == verify.File || f.Repairable == d.repaired)
	})
	if !named {
		w.Errorf("got findings %v, want a %s at %s, repairable: %v", found, d.kind, d.where, d.repaired)
	}
	for _, f := range found {
		if f.Kind != d.kind && !slices.Contains(d.others, f.Kind) {
			w.Errorf("got also %v", f)
		}
	}
	w.repair(c)
	_, left := w.check()
	if d.repaired && len(left) > 0 {
		w.Errorf("after the repair: %v", left)
	}
	if !d.repaired {
		if !slices.ContainsFunc(left, func(f verify.Finding) bool { return f.Kind == d.kind }) {
			w.Errorf("after the repair the %s is gone: %v", d.kind, left)
		}
		return
	}
	after, err := w.db.Changes(w.Context(), 0, 100)
	w.must(err)
	if len(after) < len(before) || !slices.EqualFunc(before, after[:len(before)], func(a, b disclosure.Change) bool { return a.Mark() == b.Mark() }) {
		w.Errorf("the log changed: %v, then %v", before, after)
	}
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
