package events_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/store"
	"pregon/internal/store/sqlite"
	"pregon/internal/test/longtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testHub is a hub with a real store.
type testHub struct {
	t       *testing.T
	path    string
	db      *sqlite.Store
	catalog *catalog.Catalog
	hub     *events.Hub
}

func newTestHub(t *testing.T) *testHub {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &testHub{t: t, path: path, db: db, catalog: catalog.New(db, slog.New(slog.DiscardHandler))}
	w.hub = events.NewHub(w.catalog, db)
	if err := w.catalog.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { _ = w.catalog.Follow(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done; db.Close() })
	return w
}

func newReport(number int64) disclosure.Report {
	r := disclosure.Report{
		Type: disclosure.OIR, Number: number, CompanyName: "EJEMPLAR FICTICIA, S.A.", NIF: "A69000016", Title: fmt.Sprintf("Resultados \"%d\"\n", number),
		PublishedAt: time.Date(2026, 4, 22, 8, 0, 33, 0, time.UTC),
	}
	r.ID = disclosure.ReportID(r.Type, r.Number)
	return r
}

// append appends a batch to the store and waits until the hub has it.
func (w *testHub) append(b store.Batch) {
	w.t.Helper()
	out, err := w.db.Append(w.t.Context(), b)
	if err != nil {
		w.t.Fatal(err)
	}
	for w.hub.Newest() < out.Seq {
		_, wake, _ := w.hub.Since(disclosure.Cursor{}, 0)
		if w.hub.Newest() >= out.Seq {
			return
		}
		<-wake
	}
}

// After and Read return the same events, those of the log.
func TestMemoryAndLogAgree(t *testing.T) {
	w := newTestHub(t)
	const n = 5000 // more than is kept in memory
	for i := int64(1); i <= n; i += 1000 {
		var reports []disclosure.Report
		for j := i; j < i+1000; j++ {
			reports = append(reports, newReport(j))
		}
		w.append(store.Batch{Reports: reports})
	}
	w.append(store.Batch{Issuers: []disclosure.Issuer{{ID: "A69000016", Name: "EJEMPLAR FICTICIA, S.A.", Kind: disclosure.Company, Ticker: "EJF"}}})
	newest := w.hub.Newest()
	if newest != n+1 {
		t.Fatalf("Newest() = %d, want %d", newest, n+1)
	}
	at := func(seq int64) disclosure.Cursor { return disclosure.Cursor{Epoch: w.hub.Head().Epoch, Seq: seq} }
	if _, _, ok := w.hub.Since(at(0), 10); ok {
		t.Error("Since(0) is ok, although not all events are in memory")
	}
	for _, after := range []int64{0, 1, n - 4096, n - 100, n, n + 1} {
		got, err := w.hub.After(t.Context(), at(after), 50)
		if err != nil {
			t.Fatal(err)
		}
		read, err := w.hub.Read(t.Context(), at(after), 50)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(read) || int64(len(got)) != min(50, newest-after) {
			t.Fatalf("after %d: After returned %d events and Read %d, want %d", after, len(got), len(read), min(50, newest-after))
		}
		for i := range got {
			if got[i].Seq != after+1+int64(i) || got[i].Name != read[i].Name || got[i].Seq != read[i].Seq {
				t.Fatalf("after %d: After returned %s and Read %s", after, got[i].JSON, read[i].JSON)
			}
		}
	}
	if _, _, ok := w.hub.Since(at(newest+1), 10); ok {
		t.Error("Since beyond the newest change is ok")
	}
}

