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

	"pregon/internal/auth/ratelimit"
	"pregon/internal/auth/ratelimit/redistest"
	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/highwater"
	"pregon/internal/store/sqlite"
)

// world is a store, and places in which it is remembered how far it was served.
type world struct {
	*testing.T
	dir    string
	db     *sqlite.Store
	next   int64
	places []highwater.Place
	log    bytes.Buffer
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, dir: t.TempDir()}
	w.places = []highwater.Place{highwater.File(filepath.Join(w.dir, "sub", "served"))}
	w.open("pregon.db")
	return w
}

func (w *world) open(name string) {
	w.Helper()
	db, err := sqlite.Open(w.Context(), filepath.Join(w.dir, name), sqlite.Options{Create: true})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { db.Close() })
	w.db = db
}

func (w *world) append(n int) {
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

// putBack does to the log what a restored backup does, up to a change.
func (w *world) putBack(seq int64) {
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

func (w *world) keeper() *highwater.Keeper {
	return highwater.New(w.db, slog.New(slog.NewTextHandler(&w.log, nil)), w.places...)
}

func (w *world) newest() (disclosure.Head, disclosure.Mark) {
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

// serve remembers that all of the log was served.
func (w *world) serve() disclosure.Head {
	w.Helper()
	head, last := w.newest()
	if !w.keeper().Save(w.Context(), head, last) {
		w.Fatal("not saved: ", w.log.String())
	}
	return head
}

func (w *world) check(renewed bool) disclosure.Head {
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

// A log that has what was served is left alone, and one that has not is not,
// even if it is longer by now; but only once.
func TestCheck(t *testing.T) {
	for name, regrown := range map[string]int{"shorter": 0, "as long": 2, "longer": 5} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.append(5)
			w.check(false) // nothing is remembered
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
			if len(head.Past) != 1 || head.Past[0].Epoch != served.Epoch || head.Past[0].Seq > 5 {
				t.Errorf("%+v", head)
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

// The same backup is restored twice: what was served in between was of an epoch
// that the backup does not know.
func TestBackupOlderThanTheEpoch(t *testing.T) {
	w := newWorld(t)
	w.append(5)
	first := w.serve()
	w.append(2)
	second, err := w.db.RenewEpoch(t.Context(), first.Epoch, disclosure.Mark{})
	if err != nil {
		t.Fatal(err)
	}
	w.serve()
	third, err := w.db.RenewEpoch(t.Context(), second.Epoch, disclosure.Mark{}) // whose past is then taken away
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

func (w *world) sql(statement string) {
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

// A backup is served for a while, then a newer one is put back that is as long
// as that: what they share ends where the first left the log, whatever the clocks say.
func TestNewerBackupOfTheEpochBefore(t *testing.T) {
	w := newWorld(t)
	w.append(5)
	w.sql("UPDATE change SET occurred_at = occurred_at - 3600000000")
	first := w.serve()
	second, err := w.db.RenewEpoch(t.Context(), first.Epoch, disclosure.Mark{}, disclosure.Cursor{Epoch: first.Epoch, Seq: 2})
	if err != nil {
		t.Fatal(err)
	}
	w.append(3)
	w.serve()
	w.sql(fmt.Sprintf("UPDATE log_head SET epoch = '%s', past = ''", first.Epoch)) // whose changes from 3 to 5 are there
	w.putBack(5)
	head := w.check(true)
	if !slices.Contains(head.Past, disclosure.Cursor{Epoch: second.Epoch, Seq: 2}) {
		t.Errorf("%s is not shared up to 2: %v", second.Epoch, head.Past)
	}
}

// What a place has of an epoch that none can be is dropped, else the log could
// not be read any more.
func TestOddEpochs(t *testing.T) {
	w := newWorld(t)
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

// Another database under the same name is no backup.
func TestAnotherStore(t *testing.T) {
	w := newWorld(t)
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

// What a place has may be of any program, and a place may be missing.
func TestOddPlaces(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "nonsense": "{", "of another form": `{"epochs":7}`, "long": strings.Repeat(" ", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
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
			w.check(true) // by what the other place has
		})
	}
}

// Redis remembers for all replicas. One that is behind takes nothing back.
func TestRedis(t *testing.T) {
	server := redistest.Start(t)
	redis, err := ratelimit.OpenRedis(server.URL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	w := newWorld(t)
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

// Run remembers what is shown, and at the end what was shown last.
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
				t.Errorf("%d saves, and at last %s", place.saves, place.text)
			}
		}
		now.Store(&disclosure.Mark{Seq: 4, Subject: "oir-1"})
		cancel()
		<-done
		if !strings.Contains(place.text, `"last":{"seq":4`) {
			t.Errorf("at the end there is %s", place.text)
		}
	})
}

// changes is a log that does not change.
type changes []disclosure.Change

func (c changes) ChangesAt(context.Context, ...int64) ([]disclosure.Change, error) { return c[:1], nil }

func (c changes) Head(context.Context) (disclosure.Head, error) { return disclosure.Head{}, nil }

func (c changes) RenewEpoch(context.Context, string, disclosure.Mark, ...disclosure.Cursor) (disclosure.Head, error) {
	return disclosure.Head{}, nil
}

// memory is a place.
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
