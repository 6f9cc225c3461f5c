package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/catalog/history"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
	"pregon/internal/test/waittest"
)

// TestLimits: too many changed tickers prevent only a search, and too many changed
// reports only lists.
func TestLimits(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	issuer := disclosure.Issuer{NIF: numbers[0], Name: names[0]}
	var reports []disclosure.Report
	for n := range int64(history.MaxChanged + 1) {
		reports = append(reports, disclosure.Report{
			Type: disclosure.OIR, Number: n + 1, CompanyName: names[0], NIF: numbers[0], Title: "junta", PublishedAt: time.Date(2026, 4, 1, 0, 0, int(n), 0, time.UTC),
		})
	}
	then := mustAppend(t, db, store.Batch{Issuers: []disclosure.Issuer{issuer}, Reports: reports})
	issuer.Ticker = "BVB"
	later := mustAppend(t, db, store.Batch{Issuers: []disclosure.Issuer{issuer}})
	archive, s := history.New(db), load(t, db).Snapshot()
	state, err := archive.State(t.Context(), s, then)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := state.Reports(t.Context(), disclosure.Filter{Issuer: numbers[0]}, 1, 1); err != nil || got.Total != len(reports) || got.Reports[0].Ticker() != "" {
		t.Errorf("%d reports, %v, with the ticker %q", got.Total, err, got.Reports[0].Ticker())
	}
	if _, err := state.Reports(t.Context(), disclosure.Filter{Search: "bvb"}, 1, 1); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a search by tickers that cannot be known: %v", err)
	}

	for n := range reports {
		reports[n].Title = "otra"
	}
	mustAppend(t, db, store.Batch{Reports: reports})
	s = load(t, db).Snapshot()
	if _, err := archive.State(t.Context(), s, later); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a state since which everything changed: %v", err)
	}
	one, dir, err := archive.Report(t.Context(), s, "oir-7", then)
	if err != nil || one.Title != "junta" || dir.Analyze(one).Ticker != "" {
		t.Errorf("one report was %+v, %v", one, err)
	}
}