// An event is flat JSON on one line, and includes the ticker of the directory.
func TestEvent(t *testing.T) {
	w := newTestHub(t)
	w.append(store.Batch{
		Issuers: []disclosure.Issuer{{ID: "A69000016", Name: "EJEMPLAR FICTICIA, S.A.", Kind: disclosure.Company, Ticker: "EJF"}},
		Reports: []disclosure.Report{newReport(7)},
	})
	changes, err := w.hub.After(t.Context(), disclosure.Cursor{Epoch: w.hub.Head().Epoch}, 10)
	if err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	var issuer, report map[string]any
	for i, into := range []*map[string]any{&issuer, &report} {
		if err := json.Unmarshal(changes[i].JSON, into); err != nil {
			t.Fatalf("%s: %v", changes[i].JSON, err)
		}
		frame := fmt.Sprintf("id: %s-%d\nevent: %s\ndata: %s\n\n", w.hub.Head().Epoch, changes[i].Seq, changes[i].Name, changes[i].JSON)
		if string(changes[i].Frame) != frame || strings.Count(frame, "\n") != 4 {
			t.Errorf("got frame %q, want %q", changes[i].Frame, frame)
		}
	}
	if report["id"] != "oir-7" || report["ticker"] != "EJF" || report["event"] != "report.published" || report["seq"] != 2.0 || report["cursor"] != w.hub.Head().Epoch+"-2" ||
		report["registered_at"] != "2026-04-22T10:00:33+02:00" || report["text_ready_at"] != nil || !reflect.DeepEqual(report["changed"], []any{}) {
		t.Errorf("unexpected event of a report: %v", report)
	}
	if facts, there := report["facts"]; !there || facts != nil || report["facts_ready_at"] != nil {
		t.Errorf("the document was not examined, but the event has the facts %v", facts)
	}
	if issuer["id"] != "A69000016" || issuer["event"] != "issuer.updated" {
		t.Errorf("unexpected event of an issuer: %v", issuer)
	}
}

// Events have the kinds and the fields of facts.
func TestEventFacts(t *testing.T) {
	w := newTestHub(t)
	stating, silent := newReport(7), newReport(8)
	for _, r := range []*disclosure.Report{&stating, &silent} {
		r.FactsRules = 1
		r.FactsReadyAt = r.PublishedAt
	}
	stating.Facts = []disclosure.Fact{{Kind: disclosure.Dividend, Fields: map[string]string{"gross_per_share": "0.25", "form": "cash"}}}
	stating.FactsDetail = strings.Repeat("0c", 32)
	w.append(store.Batch{Reports: []disclosure.Report{stating, silent}})
	changes, err := w.hub.After(t.Context(), disclosure.Cursor{Epoch: w.hub.Head().Epoch}, 10)
	if err != nil || len(changes) != 2 {
		t.Fatal(changes, err)
	}
	const at = `"facts_ready_at":"2026-04-22T10:00:33+02:00",`
	for i, want := range []string{
		at + `"facts":[{"kind":"dividend","fields":{"form":"cash","gross_per_share":"0.25"}}]}`,
		at + `"facts":[]}`,
	} {
		if got := string(changes[i].JSON); !strings.HasSuffix(got, want) || !json.Valid(changes[i].JSON) {
			t.Errorf("got %s, want %s at its end", got, want)
		}
	}
}

