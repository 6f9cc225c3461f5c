package catalog_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

// many makes reports with numbers from one to another.
func many(from, to int64, title string) []disclosure.Change {
	var out []disclosure.Change
	for n := from; n <= to; n++ {
		r := newReport(disclosure.OIR, n, "2026-04-22T08:00:00Z", bodegas)
		r.Title = title
		out = append(out, published(r))
	}
	return out
}

func wantAt(t *testing.T, c *catalog.Catalog, seq int64, count int) {
	t.Helper()
	if s := c.Snapshot(); s.Seq() != seq || s.Len() != count {
		t.Errorf("the catalogue is at %d with %d reports, want %d with %d", s.Seq(), s.Len(), seq, count)
	}
}

// A log that was restored from a backup is reloaded, and followed from there.
func TestShorterLogIsReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		log.append(many(1, 20, "Antes")...)
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			log.append(listed(disclosure.Issuer{NIF: "A69000016", Name: bodegas, Ticker: "BVB"}))
			settle()
			wantAt(t, c, 21, 20)
			old := c.Snapshot()
			before := describe(old)

			log.cut(5)
			time.Sleep(time.Second)
			wantAt(t, c, 21, 20) // the log was not polled yet
			time.Sleep(10 * time.Second)
			wantAt(t, c, 5, 5)
			if n := len(issuers(c.Snapshot(), "", "", 10)); n != 0 {
				t.Errorf("got %d issuers of the replaced log, want 0", n)
			}
			if describe(old) != before {
				t.Error("a snapshot of the longer log changed")
			}
			log.append(many(6, 8, "Luego")...)
			settle()
			wantAt(t, c, 8, 8)
			same(t, c.Snapshot(), load(t, log).Snapshot())
			if behind := c.Behind(); behind > time.Minute {
				t.Errorf("Behind() = %v", behind)
			}
		})
	})
}

// While the shorter log cannot be read, the last snapshot remains, and no changes
// are applied to a catalogue that was loaded in part.
func TestShorterLogThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		log.append(many(1, 20, "Antes")...)
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			log.cut(10)
			log.setBroken(true)
			time.Sleep(time.Minute)
			wantAt(t, c, 20, 20)
			log.append(many(11, 25, "Luego")...) // now it is longer
			time.Sleep(time.Minute)
			wantAt(t, c, 20, 20)
			log.setBroken(false)
			time.Sleep(10 * time.Second)
			wantAt(t, c, 25, 25)
			same(t, c.Snapshot(), load(t, log).Snapshot())
		})
	})
}

// After a reload during a merge, the result of the merge is dropped, because it
// belongs to the previous index.
func TestLoadDuringMerge(t *testing.T) {
	log := newMemoryLog()
	log.append(many(1, 3000, "Antes")...)
	synctest.Test(t, func(t *testing.T) {
		log.more = make(chan struct{}) // of the bubble
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			for round := range 3 {
				settle() // the catalogue waits for the log
				seq := log.append(many(3001, 5000, fmt.Sprint("Luego ", round))...)
				for c.Snapshot().Seq() < seq { // a merge begins then
					runtime.Gosched()
				}
				log.cut(3000)
				if err := c.Load(t.Context()); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				wantAt(t, c, 3000, 3000)
			}
			log.append(many(3001, 5000, "Al fin")...)
			settle()
			if n := reports(c.Snapshot(), disclosure.Filter{Search: "fin"}, 1, 1).Total; n != 2000 || c.Snapshot().Len() != 5000 {
				t.Errorf("%d new reports of %d", n, c.Snapshot().Len())
			}
		})
	})
}

