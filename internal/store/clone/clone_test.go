package clone_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"pregon/internal/disclosure"
	"pregon/internal/document/index"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/clone"
	"pregon/internal/store/engine"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// newStore are the addresses of new stores, by engine.
var newStore = map[string]func(t *testing.T) string{
	"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "pregon.db") },
	"postgres": func(t *testing.T) string { return pgtest.Database(t) },
}

func eachPair(t *testing.T, test func(t *testing.T, from, to string)) {
	for from := range newStore {
		for to := range newStore {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				test(t, newStore[from](t), newStore[to](t))
			})
		}
	}
}

// open opens a store to be used, and openCopy one that may be a target.
func open(t *testing.T, spec string) engine.Store {
	t.Helper()
	db, err := parse(t, spec).Open(t.Context(), true)
	return opened(t, db, err)
}

func openCopy(t *testing.T, spec string) engine.Store {
	t.Helper()
	db, err := parse(t, spec).OpenCopy(t.Context(), true)
	return opened(t, db, err)
}

func opened(t *testing.T, db engine.Store, err error) engine.Store {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func parse(t *testing.T, spec string) engine.Address {
	t.Helper()
	address, err := engine.ParseAddress(spec)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func copyStore(t *testing.T, from, to string, progress func(round int, done, rows int64)) (clone.Result, error) {
	t.Helper()
	if progress == nil {
		progress = func(int, int64, int64) {}
	}
	return clone.Copy(t.Context(), clone.Options{
		From: openCopy(t, from), To: openCopy(t, to), Progress: progress,
		FromSQLite: strings.HasPrefix(from, "sqlite:"), ToSQLite: strings.HasPrefix(to, "sqlite:"),
	})
}

func mustCopy(t *testing.T, from, to string) clone.Result {
	t.Helper()
	result, err := copyStore(t, from, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func hash(n int) string { return fmt.Sprintf("%064x", n) }

// report returns a report that has a document.
func report(n int64) disclosure.Report {
	r := disclosure.Report{
		Type: disclosure.OIR, Number: n, ID: disclosure.ReportID(disclosure.OIR, n), CompanyName: "ACEROS DE NAVALBRUMA, S.A.",
		Title: fmt.Sprintf("Título «%d»", n), PublishedAt: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	}
	r.Document.Status, r.Document.SHA256 = disclosure.DocumentReady, hash(int(n))
	return r
}

// fill writes something to every table. A second call with other numbers changes and
// adds to what the first wrote.
func fill(t *testing.T, db store.Store, n int64) {
	t.Helper()
	ctx, now := t.Context(), time.Date(2026, 11, 1, 2, 3, 4, 567_891_000, time.UTC)
	_, err := db.ClaimSource(ctx, "demo")
	must(t, err)
	_, err = db.Append(ctx, store.Batch{
		Issuers: []disclosure.Issuer{{ID: "A1", Name: fmt.Sprintf("Uno %d", n), Kind: disclosure.Company}},
		Reports: []disclosure.Report{report(n), report(n + 1), report(n + 2)},
	})
	must(t, err)
	for _, kind := range []string{store.CoverageKind, "webhook", "key"} {
		_, err = db.PutRecords(ctx, nil, store.Record{Kind: kind, ID: "ñ", Body: fmt.Sprint(n), Revision: store.AnyRevision},
			store.Record{Kind: kind, ID: fmt.Sprint("b", n), Body: "é", Revision: store.AnyRevision})
		must(t, err)
	}
	_, err = db.ClaimNonce(ctx, fmt.Sprint("nonce ", n), time.Now().Add(time.Hour))
	must(t, err)
	_, err = db.RecordUse(ctx, "key_1", now.Add(time.Duration(n)*time.Hour))
	must(t, err)
	must(t, db.AddCounts(ctx, fmt.Sprint(n), store.Count{Account: "key_1", Day: disclosure.DayOf(now), Operation: "list", N: n}))
	deliver(t, db, n, now)
	for i := n; i < n+3; i++ {
		pages := []string{fmt.Sprintf("página %d \"uno\"", i), "", "dos"}
		must(t, db.PutDocument(ctx, store.Document{
			SHA256: hash(int(i)), Bytes: i, Head: `{"a": 1}`, Pages: pages, Index: index.Build(hash(int(i)), pages),
		}))
		must(t, db.PutOriginal(ctx, hash(int(i)), []byte{0, 1, byte(i)}))
	}
	must(t, db.PutDocument(ctx, store.Document{SHA256: hash(9999), Index: index.Build(hash(9999), []string{"x"})})) // no report has it
	_, _, err = db.RemoveDocuments(ctx, time.Hour)
	must(t, err)
	_, err = db.NewSegment(ctx) // a merge that was interrupted
	must(t, err)
}

func deliver(t *testing.T, db store.Store, n int64, now time.Time) {
	t.Helper()
	ctx := t.Context()
	head, err := db.Head(ctx)
	must(t, err)
	fanned, err := db.Fanned(ctx, store.ForWebhooks)
	must(t, err)
	webhooks, err := db.RecordsSince(ctx, "webhook", 0)
	must(t, err)
	f := store.FanOut{From: fanned, To: head.Seq, Epoch: head.Epoch, Revisions: map[string]int64{"webhook": webhooks[len(webhooks)-1].Revision}}
	for _, webhook := range []string{"wh_1", "wh_2"} {
		for seq := fanned + 1; seq <= head.Seq; seq++ {
			f.Deliveries = append(f.Deliveries, store.Delivery{Webhook: webhook, Seq: seq, Event: "report.published"})
		}
	}
	must(t, db.FanOut(ctx, f))
	must(t, db.Settle(ctx,
		store.Result{Webhook: "wh_1", Epoch: head.Epoch, Seq: head.Seq, State: store.DeliveryDelivered, Attempt: store.Attempt{At: now.Add(time.Duration(n)), Status: 200, Latency: time.Second}},
		store.Result{Webhook: "wh_2", Epoch: head.Epoch, Seq: head.Seq, State: store.DeliveryPending, Attempt: store.Attempt{At: now, Status: 500, Error: "ñ", Excerpt: "x"}},
	))
}

// content is everything that a store returns.
func content(t *testing.T, db store.Store) map[string]any {
	t.Helper()
	ctx, all := t.Context(), map[string]any{}
	keep := func(name string, value any, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = value
	}
	head, err := db.Head(ctx)
	keep("head", head, err)
	log := storetest.CheckLog(t, db)
	keep("log", log, nil)
	for _, kind := range []string{store.CoverageKind, "webhook", "key"} {
		records, err := db.RecordsSince(ctx, kind, 0)
		keep(kind, records, err)
	}
	source, err := db.Source(ctx)
	keep("source", source, err)
	created, err := db.CreatedAt(ctx)
	keep("created", created, err)
	uses, err := db.Uses(ctx)
	keep("uses", uses, err)
	counts, err := db.Counts(ctx, "key_1", 0, disclosure.DayOf(time.Now())+1000)
	keep("counts", counts, err)
	fanned, err := db.Fanned(ctx, store.ForWebhooks)
	keep("fanned", fanned, err)
	endpoints, err := db.Endpoints(ctx, "wh_1", "wh_2")
	keep("endpoints", endpoints, err)
	for _, webhook := range []string{"wh_1", "wh_2"} {
		deliveries, err := db.ListDeliveries(ctx, store.DeliveryQuery{Webhook: webhook, Limit: 100})
		keep(webhook, deliveries, err)
	}
	hashes := []string{hash(9999)}
	for i := range 20 {
		hashes = append(hashes, hash(i))
	}
	pages, err := db.DocumentPages(ctx, hashes...)
	keep("pages", pages, err)
	for _, h := range slices.Sorted(maps.Keys(pages)) {
		d, err := db.Document(ctx, h)
		keep("document "+h, d, err)
		if h != hash(9999) {
			body, err := db.Original(ctx, h)
			keep("original "+h, body, err)
		}
	}
	segments, err := db.Segments(ctx)
	keep("segments", segments, err)
	for _, s := range segments {
		must(t, db.SegmentHeads(ctx, []int64{s.ID}, func(id int64, head []byte) error {
			keep(fmt.Sprint("segment ", id), slices.Clone(head), nil)
			return nil
		}))
		must(t, db.Blocks(ctx, []int64{store.BlockID(s.ID, 0)}, func(id int64, block []byte) {
			keep(fmt.Sprint("block ", id), slices.Clone(block), nil)
		}))
	}
	return all
}

func checkSame(t *testing.T, from, to store.Store) {
	t.Helper()
	if diff := cmp.Diff(content(t, from), content(t, to), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the copy differs (-source +copy):\n%s", diff)
	}
}

// TestCopy copies a store, changes it, copies it again, and uses the copy.
func TestCopy(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to string) {
		source := open(t, from)
		fill(t, source, 1)
		if r := mustCopy(t, from, to); r.InUse || r.Head.Seq != 4 || r.Written == 0 {
			t.Errorf("Copy = %+v, want 4 changes of a source that is not used", r)
		}
		if r := mustCopy(t, from, to); r.Written != 0 {
			t.Errorf("a second copy wrote %d rows, want none", r.Written)
		}
		fill(t, source, 3)
		must(t, source.DropDeliveries(t.Context(), "wh_2"))
		mustCopy(t, from, to)
		target := open(t, to)
		checkSame(t, source, target)
		if _, err := copyStore(t, from, to, nil); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("copying to a store in use = %v, want Conflict", err)
		}
		// Both continue in the same way.
		fill(t, source, 7)
		fill(t, target, 7)
		for name, db := range map[string]store.Store{"source": source, "copy": target} {
			if newest, err := db.Newest(t.Context()); err != nil || newest != 11 {
				t.Errorf("the %s is at %d, %v, want 11", name, newest, err)
			}
		}
	})
}

// TestInterrupted stops a copy at several places, and continues it.
func TestInterrupted(t *testing.T) {
	longtest.Skip(t, "it copies many times")
	eachPair(t, func(t *testing.T, from, to string) {
		source := open(t, from)
		fill(t, source, 1)
		stop := errors.New("stopped")
		for at := int64(0); at < 50; at += 16 {
			ctx, cancel := context.WithCancelCause(t.Context())
			_, err := clone.Copy(ctx, clone.Options{
				From: source, To: openCopy(t, to), FromSQLite: parse(t, from).Path() != "", ToSQLite: parse(t, to).Path() != "",
				Progress: func(_ int, done, _ int64) {
					if done > at {
						cancel(stop)
					}
				},
			})
			cancel(nil)
			if err == nil {
				t.Fatalf("a copy that was stopped at %d succeeded", at)
			}
			address := parse(t, to)
			if db, err := address.Open(t.Context(), false); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "not complete") {
				if err == nil {
					_ = db.Close()
				}
				t.Fatalf("using an incomplete copy = %v, want Conflict", err)
			}
		}
		fill(t, source, 2)
		mustCopy(t, from, to)
		checkSame(t, source, open(t, to))
	})
}

