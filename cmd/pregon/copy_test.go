package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/engine"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/store/storetest"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// directions are the pairs of engines between which the copies of this file go.
var directions = map[string]string{"sqlite": "postgres", "postgres": "sqlite"}

// copyTo runs pregon copy and returns its output.
func copyTo(t *testing.T, from, to string) string {
	t.Helper()
	out, err := exec.Command(program, "copy", "--from", from, "--to", to).CombinedOutput()
	if err != nil {
		t.Fatalf("pregon copy: %v\n%s", err, out)
	}
	return string(out)
}

// logOf returns the log of a store and its head.
func logOf(t *testing.T, spec string) (log []disclosure.Change, head disclosure.Head) {
	t.Helper()
	address, err := engine.ParseAddress(spec)
	if err != nil {
		t.Fatal(err)
	}
	db, err := address.OpenCopy(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if head, err = db.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	return storetest.CheckLog(t, db), head
}

// TestCopySurvivesKill kills copies at random moments while the source grows, and
// runs them again until one is complete.
func TestCopySurvivesKill(t *testing.T) {
	longtest.Skip(t, "it kills many times")
	file := filepath.Join(t.TempDir(), "reports.jsonl")
	writeReports(t, file, 6_000)
	for from, to := range directions {
		t.Run(from+" to "+to, func(t *testing.T) {
			t.Parallel()
			source, target := engines[from](t), engines[to](t)
			if out, err := exec.Command(program, "import", "reports", file, "--store", source).CombinedOutput(); err != nil {
				t.Fatalf("import: %v\n%s", err, out)
			}
			db := openStore(t, source)
			ctx, stop := context.WithCancel(t.Context())
			var appending sync.WaitGroup
			appending.Go(func() { grow(ctx, t, db) })
			kills := 0
			for complete := false; !complete; {
				cmd := exec.Command(program, "copy", "--from", source, "--to", target)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				killed := make(chan struct{})
				go func() {
					defer close(killed)
					waittest.Pace(t.Context(), time.Duration(rand.Int64N(int64(kills+1)*int64(200*time.Millisecond))))
					_ = cmd.Process.Kill()
				}()
				complete = cmd.Wait() == nil
				<-killed
				if !complete {
					kills++
				}
			}
			t.Logf("complete after %d kills", kills)
			stop()
			appending.Wait()
			if out := copyTo(t, source, target); strings.Contains(out, "in use") {
				t.Errorf("the copy of an idle source says %q", out)
			}
			want, wantHead := logOf(t, source)
			got, head := logOf(t, target)
			if len(got) != len(want) || head.String() != wantHead.String() {
				t.Errorf("the copy has %d changes and the head %s, want %d and %s", len(got), head, len(want), wantHead)
			}
		})
	}
}

// TestCopyRefused copies to a database whose disk becomes full in the middle, and
// which then takes no writes. The command says so, and completes the copy afterwards.
func TestCopyRefused(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	t.Parallel()
	file, source, target := filepath.Join(t.TempDir(), "reports.jsonl"), engines["sqlite"](t), pgtest.Database(t)
	writeReports(t, file, 6_000)
	pregon(t, source, "import", "reports", file)
	pregon(t, target, "migrate")
	refused := func(want string) {
		t.Helper()
		out, err := exec.Command(program, "copy", "--from", source, "--to", target).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "run the same command again") {
			t.Errorf("got %v, want a failure with %q and what to do\n%s", err, want, out)
		}
	}
	behind(t, target, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON change FOR EACH ROW WHEN (NEW.seq > 5000) EXECUTE FUNCTION refuse()`)
	refused("the database's disk is full")
	behind(t, target, `DROP TRIGGER refuse ON change; DROP FUNCTION refuse; DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`)
	refused("the database is read-only")
	behind(t, target+"&default_transaction_read_only=off", `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database()); END $$`)
	copyTo(t, source, target)
	want, wantHead := logOf(t, source)
	if got, head := logOf(t, target); len(got) != len(want) || head.String() != wantHead.String() {
		t.Errorf("the copy has %d changes and the head %s, want %d and %s", len(got), head, len(want), wantHead)
	}
}

// grow appends about a hundred reports a second.
func grow(ctx context.Context, t *testing.T, db store.Store) {
	for n := int64(1); ctx.Err() == nil; n++ {
		id := disclosure.ReportID(disclosure.HR, n)
		_, err := db.Append(context.WithoutCancel(ctx), store.Batch{Reports: []disclosure.Report{{
			Type: disclosure.HR, Number: n, ID: id, CompanyName: "ACEROS DE NAVALBRUMA, S.A.", Title: id, PublishedAt: time.Now().Truncate(time.Second),
		}}})
		if err != nil {
			t.Errorf("appending while the store is copied: %v", err)
			return
		}
		waittest.Pace(ctx, 10*time.Millisecond)
	}
}

// TestMove moves a service to the other engine, as docs/data.md describes it: copy
// while it runs, stop, copy again, start. Clients continue with their cursors.
func TestMove(t *testing.T) {
	longtest.Skip(t, "it copies stores while they change")
	for from, to := range directions {
		t.Run(from+" to "+to, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, startSource(t), engines[from](t))
			target := engines[to](t)
			r.start(t)
			key := pregon(t, r.spec, "keys", "create", "--plan", "pro")
			before := r.publish(t, `{"type":"oir","text":%q}`, dividend)
			r.settles(t, before)
			if out := copyTo(t, r.spec, target); !strings.Contains(out, "the source is in use") {
				t.Errorf("the copy of a store in use says %q", out)
			}
			if _, err := startService([]string{"PREGON_STORE=" + target}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "run the same pregon copy again") {
				t.Errorf("serve on a copy that is behind = %v, want a refusal", err)
			}
			between := r.publish(t, `{"type":"ip"}`)
			r.waitListed(t, between)
			var list changeList
			demand(t, r.serve.url, key, http.MethodGet, "/api/v1/changes?limit=1000&after=0", nil, &list, http.StatusOK)
			for len(list.Data) == 1000 {
				cursor := list.Next
				demand(t, r.serve.url, key, http.MethodGet, "/api/v1/changes?limit=1000&after="+cursor, nil, &list, http.StatusOK)
			}
			r.stop(t)
			if out := copyTo(t, r.spec, target); strings.Contains(out, "in use") {
				t.Errorf("the copy of a store that is not used says %q", out)
			}

			moved := newReader(t, r.source, target)
			moved.start(t)
			after := moved.publish(t, `{"type":"oir"}`)
			moved.waitListed(t, before, between, after)
			if log := moved.serve.log.String(); strings.Contains(log, "a new epoch begins") || strings.Contains(log, "another store was served") {
				t.Errorf("the service takes the copy for a backup:\n%s", log)
			}
			if s := moved.state(t, "live"); s.Source != "demo" {
				t.Errorf("the source of the copy is %q, want demo", s.Source)
			}
			cursor := list.Next
			eventually(t, func() error {
				list = changeList{}
				demand(t, moved.serve.url, key, http.MethodGet, "/api/v1/changes?limit=1000&after="+cursor, nil, &list, http.StatusOK)
				if list.Reset != nil || !slices.ContainsFunc(list.Data, func(c struct{ ID, Cursor string }) bool { return c.ID == after }) {
					return fmt.Errorf("changes after %s: got %+v, want %s and no reset", cursor, list, after)
				}
				return nil
			})
			if out, err := exec.Command(program, "copy", "--from", r.spec, "--to", target).CombinedOutput(); err == nil || !strings.Contains(string(out), "not empty") {
				t.Errorf("copying to a store in use: %v\n%s", err, out)
			}
			moved.stop(t)
		})
	}
}

// TestCopyBeside uses the copy of a store in use beside it, with an epoch of its own.
func TestCopyBeside(t *testing.T) {
	longtest.Skip(t, "it copies stores while they change")
	t.Parallel()
	source, target := engines["sqlite"](t), engines["sqlite"](t)
	db := openStore(t, source)
	if _, err := db.AcquireLease(t.Context(), "ingest", "a process", time.Hour); err != nil {
		t.Fatal(err)
	}
	if out := copyTo(t, source, target); !strings.Contains(out, "in use") {
		t.Errorf("the copy of a store in use says %q", out)
	}
	if out, err := verifyStore(target); err != nil {
		t.Errorf("verifying the copy: %v\n%s", err, out)
	}
	copyTo(t, source, target) // it is still a copy
	pregon(t, target, "restore")
	_, was := logOf(t, source)
	if _, head := logOf(t, target); head.Epoch == was.Epoch || !head.Had(was.Epoch) {
		t.Errorf("the copy has the epochs %s and %v, want a new one after %s", head.Epoch, head.Past, was.Epoch)
	}
	if err := startReplica(t, target).end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}