// A log that was restored and has grown longer than before between two polls is
// detected. Its epoch is renewed, with the seq up to which both logs agree.
func TestRegrownLogIsReloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		log.append(many(1, 5, "Antes")...)
		time.Sleep(time.Hour)
		log.append(many(6, 20, "Antes")...)
		time.Sleep(time.Hour)
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			settle()
			log.cut(5)
			log.append(many(101, 120, "Luego")...)
			time.Sleep(10 * time.Second)
			wantAt(t, c, 25, 25)
			same(t, c.Snapshot(), load(t, log).Snapshot())
			head := c.Snapshot().Head()
			if head.Epoch == "first" || !slices.Equal(head.Past, []disclosure.Cursor{{Epoch: "first", Seq: 5}}) {
				t.Errorf("the head is %+v", head)
			}
			log.append(many(121, 122, "Al fin")...)
			settle()
			wantAt(t, c, 27, 27)
			if now := c.Snapshot().Head(); now.Epoch != head.Epoch {
				t.Errorf("the epoch was renewed again: %+v", now)
			}
		})
	})
}

// The seq up to which both logs agree is exact, also if all changes are of the same
// moment, of those that were loaded and of those that came since.
func TestWhereLogsPart(t *testing.T) {
	for _, shared := range []int64{1, 9, 10, 11, 19} {
		synctest.Test(t, func(t *testing.T) {
			log := newMemoryLog()
			log.append(many(1, 10, "Antes")...)
			followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
				log.append(many(11, 20, "Antes")...)
				settle()
				wantAt(t, c, 20, 20)
				log.cut(shared)
				log.append(many(101, 130, "Luego")...)
				time.Sleep(10 * time.Second)
				if head := c.Snapshot().Head(); !slices.Equal(head.Past, []disclosure.Cursor{{Epoch: "first", Seq: shared}}) {
					t.Errorf("the head is %+v, want one that shares %d changes", head, shared)
				}
			})
		})
	}
}

// An epoch that another process renewed is loaded.
func TestRenewedEpochIsLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		log.append(many(1, 5, "Antes")...)
		followingMemory(t, log, func(t *testing.T, c *catalog.Catalog) {
			settle()
			renewed, _ := log.RenewEpoch(t.Context(), "first", disclosure.Mark{})
			time.Sleep(10 * time.Second)
			if head := c.Snapshot().Head(); head.Epoch != renewed.Epoch || len(head.Past) != 1 {
				t.Errorf("the head is %+v, want %+v", head, renewed)
			}
			wantAt(t, c, 5, 5)
		})
	})
}

// staleLog can be switched to read from an older copy. It writes to the log
// itself.
type staleLog struct {
	*memoryLog
	behind atomic.Bool
}

func (l *staleLog) seen() *memoryLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.behind.Load() {
		return l.memoryLog
	}
	return &memoryLog{changes: l.changes[:len(l.changes)-2], more: l.more, head: l.head}
}

func (l *staleLog) Head(ctx context.Context) (disclosure.Head, error) { return l.seen().Head(ctx) }

func (l *staleLog) Changes(ctx context.Context, after int64, limit int) ([]disclosure.Change, error) {
	return l.seen().Changes(ctx, after, limit)
}

func (l *staleLog) ChangesAt(ctx context.Context, seqs ...int64) ([]disclosure.Change, error) {
	return l.seen().ChangesAt(ctx, seqs...)
}

// A read from a standby that is behind is not taken for a restored backup.
func TestStaleReadRenewsNoEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &staleLog{memoryLog: newMemoryLog()}
		log.append(many(1, 5, "Antes")...)
		c := catalog.New(log, slog.New(slog.DiscardHandler))
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			_ = c.Follow(ctx)
			close(done)
		}()
		log.behind.Store(true)
		time.Sleep(time.Minute)
		log.append(many(6, 6, "Luego")...)
		time.Sleep(time.Minute)
		wantAt(t, c, 5, 5)
		log.behind.Store(false)
		time.Sleep(time.Minute)
		wantAt(t, c, 6, 6)
		if head, err := log.Head(t.Context()); err != nil || head.Epoch != "first" || len(head.Past) != 0 {
			t.Errorf("the head is %+v, %v", head, err)
		}
		cancel()
		<-done
	})
}
