package highwater_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"pregon/internal/disclosure"
	"pregon/internal/server/ratelimit"
	"pregon/internal/server/ratelimit/redistest"
	"pregon/internal/store"
	"pregon/internal/store/highwater"
	"pregon/internal/store/sqlite"
)

// fixture is a store, and the places in which it is recorded how far it was served.
type fixture struct {
	*testing.T
	dir    string
	db     *sqlite.Store
	next   int64
	places []highwater.Place
	log    bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	w := &fixture{T: t, dir: t.TempDir()}
	w.places = []highwater.Place{highwater.File(filepath.Join(w.dir, "sub", "served"))}
	w.open("pregon.db")
	return w
}

func (w *fixture) open(name string) {
	w.Helper()
	db, err := sqlite.Open(w.Context(), filepath.Join(w.dir, name), sqlite.Options{Create: true})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { db.Close() })
	w.db = db
}

func (w *fixture) append(n int) {
	w.Helper()
	var b store.Batch
	for range n {
		w.next++
		r := disclosure.Report{Type: disclosure.OIR, Number: w.next, CompanyName: "EJEMPLAR FICTICIA, S.A.", Title: "Resultados", PublishedAt: time.Date(2026, 4, 22, 8, 0, 0, 0, time.UTC)}
		r.ID = disclosure.ReportID(r.Type, r.Number)
		b.Reports = append(b.Reports, r)
	}
	if _, err := w.db.Append(w.Context(), b); err != nil {
		w.Fatal(err)
	}
}

// putBack truncates the log after a change, as a restored backup would.
func (w *fixture) putBack(seq int64) {
	w.Helper()
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "pregon.db")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		w.Fatal(err)
	}
	defer raw.Close()
	for _, statement := range []string{
		"DELETE FROM report WHERE seq > %d", "DELETE FROM issuer WHERE seq > %d", "DELETE FROM change WHERE seq > %d", "UPDATE log_head SET seq = %d",
	} {
		if _, err := raw.ExecContext(w.Context(), fmt.Sprintf(statement, seq)); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *fixture) keeper() *highwater.Keeper {
	return highwater.New(w.db, slog.New(slog.NewTextHandler(&w.log, nil)), w.places...)
}

func (w *fixture) newest() (disclosure.Head, disclosure.Mark) {
	w.Helper()
	head, err := w.db.Head(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	found, err := w.db.ChangesAt(w.Context(), head.Seq)
	if err != nil || len(found) != 1 {
		w.Fatal(found, err)
	}
	return head, found[0].Mark()
}

// serve records that the whole log was served.
func (w *fixture) serve() disclosure.Head {
	w.Helper()
	head, last := w.newest()
	if !w.keeper().Save(w.Context(), head, last) {
		w.Fatal("not saved: ", w.log.String())
	}
	return head
}

func (w *fixture) check(renewed bool) disclosure.Head {
	w.Helper()
	before, _ := w.newest()
	head, got, err := w.keeper().Check(w.Context())
	if err != nil || got != renewed || renewed == (head.Epoch == before.Epoch) {
		w.Errorf("the epoch is %s, was %s, renewed %v, %v; want %v", head.Epoch, before.Epoch, got, err, renewed)
	}
	if now, _ := w.newest(); now.Epoch != head.Epoch {
		w.Errorf("the head is %v, and %v was returned", now, head)
	}
	return head
}

// TestCheck: the epoch is renewed, once, when served changes are missing from the
// log, even if the log is longer by now.
func TestCheck(t *testing.T) {
	for name, regrown := range map[string]int{"shorter": 0, "as long": 2, "longer": 5} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.append(5)
			w.check(false) // nothing is recorded yet
			served := w.serve()
			w.check(false)
			w.append(2)
			w.check(false)
			w.serve()
			w.putBack(5)
			if regrown > 0 {
				w.append(regrown)
			}
			head := w.check(true)
			if len(head.Past) != 1 || head.Past[0] != (disclosure.Cursor{Epoch: served.Epoch, Seq: 5}) {
				t.Errorf("head = %+v, want one past epoch %s up to 5", head, served.Epoch)
			}
			if !strings.Contains(w.log.String(), "level=WARN") {
				t.Errorf("the log has %s", &w.log)
			}
			w.check(false)
			w.append(3)
			w.serve()
			w.check(false)
		})
	}
}

// TestBackupOlderThanTheEpoch: a backup is restored twice, and the changes served
// in between belong to an epoch that the backup does not have.
func TestBackupOlderThanTheEpoch(t *testing.T) {
	w := newFixture(t)
	w.append(5)
	first := w.serve()
	w.append(2)
	second, err := w.db.RenewEpoch(t.Context(), first.Epoch, disclosure.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	w.serve()
	third, err := w.db.RenewEpoch(t.Context(), second.Epoch, disclosure.Mark{}) // its past is removed below
	if err != nil {
		t.Fatal(err)
	}
	w.sql("UPDATE log_head SET past = ''")
	head := w.check(true)
	for _, lost := range []string{first.Epoch, second.Epoch, third.Epoch} {
		if !strings.Contains(disclosure.FormatPast(head.Past), lost+"-") {
			t.Errorf("%s is not among %v", lost, head.Past)
		}
	}
	w.check(false)
}

func (w *fixture) sql(statement string) {
	w.Helper()
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "pregon.db")+"?_pragma=busy_timeout(60000)")
	if err != nil {
		w.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(w.Context(), statement); err != nil {
		w.Fatal(err)
	}
}

