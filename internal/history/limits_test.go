package history_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/history"
	"pregon/internal/store"
)

// TestLimits: too many changed tickers prevent only a search, and too many changed
// reports only lists.
func TestLimits(t *testing.T) {
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
