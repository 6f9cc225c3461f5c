package bulk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/fault"
)

// A snapshot whose manifest cannot be used is left out, and logged once. Others are
// listed, and made.
func TestUnreadableManifest(t *testing.T) {
	for name, text := range map[string]string{
		"damaged": `{"id":"2026`,
		"foreign": `{"name":"x"}`,
		"later":   `{"id":"20260422T100000Z-7","seq":"7:1","files":{}}`,
		"empty":   ``,
		"long":    `{"id":"` + strings.Repeat("x", maxManifest) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			db := newStore(t, 5)
			dir := t.TempDir()
			var log bytes.Buffer
			m := newMaker(db, Dir(dir))
			m.Archive = New(Dir(dir), slog.New(slog.NewTextHandler(&log, nil)))
			bad := filepath.Join(dir, "20260422T100000Z-7")
			if err := os.Mkdir(bad, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(bad, manifestName), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if made, err := m.makeDue(t.Context(), time.Now()); err != nil || !made {
				t.Fatalf("got %t, %v; want a snapshot", made, err)
			}
			head, err := db.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if list, err := m.Archive.List(t.Context(), head); err != nil || len(list) != 1 {
				t.Errorf("got %d, %v; want the snapshot that was made", len(list), err)
			}
			if n := strings.Count(log.String(), "20260422T100000Z-7"); n != 1 {
				t.Errorf("got %d lines, want one in %s", n, &log)
			}
		})
	}
}

// failing is a place that cannot be read while err is set, or that does not answer.
type failing struct {
	Dir
	err   error
	hangs bool
	reads int
}

func (f *failing) ids(ctx context.Context) ([]string, error) {
	f.reads++
	if f.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.Dir.ids(ctx)
}

// While the place cannot be read, the last known snapshots are listed, and it is not
// read more often than otherwise.
func TestPlaceFails(t *testing.T) {
	dir := Dir(t.TempDir())
	s := &Snapshot{ID: "20260422T100000Z-7", Seq: 7, Epoch: "k3v9"}
	publish(t, dir, s)
	synctest.Test(t, func(t *testing.T) {
		p := &failing{Dir: dir, err: fault.New(fault.Unavailable, "no answer")}
		a := New(p, slog.New(slog.DiscardHandler))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		list := func(wantReads int, wantErr bool) {
			t.Helper()
			known, err := a.refresh(ended) // a client that does not wait is no failure of the place
			if (err != nil) != wantErr || !wantErr && known[s.ID] == nil || p.reads != wantReads {
				t.Errorf("got %v, %v after %d reads; want error %t after %d", known, err, p.reads, wantErr, wantReads)
			}
		}
		list(1, true)
		list(1, true)
		time.Sleep(listTime)
		p.err = nil
		list(2, false)
		time.Sleep(listTime)
		p.hangs = true
		start := time.Now()
		list(3, false)
		list(3, false)
		if waited := time.Since(start); waited != readTime {
			t.Errorf("waited %v, want %v", waited, readTime)
		}
		a.forget()
		list(4, false)
	})
}

// A request that ends does not wait for the one that reads a place which hangs.
func TestPlaceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &failing{Dir: Dir(t.TempDir()), hangs: true}
		a := New(p, slog.New(slog.DiscardHandler))
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = a.refresh(t.Context())
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := a.refresh(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		<-done
	})
}