// A backup is served for a while, then a newer backup of the same length is
// restored: the shared part ends where the first backup ended, whatever the times
// of the changes.
func TestNewerBackupOfTheEpochBefore(t *testing.T) {
	w := newFixture(t)
	w.append(5)
	w.sql("UPDATE change SET occurred_at = occurred_at - 3600000000")
	first := w.serve()
	second, err := w.db.RenewEpoch(t.Context(), first.Epoch, disclosure.Mark{}, disclosure.Cursor{Epoch: first.Epoch, Seq: 2})
	if err != nil {
		t.Fatal(err)
	}
	w.append(3)
	w.serve()
	w.sql(fmt.Sprintf("UPDATE log_head SET epoch = '%s', past = ''", first.Epoch)) // the backup with the changes 3 to 5 of the first epoch
	w.putBack(5)
	head := w.check(true)
	if !slices.Contains(head.Past, disclosure.Cursor{Epoch: second.Epoch, Seq: 2}) {
		t.Errorf("%s is not shared up to 2: %v", second.Epoch, head.Past)
	}
}

// Records of an invalid epoch are dropped; otherwise the log could not be read any
// more.
func TestOddEpochs(t *testing.T) {
	w := newFixture(t)
	w.append(5)
	w.serve()
	path := w.places[0].String()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _ := w.newest()
	for _, odd := range []string{"", "X", "a b", strings.Repeat("x", 33)} {
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(head.Epoch), []byte(odd)), 0o600); err != nil {
			t.Fatal(err)
		}
		w.check(false)
	}
}

// Another database under the same name is not taken for a backup.
func TestAnotherStore(t *testing.T) {
	w := newFixture(t)
	w.append(5)
	w.serve()
	w.open("other.db")
	w.append(3)
	w.check(false)
	if !strings.Contains(w.log.String(), "another store was served under this name") {
		t.Errorf("the log has %s", &w.log)
	}
	w.serve()
	w.check(false)
}

// The text of a place may come from another program, and a place may be missing.
func TestOddPlaces(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "nonsense": "{", "of another form": `{"epochs":7}`, "long": strings.Repeat(" ", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.append(5)
			path := filepath.Join(w.dir, "odd")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			w.places = []highwater.Place{highwater.File(path), highwater.File(filepath.Join(w.dir, "other"))}
			w.check(false)
			head, last := w.newest()
			w.keeper().Save(t.Context(), head, last)
			w.putBack(3)
			w.check(true) // by the record of the other place
		})
	}
}

// Redis keeps the record of all replicas. A replica that is behind does not lower
// it.
func TestRedis(t *testing.T) {
	server := redistest.Start(t)
	redis, err := ratelimit.OpenRedis(server.URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	w := newFixture(t)
	w.places = []highwater.Place{highwater.Redis{Conn: redis, Key: "pregon:served:test"}}
	w.append(5)
	_, behind := w.newest()
	w.append(2)
	head := w.serve()
	if !w.keeper().Save(t.Context(), head, behind) {
		t.Error("not saved")
	}
	w.putBack(6)
	w.check(true)
}

// TestRun: Run saves the newest served change, and the last one when it ends.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := changes{{Seq: 1, Report: &disclosure.Report{ID: "oir-1"}}}
		place := &memory{}
		k := highwater.New(log, slog.New(slog.DiscardHandler), place)
		var now atomic.Pointer[disclosure.Mark]
		now.Store(&disclosure.Mark{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			k.Run(ctx, func() (disclosure.Head, disclosure.Mark) {
				shown := *now.Load()
				return disclosure.Head{Cursor: disclosure.Cursor{Epoch: "a", Seq: shown.Seq}}, shown
			})
			close(done)
		}()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if place.saves != 0 {
			t.Errorf("an empty log was saved: %s", place.text)
		}
		for seq := int64(1); seq <= 3; seq++ {
			now.Store(&disclosure.Mark{Seq: seq, Subject: "oir-1"})
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if place.saves != int(seq) || !strings.Contains(place.text, fmt.Sprintf(`"last":{"seq":%d`, seq)) {
				t.Errorf("%d saves, the last %s; want %d", place.saves, place.text, seq)
			}
		}
		now.Store(&disclosure.Mark{Seq: 4, Subject: "oir-1"})
		cancel()
		<-done
		if !strings.Contains(place.text, `"last":{"seq":4`) {
			t.Errorf("the last save is %s, want seq 4", place.text)
		}
	})
}

// changes is a fake log that does not change.
type changes []disclosure.Change

func (c changes) ChangesAt(context.Context, ...int64) ([]disclosure.Change, error) { return c[:1], nil }

