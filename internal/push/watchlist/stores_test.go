package watchlist_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pregon/internal/push/watchlist"
	"pregon/internal/store/clone"
	"pregon/internal/store/engine"
	"pregon/internal/store/postgres/pgtest"
	"pregon/internal/test/waittest"
)

// A change in one process is known to another that follows the store.
func TestFollow(t *testing.T) {
	w := newWorld(t)
	writer, reader := w.process(nil), w.process(nil)
	ctx, stop := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	loops.Go(func() { _ = reader.Maintain(ctx) })
	defer loops.Wait()
	defer stop()
	l := writer.create(ana, "banks", "fi-1")
	if writer.Entries(l.ID) == nil {
		t.Error("the process that made a list does not know it at once")
	}
	waittest.For(t, "the other process does not know a new list", func() bool { return reader.Entries(l.ID) != nil })
	if err := writer.Delete(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, "the other process knows a deleted list", func() bool { return reader.Entries(l.ID) == nil })
}

// The revision is that of the newest change, deletions included.
func TestRevision(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	if got := p.Revision(); got != 0 {
		t.Errorf("revision %d of no list", got)
	}
	l := p.create(ana, "banks")
	made := p.Revision()
	if _, err := p.RenewFeed(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	changed := p.Revision()
	if err := p.Delete(t.Context(), ana, l.ID); err != nil {
		t.Fatal(err)
	}
	if deleted := p.Revision(); made <= 0 || changed <= made || deleted <= changed {
		t.Errorf("revisions %d, %d and %d do not rise", made, changed, deleted)
	}
}

// The lists of accounts that ended for good are removed, and no others.
func TestEnded(t *testing.T) {
	w := newWorld(t)
	p := w.process(nil)
	gone := p.create(ana, "gone")
	kept := p.create(luis, "kept")
	keeper := w.process(func(o *watchlist.Options) {
		o.Ended = func(account string) bool { return account == "key_ana" }
	})
	ctx, stop := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	loops.Go(func() { _ = keeper.Maintain(ctx) })
	defer loops.Wait()
	defer stop()
	waittest.For(t, "the list is left", func() bool { return keeper.Entries(gone.ID) == nil })
	if keeper.Entries(kept.ID) == nil {
		t.Error("the list of another account is removed")
	}
}

// A copy of a store, in either engine, has the lists, and their links work.
func TestCopiedStore(t *testing.T) {
	addresses := map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(t.TempDir(), "pregon.db") },
		"postgres": func() string { return pgtest.Database(t) },
	}
	for from := range addresses {
		for to := range addresses {
			t.Run(from+" to "+to, func(t *testing.T) {
				source, target := addresses[from](), addresses[to]()
				w := &world{t: t}
				w.o.Sealer = box(t, "a key of forty characters for these tests")
				w.use(source)
				p := w.process(nil)
				l := p.create(ana, "banks", "fi-1", "fi-2")
				shared, err := p.Share(t.Context(), ana, l.ID)
				if err != nil {
					t.Fatal(err)
				}
				w.copyTo(source, target)
				w.use(target)
				copied := w.process(nil)
				_, entries, err := copied.Resolve(nobody, shared.Share.Secret)
				if err != nil || len(entries.Issuers) != 2 || copied.names(ana) != "banks" {
					t.Errorf("%+v, %v", entries, err)
				}
				if _, err := copied.EndShare(t.Context(), ana, l.ID); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// use makes processes use the store at an address.
func (w *world) use(address string) {
	w.t.Helper()
	parsed, err := engine.ParseAddress(address)
	if err != nil {
		w.t.Fatal(err)
	}
	db, err := parsed.Open(w.t.Context(), true)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = db.Close() })
	w.db = db
	w.o.Store = db
}

// copyTo copies a store.
func (w *world) copyTo(from, to string) {
	w.t.Helper()
	open := func(address string) engine.Store {
		parsed, err := engine.ParseAddress(address)
		if err != nil {
			w.t.Fatal(err)
		}
		db, err := parsed.OpenCopy(w.t.Context(), true)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = db.Close() })
		return db
	}
	_, err := clone.Copy(w.t.Context(), clone.Options{
		From:       open(from),
		To:         open(to),
		FromSQLite: strings.HasPrefix(from, "sqlite:"),
		ToSQLite:   strings.HasPrefix(to, "sqlite:"),
		Progress:   func(int, int64, int64) {},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}
