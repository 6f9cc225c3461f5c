package webhook_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pregon/internal/webhook"
)

// putBack does to the store what a restored backup does: the log, what was
// handed out of it and what became of that are as they were at a change.
func (w *world) putBack(t *testing.T, seq int64) {
	t.Helper()
	raw, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(60000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	tx, err := raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, table := range []string{"report", "issuer", "change", "delivery", "attempt"} {
		if _, err := tx.ExecContext(t.Context(), "DELETE FROM "+table+" WHERE seq > ?", seq); err != nil {
			t.Fatal(err)
		}
	}
	for _, head := range []string{"log_head", "fanned"} {
		if _, err := tx.ExecContext(t.Context(), "UPDATE "+head+" SET seq = ?", seq); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// A backup is restored under a running process, and the log is as long again at
// once. No change is passed over, and none comes under the id of another, which
// its receiver would take for one that it has.
func TestRestoredLog(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 5)
	settled(t, p, hook.ID, 5)
	before, err := p.db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	w.putBack(t, 3)
	w.publish(t, p.db, 4) // 4 and 5 are others now
	settled(t, p, hook.ID, 7)
	after, err := p.db.Head(t.Context())
	if err != nil || after.Epoch == before.Epoch {
		t.Errorf("the epoch was not renewed: %v, %v", after, err)
	}
	bodies, titles := map[string]string{}, []string{}
	for _, q := range r.requests() {
		var body struct{ Title string }
		if err := json.Unmarshal(q.body, &body); err != nil {
			t.Fatal(err)
		}
		if had, ok := bodies[q.id]; ok && had != body.Title {
			t.Errorf("%s is both %q and %q", q.id, had, body.Title)
		}
		bodies[q.id] = body.Title
		titles = append(titles, body.Title)
	}
	slices.Sort(titles)
	want := "Report 1, Report 2, Report 3, Report 4, Report 5, Report 6, Report 7, Report 8, Report 9"
	if got := strings.Join(slices.Compact(titles), ", "); got != want {
		t.Errorf("got %s", got)
	}
	for _, d := range deliveries(t, p, hook.ID) {
		if want := map[bool]string{true: before.Epoch, false: after.Epoch}[d.Seq <= 3]; d.Epoch != want {
			t.Errorf("delivery %d is of %s, want %s", d.Seq, d.Epoch, want)
		}
	}
}

// The log is shorter than it was when it goes on: what comes is handed out all
// the same, before the log is as long again.
func TestShorterLog(t *testing.T) {
	w := newWorld(t)
	p := w.process(t, quick, nil)
	r := newReceiver(t, ok)
	hook, _ := create(t, p, r)
	w.publish(t, p.db, 5)
	settled(t, p, hook.ID, 5)
	w.putBack(t, 3)
	w.publish(t, p.db, 1)
	settled(t, p, hook.ID, 4)
	if got := r.requests(); len(got) != 6 || !strings.Contains(string(got[5].body), `"Report 6"`) {
		t.Errorf("%d requests came, and not with report 6 at last", len(got))
	}
}

// A webhook that was deleted since the backup is there again: it gets the first
// change that comes, and keeps it.
func TestRestoredWebhook(t *testing.T) {
	w := newWorld(t)
	var encoder webhook.Encoder
	p := w.idle(t, quick, func(o *webhook.Options) { encoder = o.Encoder })
	hook, _ := create(t, p, newReceiver(t, ok))
	w.publish(t, p.db, 3)
	fan := func(to int64) {
		t.Helper()
		until(t, "what came is handed out", func() bool {
			if err := p.FanSome(t.Context()); err != nil {
				t.Fatal(err)
			}
			now, err := p.db.Fanned(t.Context())
			return err == nil && now == to
		})
	}
	fan(3)
	before := encoder.Head().Epoch

	raw, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	var body string
	var revision int64
	if err := raw.QueryRowContext(t.Context(), "SELECT body, revision FROM record WHERE id = ?", hook.ID).Scan(&body, &revision); err != nil {
		t.Fatal(err)
	}
	if err := p.Delete(t.Context(), owner, hook.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), "UPDATE record SET body = ?, revision = ? WHERE id = ?", body, revision, hook.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.ExecContext(t.Context(), "UPDATE record_head SET revision = ?", revision); err != nil {
		t.Fatal(err)
	}
	w.putBack(t, 2)
	until(t, "the catalogue has loaded the backup", func() bool { return encoder.Head().Epoch != before })
	w.publish(t, p.db, 1)
	fan(3)
	if err := errors.Join(p.Refresh(t.Context()), p.Tidy(t.Context())); err != nil {
		t.Fatal(err)
	}
	made := deliveries(t, p, hook.ID)
	if len(made) == 0 || made[len(made)-1].Seq != 3 {
		t.Errorf("it has %+v", made)
	}
}