// TestRefused: a target is not overwritten.
func TestRefused(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to string) {
		source := open(t, from)
		fill(t, source, 1)
		used := newStore["sqlite"](t)
		fill(t, open(t, used), 1)
		if _, err := copyStore(t, from, used, nil); fault.KindOf(err) != fault.Conflict {
			t.Errorf("copying to another store = %v, want Conflict", err)
		}
		mustCopy(t, from, to)
		other := newStore["sqlite"](t)
		fill(t, open(t, other), 1)
		if _, err := copyStore(t, other, to, nil); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "epoch") {
			t.Errorf("continuing with another source = %v, want Conflict", err)
		}
		leased := newStore["sqlite"](t)
		_, err := open(t, leased).AcquireLease(t.Context(), "x", "y", time.Second)
		must(t, err)
		if _, err := copyStore(t, from, leased, nil); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "a process has used it") {
			t.Errorf("copying to an empty store in use = %v, want Conflict", err)
		}
		_, err = source.RenewEpoch(t.Context(), head(t, source).Epoch, disclosure.Mark{})
		must(t, err)
		if _, err := copyStore(t, from, to, nil); fault.KindOf(err) != fault.Conflict {
			t.Errorf("continuing after a restored backup = %v, want Conflict", err)
		}
	})
}