func (c changes) Marks(context.Context, int64, int) ([]disclosure.Mark, error) { return nil, nil }

func (c changes) Head(context.Context) (disclosure.Head, error) { return disclosure.Head{}, nil }

func (c changes) RenewEpoch(context.Context, string, disclosure.Mark, ...disclosure.Cursor) (disclosure.Head, error) {
	return disclosure.Head{}, nil
}

// memory is a Place in memory.
type memory struct {
	text  string
	saves int
}

func (m *memory) Load(context.Context) ([]byte, error) { return []byte(m.text), nil }
func (m *memory) String() string                       { return "memory" }
func (m *memory) Save(_ context.Context, text []byte) error {
	m.text = string(text)
	m.saves++
	return nil
}

// TestTree: the largest published tree of an epoch is found again, by any process,
// also when a slower one saves a smaller tree later.
func TestTree(t *testing.T) {
	w := newFixture(t)
	w.append(3)
	head, err := w.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last, err := w.db.ChangesAt(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(&w.log, nil))
	for _, size := range []int64{2, 3, 1} {
		k := highwater.New(w.db, logger, w.places...)
		k.Publishes(func() (string, highwater.Tree) {
			return head.Epoch, highwater.Tree{Size: size, Root: tlog.RecordHash([]byte{byte(size)})}
		})
		if !k.Save(t.Context(), head, last[0].Mark()) {
			t.Fatal("it was not saved")
		}
	}
	k := highwater.New(w.db, logger, w.places...)
	if got, want := k.Tree(t.Context(), head.Epoch), (highwater.Tree{Size: 3, Root: tlog.RecordHash([]byte{3})}); got != want {
		t.Errorf("the tree is %+v, want %+v", got, want)
	}
	if got := k.Tree(t.Context(), "other"); got != (highwater.Tree{}) {
		t.Errorf("the tree of another epoch is %+v", got)
	}
	k.Publishes(func() (string, highwater.Tree) { return "other", highwater.Tree{Size: 9} })
	k.Save(t.Context(), head, last[0].Mark())
	if got := k.Tree(t.Context(), head.Epoch); got.Size != 3 {
		t.Errorf("the tree of another log was recorded: %+v", got)
	}
}

// TestWhereLogsPart: the last change that a restored log shares with the served one is
// found exactly if the logs part within the newest 1024 served changes, however fast they came.
func TestWhereLogsPart(t *testing.T) {
	for name, test := range map[string]struct {
		served, backup, regrown int
		want                    int64
	}{
		"nothing lost but one":     {40, 39, 0, 39},
		"regrown to the same seq":  {40, 39, 1, 39},
		"a young log":              {40, 1, 60, 1},
		"the first of the trail":   {1100, 77, 0, 77},
		"before the trail":         {1100, 76, 0, 0}, // all within a minute: by time nothing is certain
		"before the trail, longer": {1100, 76, 1500, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.append(test.backup)
			keeper := w.keeper()
			for appended, step := test.backup, 0; appended < test.served; appended += step { // as Run does, several times
				step = min(700, test.served-appended)
				w.append(step)
				head, last := w.newest()
				if !keeper.Save(t.Context(), head, last) {
					t.Fatal("not saved: ", w.log.String())
				}
			}
			w.putBack(int64(test.backup))
			if test.regrown > 0 {
				w.append(test.regrown)
			}
			if head := w.check(true); len(head.Past) != 1 || head.Past[0].Seq != test.want {
				t.Errorf("shared up to %v, want %d", head.Past, test.want)
			}
		})
	}
}

// A record of an earlier version has no trail, and one that was damaged is ignored: the
// shared part is then found by time.
func TestWithoutTrail(t *testing.T) {
	for name, replace := range map[string]string{"none": "", "not encoded": "%%", "too short": "AAAA", "of another log": strings.Repeat("A", 40)} {
		w := newFixture(t)
		w.append(5)
		w.serve()
		path := w.places[0].String()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), `"trail":"`)
		trail, _, _ := strings.Cut(rest, `"`)
		if !found || trail == "" {
			t.Fatalf("the record has no trail: %s", text)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(trail), []byte(replace)), 0o600); err != nil {
			t.Fatal(err)
		}
		w.putBack(3)
		if head := w.check(true); len(head.Past) != 1 || head.Past[0].Seq != 0 {
			t.Errorf("%s: shared up to %v, want 0", name, head.Past)
		}
	}
}

// The text of a place stays short enough to be read with many epochs.
func TestSizeOfRecord(t *testing.T) {
	w := newFixture(t)
	w.append(1100)
	_, last := w.newest()
	past := make([]disclosure.Cursor, 32)
	for n := range past {
		past[n] = disclosure.Cursor{Epoch: disclosure.NewEpoch(), Seq: 12345678}
	}
	for range 40 {
		head := disclosure.Head{Cursor: disclosure.Cursor{Epoch: disclosure.NewEpoch(), Seq: 1100}, Past: past}
		if !w.keeper().Save(t.Context(), head, last) {
			t.Fatal("not saved: ", w.log.String())
		}
	}
}