// Snapshots that were made while the clock was ahead do not stop later ones, and are
// the first to be removed.
func TestClockWasAhead(t *testing.T) {
	places(t, func(t *testing.T, p Place, _ func() []string) {
		db := newStore(t, 5)
		m := newMaker(db, p)
		head, err := db.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		add := func(made time.Time) string {
			s := &Snapshot{ID: newID(made, head.Seq), Seq: head.Seq, Epoch: head.Epoch, CreatedAt: made.UTC().Truncate(time.Second)}
			publish(t, p, s)
			return s.ID
		}
		future := add(now.AddDate(4, 0, 0))
		for day := range kept {
			add(now.AddDate(4, 0, day+1))
		}
		old := add(now.AddDate(0, 0, -2))
		if made, err := m.makeDue(t.Context(), now); err != nil || !made {
			t.Fatalf("got %t, %v; want a snapshot", made, err)
		}
		newest := m.Stats().Newest
		known, err := m.Archive.refresh(t.Context())
		if err != nil || len(known) != kept || known[future] != nil || known[old] == nil || known[newest.ID] == nil {
			t.Errorf("got %d, %v; want %d with %s and %s, without %s", len(known), err, kept, old, newest.ID, future)
		}
		if made, err := m.makeDue(t.Context(), now); err != nil || made || m.Stats().Newest.ID != newest.ID {
			t.Errorf("again: got %t, %v, newest %s; want none", made, err, m.Stats().Newest.ID)
		}
	})
}

var errPlace = fault.New(fault.Unavailable, "the place does not answer")

// faulty is a place of which operations fail.
type faulty struct {
	Place
	fails map[string]error // by the name of the method
}

func (f *faulty) ids(ctx context.Context) ([]string, error) {
	if err := f.fails["ids"]; err != nil {
		return nil, err
	}
	return f.Place.ids(ctx)
}

func (f *faulty) open(ctx context.Context, id, file string, offset int64) (io.ReadCloser, error) {
	if err := f.fails["open "+id]; err != nil {
		return nil, err
	}
	return f.Place.open(ctx, id, file, offset)
}

func (f *faulty) publish(ctx context.Context, dir string, s *Snapshot) error {
	if err := f.fails["publish"]; err != nil {
		return err
	}
	return f.Place.publish(ctx, dir, s)
}

func (f *faulty) remove(ctx context.Context, id string) error {
	if err := f.fails["remove"]; err != nil {
		return err
	}
	return f.Place.remove(ctx, id)
}

func (f *faulty) clean(ctx context.Context) error {
	if err := f.fails["clean"]; err != nil {
		return err
	}
	return f.Place.clean(ctx)
}

// A snapshot that cannot be used does not affect those beside it, however often the
// place is read.
func TestListedBesideOthers(t *testing.T) {
	const (
		first  = "20260422T100000Z-7"
		second = "20260423T100000Z-8"
	)
	for _, test := range []struct {
		name string
		err  error
	}{
		{"one that cannot be used", fault.New(fault.Invalid, "damaged")},
		{"one that may not be read", fault.Wrap(fault.Unavailable, fs.ErrPermission, "not allowed")},
		{"one that is being removed", fault.New(fault.NotFound, "gone")},
	} {
		p := &faulty{Dir(t.TempDir()), map[string]error{"open " + first: test.err}}
		publish(t, p, &Snapshot{ID: first, Seq: 7, Epoch: "k3v9"})
		publish(t, p, &Snapshot{ID: second, Seq: 8, Epoch: "k3v9"})
		var log bytes.Buffer
		a := New(p, slog.New(slog.NewTextHandler(&log, nil)))
		for n := range 3 {
			a.forget()
			known, err := a.refresh(t.Context())
			if err != nil || len(known) != 1 || known[second] == nil {
				t.Errorf("%s, reading %d: %v, %v; want the other", test.name, n+1, known, err)
			}
		}
		if strings.Contains(log.String(), second) {
			t.Errorf("%s: the other was reported: %s", test.name, &log)
		}
	}
	p := &faulty{Dir(t.TempDir()), map[string]error{"open " + first: errPlace}}
	publish(t, p, &Snapshot{ID: first, Seq: 7, Epoch: "k3v9"})
	if known, err := New(p, slog.New(slog.DiscardHandler)).refresh(t.Context()); !errors.Is(err, errPlace) {
		t.Errorf("a place that fails: %v, %v", known, err)
	}
}
