package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// backedUp is a store that is copied and restored while no process uses it.
type backedUp struct {
	*testing.T
	spec, cache, key string
	s                *service
	next             int64 // number of the next report

	mu  sync.Mutex
	ids map[string]string // guarded by mu: report by delivery id
	got map[string]bool   // guarded by mu: delivered reports
}

// copyStore makes one store a copy of another.
func copyStore(t *testing.T, from, to string) {
	t.Helper()
	if path, ok := strings.CutPrefix(from, "sqlite:"); ok {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		target := strings.TrimPrefix(to, "sqlite:")
		for _, beside := range []string{"-wal", "-shm"} {
			if err := os.RemoveAll(target + beside); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(target, body, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	names := make([]string, 2)
	for i, address := range []string{from, to} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		names[i] = strings.TrimPrefix(u.Path, "/")
	}
	u, _ := url.Parse(from)
	u.Path = "/postgres"
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, statement := range []string{"DROP DATABASE IF EXISTS %[2]s WITH (FORCE)", "CREATE DATABASE %[2]s TEMPLATE %[1]s"} {
		if _, err := conn.Exec(t.Context(), fmt.Sprintf(statement, names[0], names[1])); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *backedUp) start() {
	b.Helper()
	s, err := startService([]string{"PREGON_STORE=" + b.spec}, b.TempDir(), "--webhook-allow-private", "--cache-dir", b.cache)
	if err != nil {
		b.Fatal(err)
	}
	b.s = s
}

func (b *backedUp) stop() {
	b.Helper()
	if err := b.s.end(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
}

// file appends new reports, and returns their ids.
func (b *backedUp) file(n int) (ids []string) {
	b.Helper()
	db, closeDB := openAlone(b.T, b.spec)
	defer closeDB()
	var batch store.Batch
	for range n {
		b.next++
		id := disclosure.ReportID(disclosure.OIR, b.next)
		batch.Reports = append(batch.Reports, disclosure.Report{
			Type: disclosure.OIR, Number: b.next, ID: id, CompanyName: "ACEROS DE NAVALBRUMA, S.A.", Title: "[Simulación] " + id, PublishedAt: time.Now().Truncate(time.Second),
		})
		ids = append(ids, id)
	}
	if _, err := db.Append(b.Context(), batch); err != nil {
		b.Fatal(err)
	}
	return ids
}

// openAlone opens a store that must be closed before it is copied.
func openAlone(t *testing.T, spec string) (store.Store, func()) {
	t.Helper()
	db := openStore(t, spec)
	return db, func() { _ = db.Close() }
}

func (b *backedUp) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var e struct{ ID string }
	if err != nil || json.Unmarshal(body, &e) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := r.Header.Get("Webhook-Id")
	if had := b.ids[id]; had != "" && had != e.ID {
		b.Errorf("%s is the id of both %s and %s", id, had, e.ID)
		return
	}
	b.ids[id], b.got[e.ID] = e.ID, true
}

// received waits until the webhook has the reports.
func (b *backedUp) received(ids []string) {
	b.Helper()
	eventually(b.T, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, id := range ids {
			if !b.got[id] {
				return fmt.Errorf("%s was not delivered", id)
			}
		}
		return nil
	})
}

type changeList struct {
	Data  []struct{ ID, Cursor string }
	Next  string
	Reset *struct{ Reason, After string }
}

// changes reads all changes after a cursor, once the service has some.
func (b *backedUp) changes(after string, want []string) (list changeList) {
	b.Helper()
	eventually(b.T, func() error {
		list = changeList{}
		demand(b.T, b.s.url, b.key, http.MethodGet, "/api/v1/changes?limit=1000&after="+after, nil, &list, http.StatusOK)
		for _, id := range want {
			if !slices.ContainsFunc(list.Data, func(e struct{ ID, Cursor string }) bool { return e.ID == id }) {
				return fmt.Errorf("%s is not among the changes after %s: %+v", id, after, list)
			}
		}
		return nil
	})
	return list
}

// TestRestore restores a backup and lets the log grow past its old end. A client
// with an old cursor gets a reset and every new report. A webhook gets them under
// new ids. In the first round the service detects the restore; in the second the
// operator runs pregon restore.
func TestRestore(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &backedUp{T: t, spec: newStore(t), cache: t.TempDir(), ids: map[string]string{}, got: map[string]bool{}}
			backup := newStore(t)
			receiver := httptest.NewServer(http.HandlerFunc(b.take))
			defer receiver.Close()
			b.start()
			b.key = pregon(t, b.spec, "keys", "create", "--plan", "pro")
			demand(t, b.s.url, b.key, http.MethodPost, "/api/v1/webhooks", map[string]any{"url": receiver.URL, "events": everyEvent}, nil, http.StatusCreated)
			kept := b.file(5)
			b.received(kept)
			b.stop()
			copyStore(t, b.spec, backup)
			b.start()
			lost := b.file(3)
			b.received(lost)
			cursor := b.changes("0", append(kept, lost...)).Next
			b.stop()

			for _, detected := range []bool{true, false} {
				copyStore(t, backup, b.spec)
				if !detected { // no record of the last served position
					path, _ := strings.CutPrefix(b.spec, "sqlite:")
					files, err := filepath.Glob(filepath.Join(b.cache, "served-*"))
					if err != nil {
						t.Fatal(err)
					}
					for _, file := range append(files, path+".served") {
						if err := os.RemoveAll(file); err != nil {
							t.Fatal(err)
						}
					}
					if said := pregon(t, b.spec, "restore"); !strings.Contains(said, "the epoch of") {
						t.Errorf("restore says %q", said)
					}
				}
				b.start()
				if warned := strings.Contains(b.s.log.String(), "a new epoch begins"); warned != detected {
					t.Errorf("the service noticed: %v, want %v\n%s", warned, detected, b.s.log)
				}
				others := b.file(6)
				b.received(others)
				list := b.changes(cursor, others)
				if list.Reset == nil || !strings.Contains(list.Reset.Reason, "a backup was restored") {
					t.Errorf("changes after the old cursor %s: got reset %+v, want the restore as its reason", cursor, list.Reset)
				}
				got := make([]string, len(list.Data))
				for i, e := range list.Data {
					got[i] = e.ID
				}
				if !slices.Equal(got, others) { // what both logs have does not come again
					t.Errorf("changes after the old cursor %s, reset to %s: got %q, want %q", cursor, list.Reset.After, got, others)
				}
				if again := b.changes(list.Next, nil); again.Reset != nil || len(again.Data) > 0 {
					t.Errorf("changes after the new cursor %s: got %+v, want none and no reset", list.Next, again)
				}
				cursor = list.Next
				b.stop()
			}
		})
	}
}

// TestRestoreReleasesTheLease: a serve that starts after pregon restore reads the
// source at once.
func TestRestoreReleasesTheLease(t *testing.T) {
	for name, newStore := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := newStore(t)
			db := openStore(t, spec)
			if said := pregon(t, spec, "restore"); !strings.Contains(said, "the epoch of") {
				t.Errorf("restore says %q", said)
			}
			if lease, held, err := db.CurrentLease(t.Context(), "ingest"); err != nil || held || lease.Term == 0 {
				t.Errorf("after restore the lease is %+v, held %v, %v; want one that was released", lease, held, err)
			}
		})
	}
}