func TestSelection(t *testing.T) {
	w := newTestHub(t)
	w.append(store.Batch{
		Issuers: []disclosure.Issuer{{ID: "A69000016", Name: "EJEMPLAR FICTICIA, S.A.", Kind: disclosure.Company, Market: "SIBE", Ticker: "EJF"}},
		Reports: []disclosure.Report{newReport(7)},
	})
	w.append(store.Batch{Reports: []disclosure.Report{newReport(8)}, New: disclosure.Backfilled})
	changes, err := w.hub.After(t.Context(), disclosure.Cursor{Epoch: w.hub.Head().Epoch}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		s    events.Selection
		want string
	}{
		{events.Selection{}, "issuer report"},
		{events.Selection{Events: events.AllEvents}, "issuer report history"},
		{events.Selection{Events: []disclosure.Event{disclosure.Backfilled}}, "history"},
		{events.Selection{Filter: disclosure.Filter{Type: disclosure.OIR}}, "report"},
		{events.Selection{Filter: disclosure.Filter{Type: disclosure.IP}}, ""},
		{events.Selection{Filter: disclosure.Filter{Issuer: "a-69000016"}}, "issuer report"},
		{events.Selection{Filter: disclosure.Filter{Issuer: "B1"}}, ""},
		{events.Selection{Filter: disclosure.Filter{Issuer: "B1,A69000016"}}, "issuer report"},
		{events.Selection{Filter: disclosure.Filter{Issuer: "B1,B2"}}, ""},
		{events.Selection{Filter: disclosure.Filter{Kind: disclosure.Company}}, "issuer report"},
		{events.Selection{Filter: disclosure.Filter{Kind: disclosure.Fund}}, ""},
		{events.Selection{Filter: disclosure.Filter{Market: "sibe"}}, "issuer report"},
		{events.Selection{Filter: disclosure.Filter{Market: "MAB"}}, ""},
		{events.Selection{Filter: disclosure.Filter{NoSecuritisation: true}}, "issuer report"},
		{events.Selection{Filter: disclosure.Filter{Search: "ejf"}}, "report"},
	} {
		var got []string
		selector := test.s.Compile(nil)
		for i, e := range changes {
			if selector.Match(e) {
				got = append(got, []string{"issuer", "report", "history"}[i])
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v selects %v, want %s", test.s, got, test.want)
		}
	}
}

// A selection by words of documents matches the events in which the report has a
// text with these words.
func TestSelectionInDocuments(t *testing.T) {
	w := newTestHub(t)
	hashes := map[string]string{"dividendo": strings.Repeat("ab", 32), "canje": strings.Repeat("cd", 32), "lost": strings.Repeat("ef", 32)}
	for _, word := range []string{"dividendo", "canje"} {
		pages := []string{"Portada", "El " + word}
		if err := w.db.PutDocument(t.Context(), store.Document{SHA256: hashes[word], Head: "{}", Pages: pages}); err != nil {
			t.Fatal(err)
		}
	}
	r := newReport(7)
	r.PublishedAt = time.Now().UTC().Truncate(time.Second)
	w.append(store.Batch{Reports: []disclosure.Report{r}, Issuers: []disclosure.Issuer{{ID: "A69000016", Name: "EJEMPLAR FICTICIA, S.A.", Kind: disclosure.Company}}})
	for _, word := range []string{"dividendo", "canje", "lost"} { // the document is replaced
		r.Document = disclosure.Document{Status: disclosure.DocumentReady, SHA256: hashes[word], Link: "https://regulator.example/" + word}
		w.append(store.Batch{Aside: []disclosure.Report{r}})
	}
	changes, err := w.hub.After(t.Context(), disclosure.Cursor{Epoch: w.hub.Head().Epoch}, 10)
	if err != nil || len(changes) != 5 {
		t.Fatalf("got %d changes, %v; want 5", len(changes), err)
	}
	for _, test := range []struct {
		filter disclosure.Filter
		want   string
	}{
		{disclosure.Filter{Search: "dividendo", InDocument: true}, "3"},
		{disclosure.Filter{Search: "el", InDocument: true}, "3 4"},
		{disclosure.Filter{Search: "canje", InDocument: true, Type: disclosure.OIR, Issuer: "A69000016"}, "4"},
		{disclosure.Filter{Search: "canje", InDocument: true, Type: disclosure.IP}, ""},
		{disclosure.Filter{Search: "ejemplar", InDocument: true}, ""}, // a word of the name
	} {
		var got []string
		selector := events.Selection{Filter: test.filter}.Compile(nil)
		for _, e := range changes {
			matched, err := w.hub.Match(t.Context(), selector, e)
			if err != nil {
				t.Fatal(err)
			}
			if matched {
				got = append(got, fmt.Sprint(e.Seq))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%+v selects %v, want %s", test.filter, got, test.want)
		}
	}
}

// Listeners are woken when the state of the source changes.
func TestState(t *testing.T) {
	w := newTestHub(t)
	_, wake, _ := w.hub.Since(w.hub.Head().Cursor, 0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		w.hub.Watch(ctx, func() events.State { return events.State{Name: "blind", JSON: []byte(`{}`)} })
		close(done)
	}()
	<-wake
	if got := w.hub.State().Name; got != "blind" {
		t.Errorf("got state %q, want blind", got)
	}
	cancel()
	<-done
}

// restore truncates the log after a change, as restoring a backup does.
func (w *testHub) restore(seq int64) {
	w.t.Helper()
	raw, err := sql.Open("sqlite", "file:"+w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer raw.Close()
	for _, statement := range []string{
		"PRAGMA busy_timeout = 60000",
		"DELETE FROM report WHERE seq > ?", "DELETE FROM issuer WHERE seq > ?", "DELETE FROM change WHERE seq > ?", "UPDATE log_head SET seq = ?",
	} {
		args := []any{seq}[:strings.Count(statement, "?")]
		if _, err := raw.ExecContext(w.t.Context(), statement, args...); err != nil {
			w.t.Fatalf("%s: %v", statement, err)
		}
	}
}

func (w *testHub) locate(c disclosure.Cursor) events.Position {
	w.t.Helper()
	position, err := w.hub.Locate(w.t.Context(), c, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return position
}

func TestLocate(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	w := newTestHub(t)
	w.append(store.Batch{Reports: []disclosure.Report{newReport(1), newReport(2), newReport(3)}})
	head := w.hub.Head()
	for _, c := range []disclosure.Cursor{{Seq: 0}, {Seq: 3}, {Epoch: head.Epoch, Seq: 2}} {
		if p := w.locate(c); p.After != (disclosure.Cursor{Epoch: head.Epoch, Seq: c.Seq}) || p.Ahead || p.Reset != nil {
			t.Errorf("Locate(%v) = %+v, want the same seq in epoch %s", c, p, head.Epoch)
		}
	}
	var waiting sync.WaitGroup // Locate waits for these, since another process may have newer changes
	for _, c := range []disclosure.Cursor{{Seq: 4}, {Epoch: head.Epoch, Seq: 9}} {
		waiting.Go(func() {
			if p, err := w.hub.Locate(t.Context(), c, 0); err != nil || p.After != head.Cursor || !p.Ahead || p.Reset != nil {
				t.Errorf("Locate(%v) = %+v, %v, want Ahead after %v", c, p, err, head.Cursor)
			}
		})
	}
	for seq, want := range map[int64]int64{2: 2, 9: 3} { // cursors of an unknown log: no later change is skipped
		waiting.Go(func() {
			p, err := w.hub.Locate(t.Context(), disclosure.Cursor{Epoch: "other", Seq: seq}, 0)
			after := disclosure.Cursor{Epoch: head.Epoch, Seq: want}
			if err != nil || p.After != after || p.Reset == nil || p.Reset.After != after.String() || p.Reset.Time != nil {
				t.Errorf("Locate(%d of another log) = %+v, %v, want a reset to %v", seq, p, err, after)
			}
		})
	}
	waiting.Wait()
}

// After a restored backup, a reader continues after the last change that both
// logs have, even if the log has grown again.
func TestLocateAfterRestore(t *testing.T) {
	w := newTestHub(t)
	w.append(store.Batch{Reports: []disclosure.Report{newReport(1), newReport(2)}})
	w.append(store.Batch{Reports: []disclosure.Report{newReport(3), newReport(4)}})
	before := w.hub.Head()
	w.restore(2)
	renewed, err := w.db.RenewEpoch(t.Context(), before.Epoch, disclosure.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	// A cursor of the new epoch cannot be located until the catalogue has loaded it.
	if p, err := w.hub.Locate(t.Context(), disclosure.Cursor{Epoch: renewed.Epoch, Seq: 1}, 0); err == nil && (p.After.Epoch != renewed.Epoch || p.After.Seq != 1) ||
		err != nil && fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Locate(new epoch) = %+v, %v, want seq 1 or Unavailable", p, err)
	}
	w.append(store.Batch{Reports: []disclosure.Report{newReport(5), newReport(6), newReport(7)}})
	for w.hub.Head().Epoch != renewed.Epoch {
		_, wake, _ := w.hub.Since(disclosure.Cursor{}, 0)
		if w.hub.Head().Epoch != renewed.Epoch {
			<-wake
		}
	}
	for seq, want := range map[int64]int64{1: 1, 2: 2, 3: 2, 4: 2, 99: 2} {
		p := w.locate(disclosure.Cursor{Epoch: before.Epoch, Seq: seq})
		if p.After != (disclosure.Cursor{Epoch: renewed.Epoch, Seq: want}) || p.Ahead || p.Reset == nil || p.Reset.After != p.After.String() || p.Reset.Time == nil {
			t.Errorf("Locate(%d of the old epoch) = %+v with reset %+v, want seq %d", seq, p, p.Reset, want)
		}
	}
	changes, err := w.hub.After(t.Context(), disclosure.Cursor{Epoch: renewed.Epoch, Seq: 2}, 10)
	if err != nil || len(changes) == 0 || !strings.Contains(string(changes[0].JSON), `"oir-5"`) {
		t.Errorf("After(2) = %v, %v, want oir-5 first", changes, err)
	}
	if _, _, ok := w.hub.Since(before.Cursor, 10); ok {
		t.Error("Since accepts a cursor of the old epoch")
	}
}

// behindHub is a hub whose catalogue has three changes of a log that has five, and does
// not follow it.
type behindHub struct {
	*testHub
	primary *countedPrimary
	follow  func()
}

// countedPrimary counts the questions to a store.
type countedPrimary struct {
	events.Primary
	asked chan struct{} // has one value for each question that was answered
}

func (p *countedPrimary) Head(ctx context.Context) (disclosure.Head, error) {
	head, err := p.Primary.Head(ctx)
	p.asked <- struct{}{}
	return head, err
}

func newBehindHub(t *testing.T) *behindHub {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pregon.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &behindHub{
		testHub: &testHub{t: t, path: path, db: db, catalog: catalog.New(db, slog.New(slog.DiscardHandler))},
		primary: &countedPrimary{Primary: db, asked: make(chan struct{}, 100)},
	}
	w.hub = events.NewHub(w.catalog, db)
	w.hub.SetPrimary(w.primary)
	for _, batch := range [][]disclosure.Report{{newReport(1), newReport(2), newReport(3)}, {newReport(4), newReport(5)}} {
		if _, err := db.Append(t.Context(), store.Batch{Reports: batch}); err != nil {
			t.Fatal(err)
		}
		if w.catalog.Snapshot() == nil {
			if err := w.catalog.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.follow = func() {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { _ = w.catalog.Follow(ctx); close(done) }()
		t.Cleanup(func() { cancel(); <-done })
	}
	return w
}

// A cursor that the catalogue has not reached is never answered with an earlier
// position, unless the primary does not have it either.
func TestLocateBehind(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newBehindHub(t)
	head := w.hub.Head()
	var waiting sync.WaitGroup
	for _, c := range []disclosure.Cursor{{Seq: 4}, {Epoch: head.Epoch, Seq: 5}} {
		waiting.Go(func() {
			_, err := w.hub.Locate(t.Context(), c, 0)
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Unavailable || f.RetryAfter == 0 {
				t.Errorf("Locate(%v), which only the primary has: got %v, want Unavailable and a time", c, err)
			}
		})
	}
	for range 20 {
		waiting.Go(func() {
			c := disclosure.Cursor{Epoch: head.Epoch, Seq: 6}
			if p, err := w.hub.Locate(t.Context(), c, 0); err != nil || !p.Ahead || p.After != head.Cursor {
				t.Errorf("Locate(%v), which does not exist: got %+v, %v, want Ahead", c, p, err)
			}
		})
	}
	waiting.Wait()
	if n := len(w.primary.asked); n > 10 {
		t.Errorf("22 requests at once asked the primary %d times", n)
	}
	asked := len(w.primary.asked)
	if err := w.hub.Lacks(t.Context(), disclosure.Cursor{Seq: 5}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Lacks(5): got %v, want Unavailable", err)
	}
	if got := len(w.primary.asked); got != asked {
		t.Error("the primary was asked about a change that it is known to have")
	}
	for seq := range int64(3) {
		if err := w.hub.Lacks(t.Context(), disclosure.Cursor{Seq: seq}); err != nil {
			t.Errorf("Lacks(%d): %v", seq, err)
		}
	}
	if err := w.hub.Lacks(t.Context(), disclosure.Cursor{Seq: 6}); err != nil {
		t.Errorf("Lacks(6), which does not exist: %v", err)
	}
}

// Locate waits as long as the request allows. Then the reader continues where it was.
func TestLocateWaits(t *testing.T) {
	t.Parallel()
	w := newBehindHub(t)
	go func() {
		<-w.primary.asked // Locate has waited for catchUp, and goes on
		w.follow()
	}()
	c := disclosure.Cursor{Epoch: w.hub.Head().Epoch, Seq: 5}
	if p, err := w.hub.Locate(t.Context(), c, time.Minute); err != nil || p.After != c || p.Ahead {
		t.Errorf("Locate(%v) = %+v, %v, want the cursor", c, p, err)
	}
}

// awayPrimary is a primary that does not answer.
type awayPrimary struct{}

func (awayPrimary) Head(context.Context) (disclosure.Head, error) {
	return disclosure.Head{}, errors.New("connection refused")
}

// While the primary does not answer, it is not known whether a cursor is of the log.
func TestLocateWithoutPrimary(t *testing.T) {
	t.Parallel()
	w := newBehindHub(t)
	w.hub.SetPrimary(awayPrimary{})
	head := w.hub.Head()
	var waiting sync.WaitGroup
	for _, c := range []disclosure.Cursor{{Epoch: head.Epoch, Seq: 5}, {Epoch: head.Epoch, Seq: 99}, {Epoch: "other", Seq: 1}} {
		waiting.Go(func() {
			p, err := w.hub.Locate(t.Context(), c, 0)
			if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Locate(%v): got %+v, %v, want Unavailable", c, p, err)
			}
		})
	}
	waiting.Wait()
	if p := w.locate(disclosure.Cursor{Seq: 3}); p.After != head.Cursor {
		t.Errorf("Locate(3) = %+v, want %v", p, head.Cursor)
	}
}

// A copy that does not have the new epoch yet does not take its cursors for those of
// another log.
func TestLocateNewEpochBehind(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	w := newBehindHub(t)
	renewed, err := w.db.RenewEpoch(t.Context(), w.hub.Head().Epoch, disclosure.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []disclosure.Cursor{renewed.Cursor, {Epoch: w.hub.Head().Epoch, Seq: 5}} {
		if p, err := w.hub.Locate(t.Context(), c, 0); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("Locate(%v) = %+v, %v, want Unavailable", c, p, err)
		}
	}
}

// A fail-over lost the end of the log, which another process has served. A reader with a
// cursor from there is not refused while that process has not renewed the epoch yet.
func TestLocateLostEnd(t *testing.T) {
	t.Parallel()
	w := newBehindHub(t)
	former := w.hub.Head().Epoch
	renewed := make(chan error, 1)
	go func() {
		<-w.primary.asked // it does not have the cursor
		_, err := w.db.RenewEpoch(t.Context(), former, disclosure.Mark{})
		w.follow()
		renewed <- err
	}()
	c := disclosure.Cursor{Epoch: former, Seq: 6}
	if p, err := w.hub.Locate(t.Context(), c, 0); err != nil || p.Ahead || p.Reset == nil {
		t.Errorf("Locate(%v) = %+v, %v, want a reset", c, p, err)
	}
	if err := <-renewed; err != nil {
		t.Error(err)
	}
}
