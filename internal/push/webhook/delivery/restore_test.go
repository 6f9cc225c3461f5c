package delivery_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pregon/internal/push/webhook"
	"pregon/internal/store"
)

// putBack simulates a restored backup: the log, its deliveries and their results
// are as of a change.
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

// A backup is restored under a running process, and the log reaches its former
// length at once. No change is skipped, and none has the id of another, which
// receivers would discard as a duplicate.
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
	w.publish(t, p.db, 4) // 4 and 5 are different reports now
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

// The log continues at a shorter length. New changes are fanned out before it
// reaches its former length.
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
		t.Errorf("got %d requests, want report 6 as the last", len(got))
	}
}

// A webhook deleted after the backup exists again and gets the first new change.
func TestRestoredWebhook(t *testing.T) {
	w := newWorld(t)
	var encoder webhook.Encoder
	p := w.idle(t, quick, func(o *webhook.Options) { encoder = o.Encoder })
	hook, _ := create(t, p, newReceiver(t, ok))
	w.publish(t, p.db, 3)
	fan := func(to int64) {
		t.Helper()
		until(t, "what came is handed out", func() bool {
			if err := p.FanOutBatch(t.Context()); err != nil {
				t.Fatal(err)
			}
			now, err := p.db.Fanned(t.Context(), store.ForWebhooks)
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
		t.Errorf("the webhook has deliveries %+v", made)
	}
}