func head(t *testing.T, db store.Store) disclosure.Head {
	t.Helper()
	h, err := db.Head(t.Context())
	must(t, err)
	return h
}

// TestSourceInUse: the copy of a store that a process uses is not used until it is
// copied again, or gets an epoch of its own.
func TestSourceInUse(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to string) {
		source := open(t, from)
		fill(t, source, 1)
		lease, err := source.AcquireLease(t.Context(), "ingest", "serve", time.Hour)
		must(t, err)
		if r := mustCopy(t, from, to); !r.InUse {
			t.Error("InUse = false while a process holds a lease, want true")
		}
		db, err := parse(t, to).Open(t.Context(), false)
		if err == nil {
			_ = db.Close()
		}
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "as of change 4") {
			t.Errorf("using a copy that is behind = %v, want Conflict", err)
		}
		must(t, source.ReleaseLease(t.Context(), lease))
		if r := mustCopy(t, from, to); r.InUse {
			t.Error("InUse = true after the lease was released, want false")
		}
		checkSame(t, source, open(t, to))
	})
}

// TestTwoCopies: of two processes that copy to one target, the first fails.
func TestTwoCopies(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to string) {
		source := open(t, from)
		fill(t, source, 1)
		second := false
		_, err := copyStore(t, from, to, func(int, int64, int64) {
			if !second {
				second = true
				mustCopy(t, from, to)
			}
		})
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "another process copies") {
			t.Errorf("the first of two copies = %v, want Conflict", err)
		}
		checkSame(t, source, open(t, to))
	})
}

// TestGrowingSource copies a store that grows all the time. The copy is a state that
// the source had.
func TestGrowingSource(t *testing.T) {
	longtest.Skip(t, "it copies many times")
	eachPair(t, func(t *testing.T, from, to string) {
		source := open(t, from)
		fill(t, source, 1)
		next := int64(100)
		result, err := copyStore(t, from, to, func(int, int64, int64) {
			if next < 200 {
				_, err := source.Append(t.Context(), store.Batch{Reports: []disclosure.Report{report(next)}})
				must(t, err)
				next++
			}
		})
		must(t, err)
		if !result.InUse {
			t.Error("InUse = false of a source that grew, want true")
		}
		target := openCopy(t, to)
		log := storetest.CheckLog(t, target)
		if int64(len(log)) != result.Head.Seq {
			t.Errorf("the copy has %d changes, want %d", len(log), result.Head.Seq)
		}
		mustCopy(t, from, to)
		checkSame(t, source, open(t, to))
	})
}
