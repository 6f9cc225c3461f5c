package sealing_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"pregon/internal/auth/sealing"
	"pregon/internal/auth/secret"
	"pregon/internal/store"
)

var errStore = errors.New("the store does not answer")

// faulty is a store of which calls fail, or do something before they answer.
type faulty struct {
	store.Store
	read, write func() error
}

func (f *faulty) RecordsSince(ctx context.Context, kind string, revision int64) ([]store.Record, error) {
	if f.read != nil {
		if err := f.read(); err != nil {
			return nil, err
		}
	}
	return f.Store.RecordsSince(ctx, kind, revision)
}

func (f *faulty) PutRecords(ctx context.Context, lease *store.Lease, records ...store.Record) ([]store.Record, error) {
	if f.write != nil {
		if err := f.write(); err != nil {
			return nil, err
		}
	}
	return f.Store.PutRecords(ctx, lease, records...)
}

// A key that could not be read or stored is not used: replicas must agree on one.
func TestStoreFails(t *testing.T) {
	db := &faulty{Store: openStore(t, filepath.Join(t.TempDir(), "pregon.db"))}
	fail := func() error { return errStore }
	k := sealing.New(db, box(t, outer), nil)
	db.read = fail
	if err := k.LoadOrCreate(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("while the store cannot be read: %v", err)
	}
	db.read = nil
	if records, err := db.RecordsSince(t.Context(), "sealing-key", 0); err != nil || len(records) != 0 {
		t.Errorf("a key was created although it is not known whether there is one: %v, %v", records, err)
	}
	db.write = fail
	if err := k.LoadOrCreate(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("while the store cannot be written: %v", err)
	}
	db.write = nil
	calls := 0
	db.read = func() error {
		if calls++; calls == 2 {
			return errStore
		}
		return nil
	}
	if err := k.LoadOrCreate(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("while the key that was created cannot be read: %v", err)
	}
	db.read = nil
	if err := k.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.write = fail
	if err := k.Replace(t.Context()); !errors.Is(err, errStore) {
		t.Errorf("a key is reported as replaced: %v", err)
	}
	if err := k.LoadOrCreate(t.Context()); err != nil {
		t.Errorf("a key that is there needs no write: %v", err)
	}
}

// Of two processes that create the key at the same moment, both use the one that was
// stored.
func TestCreatedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	other := sealing.New(openStore(t, path), box(t, outer), nil)
	db := &faulty{Store: openStore(t, path)}
	db.write = func() error { return other.LoadOrCreate(t.Context()) }
	k := sealing.New(db, box(t, outer), nil)
	if err := k.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, ok := other.OpenToken("cookie", k.SealToken("cookie", "text")); !ok || text != "text" {
		t.Errorf("%q, %v", text, ok)
	}
}

// A record that does not hold a key does not replace the one in use, and is reported.
func TestRecordWithoutAKey(t *testing.T) {
	db := openStore(t, filepath.Join(t.TempDir(), "pregon.db"))
	var log bytes.Buffer
	k := sealing.New(db, box(t, outer), slog.New(slog.NewTextHandler(&log, nil)))
	if err := k.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	sealed := k.SealToken("cookie", "text")
	records, err := db.RecordsSince(t.Context(), "sealing-key", 0)
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	text, err := box(t, outer).Open("sealing-key", records[0].Body)
	if err != nil || len(text) != 43 {
		t.Errorf("the key has %d characters, %v; want 43", len(text), err)
	}
	for n, body := range []string{"v1:AAAA", box(t, outer).Seal("sealing-key", "short")} {
		if _, err := store.PutRecord(t.Context(), db, store.Record{Kind: "sealing-key", ID: "1", Body: body, Revision: store.AnyRevision}); err != nil {
			t.Fatal(err)
		}
		if err := k.LoadOrCreate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if text, ok := k.OpenToken("cookie", sealed); !ok || text != "text" {
			t.Errorf("the key in use is gone: %q, %v", text, ok)
		}
		if got := strings.Count(log.String(), "level=ERROR"); got != n+1 {
			t.Errorf("%d errors, want %d: %s", got, n+1, &log)
		}
	}
	if _, err := secret.NewBox(text); err != nil {
		t.Error(err)
	}
}

// Follow reads the key that another process stored, until its context ends.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pregon.db")
	db := &faulty{Store: openStore(t, path)}
	k := sealing.New(db, box(t, outer), nil)
	if err := k.LoadOrCreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	sealed := k.SealToken("cookie", "text")
	if err := sealing.New(openStore(t, path), box(t, outer), nil).Replace(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	db.read = func() error {
		if reads++; reads == 2 {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	if err := k.Follow(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Follow returned %v", err)
	}
	if _, ok := k.OpenToken("cookie", sealed); ok {
		t.Error("what was sealed before the key was replaced still opens")
	}
}