// TestAnotherLog: while the log is not the one of the snapshot, nothing of it is
// returned.
func TestAnotherLog(t *testing.T) {
	engines(t, func(t *testing.T, db store.Store) {
		m := market{rand.New(rand.NewPCG(1, 1))}
		mustAppend(t, db, store.Batch{Reports: []disclosure.Report{m.report()}, Issuers: []disclosure.Issuer{m.issuer()}})
		mustAppend(t, db, store.Batch{Reports: []disclosure.Report{m.report()}})
		archive, s := history.New(db), load(t, db).Snapshot()
		if _, err := archive.State(t.Context(), s, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := db.RenewEpoch(t.Context(), s.Head().Epoch, disclosure.Mark{}); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"State":   second(archive.State(t.Context(), s, 0)),
			"Changes": second(archive.Changes(t.Context(), s, disclosure.OfReport, "oir-1", 9, 9)),
			"At":      second(history.New(db).At(t.Context(), s, time.Now())),
		} {
			if fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s = %v, want that it is unavailable", name, err)
			}
		}
		if _, err := archive.State(t.Context(), load(t, db).Snapshot(), 1); err != nil {
			t.Errorf("of the new epoch: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestConcurrent: many callers ask for the past while the log grows.
func TestConcurrent(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	archive := history.New(db)
	var mu sync.Mutex
	var s *catalog.Snapshot
	grow := func(m market) {
		mustAppend(t, db, store.Batch{Reports: []disclosure.Report{m.report()}, Issuers: []disclosure.Issuer{m.issuer()}})
		next := load(t, db).Snapshot()
		mu.Lock()
		defer mu.Unlock()
		s = next
	}
	grow(market{rand.New(rand.NewPCG(0, 0))})
	var group sync.WaitGroup
	for n := range uint64(4) {
		m := market{rand.New(rand.NewPCG(n, n))}
		group.Go(func() {
			for range 40 {
				mu.Lock()
				now := s
				mu.Unlock()
				seq := m.Int64N(now.Seq() + 1)
				state, err := archive.State(t.Context(), now, seq)
				if err != nil || state.Seq() != seq {
					t.Errorf("as of %d: %v", seq, err)
					return
				}
				if _, err := archive.At(t.Context(), now, time.Now()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	m := market{rand.New(rand.NewPCG(9, 9))}
	for range 20 {
		grow(m)
	}
	group.Wait()
}

// TestRecent: the values used last are kept, each for two minutes.
func TestRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := history.NewRecent(2)
		keeps := func(want string) {
			t.Helper()
			var got string
			for seq := range int64(5) {
				if r.Has(seq) {
					got += fmt.Sprint(seq)
				}
			}
			if got != want {
				t.Errorf("it keeps %q, want %q", got, want)
			}
		}
		r.Put(1)
		r.Put(2)
		r.Use(1)
		r.Put(3)
		keeps("13")
		time.Sleep(time.Minute)
		r.Use(3)
		time.Sleep(time.Minute)
		synctest.Wait()
		keeps("3")
		time.Sleep(time.Minute)
		synctest.Wait()
		keeps("")
	})
}

// TestRecentBytes: the values used last are kept within a bound of their sizes. One that
// is larger than the bound is not kept.
func TestRecentBytes(t *testing.T) {
	r := history.NewSizedRecent(10)
	for _, step := range []struct {
		put  int64
		want string
	}{{4, "4"}, {5, "45"}, {1, "145"}, {3, "135"}, {11, ""}, {2, "2"}} {
		r.Put(step.put)
		if step.put == 3 {
			r.Use(5)
		}
		var got string
		for seq := range int64(12) {
			if r.Has(seq) {
				got += fmt.Sprint(seq)
			}
		}
		if got != step.want {
			t.Errorf("after %d it keeps %q, want %q", step.put, got, step.want)
		}
	}
	r.Put(3)
	r.Use(2)
	r.Put(6)
	if !r.Has(2) || r.Has(3) || !r.Has(6) {
		t.Error("it does not drop the value that was used least recently")
	}
}

// TestPastBytes: the estimate of the memory of past states is about right, and what they
// share counts once.
func TestPastBytes(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	const all = 6000
	var reports []disclosure.Report
	for n := range all {
		reports = append(reports, benchReport(n, "Convocatoria"))
	}
	then := mustAppend(t, db, store.Batch{Reports: reports})
	for n := range reports {
		reports[n].Title = "Rectificación"
	}
	mustAppend(t, db, store.Batch{Reports: reports})
	archive, s := history.New(db), load(t, db).Snapshot()
	if _, err := archive.At(t.Context(), s, time.Now()); err != nil {
		t.Fatal(err)
	}
	before := heap()
	one, err := archive.State(t.Context(), s, then)
	if err != nil {
		t.Fatal(err)
	}
	took := heap() - before
	estimate := catalog.PastBytes([]*catalog.Snapshot{one})
	t.Logf("a state takes %d bytes, and the estimate is %d", took, estimate)
	if estimate < took/2 || estimate > took*2 {
		t.Errorf("a state takes %d bytes, and the estimate is %d", took, estimate)
	}
	two, err := archive.State(t.Context(), s, then+100)
	if err != nil {
		t.Fatal(err)
	}
	if both := catalog.PastBytes([]*catalog.Snapshot{one, two}); both > estimate+estimate/5 {
		t.Errorf("two states that share almost everything take %d bytes, and one of them %d", both, estimate)
	}
	runtime.KeepAlive(archive)
	runtime.KeepAlive(s)
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// gate is a log whose reads of former states wait for the test.
type gate struct {
	history.Log
	entered chan int64 // the point of each read
	leave   chan struct{}
}

func (g *gate) AsOf(ctx context.Context, of disclosure.Subject, upTo int64, ids ...string) ([]disclosure.Change, error) {
	g.entered <- upTo
	select {
	case <-g.leave:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return g.Log.AsOf(ctx, of, upTo, ids...)
}

// TestOneCallerCannotStarveAnother: while one caller asks for many points, the first
// point of another one is built next, once for all its requests.
func TestOneCallerCannotStarveAnother(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	m := market{rand.New(rand.NewPCG(5, 5))}
	for range 20 {
		mustAppend(t, db, store.Batch{Reports: []disclosure.Report{m.report(), m.report()}, New: disclosure.Published})
	}
	log := &gate{
		Log:     db,
		entered: make(chan int64),
		leave:   make(chan struct{}),
	}
	archive, s := history.New(log), load(t, db).Snapshot()
	if _, err := archive.At(t.Context(), s, time.Now()); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	ask := func(caller access.Caller, seq int64) {
		group.Go(func() {
			state, err := archive.State(access.WithCaller(t.Context(), caller), s, seq)
			if err != nil || state.Seq() != seq {
				t.Errorf("%s as of %d: %v", caller, seq, err)
			}
		})
	}
	ask("ana", 20)
	first := <-log.entered
	for seq := int64(19); seq > 15; seq-- {
		ask("ana", seq)
	}
	for range 50 {
		ask("bea", 10)
	}
	waittest.For(t, "all requests wait", func() bool { return archive.Wanted() == 55 })
	log.leave <- struct{}{}
	all := make(chan struct{})
	go func() {
		group.Wait()
		close(all)
	}()
	var order []int64
	for done := false; !done; { // a state of a near point may need no read
		select {
		case seq := <-log.entered:
			order = append(order, seq)
			log.leave <- struct{}{}
		case <-all:
			done = true
		}
	}
	if first != 20 || len(order) == 0 || order[0] != 10 {
		t.Errorf("after %d the states of %v were read, want that of 10 first", first, order)
	}
	slices.Sort(order)
	if len(slices.Compact(order)) != len(order) {
		t.Errorf("read %v, want each state once", order)
	}
}
