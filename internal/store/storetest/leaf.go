package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
	"golang.org/x/sync/errgroup"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/verify"
)

// checkLeaves verifies that the leaves of a log are its changes, and that it has the
// hashes of all of them.
func checkLeaves(ctx context.Context, t *testing.T, s store.Store, log []disclosure.Change) {
	t.Helper()
	leaves, err := s.Leaves(ctx, 0, len(log)+1)
	if err != nil || len(leaves) != len(log) {
		t.Fatalf("the log has %d leaves, %v; want %d", len(leaves), err, len(log))
	}
	hashes := leafHashes(ctx, t, s, 0)
	if len(hashes) != len(log) {
		t.Fatalf("the log has %d hashes, want %d", len(hashes), len(log))
	}
	for i, c := range log {
		row, err := store.EncodeRow(c)
		if err != nil {
			t.Fatal(err)
		}
		want := row.Leaf()
		if got := leaves[i]; string(got.Append(nil)) != string(want.Append(nil)) {
			t.Fatalf("the leaf of change %d is %s, want %s", c.Seq, got.Append(nil), want.Append(nil))
		}
		if hashes[i] != want.Hash() {
			t.Fatalf("the hash of change %d is not that of its leaf", c.Seq)
		}
	}
}

func leafHashes(ctx context.Context, t *testing.T, s store.Store, after int64) (hashes []tlog.Hash) {
	t.Helper()
	err := s.LeafHashes(ctx, after, func(h tlog.Hash) error {
		hashes = append(hashes, h)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hashes
}

// testLeafHashes reads the hashes from every seq, also from within a batch.
func testLeafHashes(t *testing.T, e Engine) {
	s := e.fresh(t)()
	mustAppend(t, s, published(newReports(1, 5)...))
	mustAppend(t, s, published(newReport(2, "Otro título")))
	mustAppend(t, s, store.Batch{Issuers: []disclosure.Issuer{company("A1", "Uno")}, Reports: newReports(7, 8)})
	log := checkLength(t, s, 9)
	ctx := patiently(t)
	all := leafHashes(ctx, t, s, 0)
	for after := range len(log) + 2 {
		if got, want := leafHashes(ctx, t, s, int64(after)), all[min(after, len(all)):]; !slices.Equal(got, want) {
			t.Errorf("after %d there are %d hashes, want %d", after, len(got), len(want))
		}
	}
	if added, err := s.AddLeaves(ctx); added != 0 || err != nil {
		t.Errorf("AddLeaves added %d, %v; want none", added, err)
	}
	if err := s.LeafHashes(ctx, 0, func(tlog.Hash) error { return errInjected }); !errors.Is(err, errInjected) {
		t.Errorf("LeafHashes returned %v, want the error of the function", err)
	}
}

// testMissingLeaves: hashes after missing ones are not passed on, since they would be
// taken for those of other changes.
func testMissingLeaves(t *testing.T, e Engine) {
	s := e.fresh(t)()
	for i := range 4 {
		mustAppend(t, s, published(newReports(int64(10*i+1), int64(10*i+3))...))
	}
	if err := s.(verify.Store).Relational().Exec(patiently(t), `DELETE FROM leaf WHERE seq = 6`); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[int64]int{0: 3, 2: 1, 3: 0, 4: 0, 6: 6, 7: 5} {
		got := 0
		err := s.LeafHashes(patiently(t), after, func(tlog.Hash) error { got++; return nil })
		if damaged := after < 6; got != want || errors.Is(err, store.ErrDamaged) != damaged {
			t.Errorf("after %d there are %d hashes, %v; want %d and damage: %v", after, got, err, want, damaged)
		}
	}
}

// forgetLeaves removes the hashes, so that the store is as one that a program without
// the tree wrote.
func forgetLeaves(t *testing.T, s store.Store, after int64) {
	t.Helper()
	base := s.(verify.Store).Relational()
	for _, statement := range []string{`DELETE FROM leaf WHERE seq > $1`, `UPDATE log_head SET leaves = $1`} {
		if err := base.Exec(patiently(t), statement, after); err != nil {
			t.Fatal(err)
		}
	}
}

// testLeavesOfOlderProgram: the hashes of changes that a program without the tree
// appended are added later, step by step, while others append.
func testLeavesOfOlderProgram(t *testing.T, e Engine) {
	s := e.fresh(t)()
	ctx := patiently(t)
	mustAppend(t, s, published(newReport(1, "Con hash")))
	mustAppend(t, s, store.Batch{Reports: newReports(2, 4500), New: disclosure.Backfilled})
	forgetLeaves(t, s, 1)
	mustAppend(t, s, published(newReport(9001, "Sin hash todavía")))
	if hashes := leafHashes(ctx, t, s, 0); len(hashes) != 1 {
		t.Fatalf("there are %d hashes, want only the first", len(hashes))
	}
	steps := 0
	for {
		added, err := s.AddLeaves(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if added == 0 {
			break
		}
		if steps++; steps == 1 {
			mustAppend(t, s, published(newReport(9002, "Entre dos pasos")))
		}
	}
	if steps < 2 {
		t.Errorf("the hashes were added in %d steps, want several", steps)
	}
	mustAppend(t, s, published(newReport(9003, "Con hash otra vez")))
	checkLength(t, s, 4503)
}

// testLeafRace: several processes add hashes while others append.
func testLeafRace(t *testing.T, e Engine) {
	open := e.fresh(t)
	first := open()
	mustAppend(t, first, store.Batch{Reports: newReports(1, 4000), New: disclosure.Backfilled})
	forgetLeaves(t, first, 0)
	ctx := patiently(t)
	var group errgroup.Group
	for i := range handles {
		s := open()
		group.Go(func() error {
			for {
				if added, err := s.AddLeaves(ctx); added == 0 || err != nil {
					return err
				}
			}
		})
		group.Go(func() error {
			for n := range 10 {
				if _, err := s.Append(ctx, published(newReport(int64(5000+100*i+n), "Mientras tanto"))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for { // an append may have left hashes to a step that had ended
		added, err := first.AddLeaves(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if added == 0 {
			break
		}
	}
	checkLength(t, first, 4000+10*handles)
}
