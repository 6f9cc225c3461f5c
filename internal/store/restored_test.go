package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// rows is a fake log that can be read by seq.
type rows []disclosure.Change

func (r rows) ChangesAt(_ context.Context, seqs ...int64) (found []disclosure.Change, _ error) {
	for _, seq := range seqs {
		if seq >= 1 && seq <= int64(len(r)) {
			found = append(found, r[seq-1])
		}
	}
	return found, nil
}

// at returns a log of changes that occurred at these minutes.
func at(minutes ...int) rows {
	var log rows
	for i, m := range minutes {
		log = append(log, disclosure.Change{
			Seq: int64(i + 1), Event: disclosure.Published, OccurredAt: time.Date(2026, 4, 22, 8, m, 0, 0, time.UTC), Report: &disclosure.Report{ID: "oir-1"},
		})
	}
	return log
}

func TestShared(t *testing.T) {
	before := at(1, 2, 3, 10, 11, 12)
	last := before[5].Mark()
	for name, test := range map[string]struct {
		restored rows
		want     int64
	}{
		"empty":                         {at(), 0},
		"shorter":                       {before[:3], 3},
		"as long again":                 {append(before[:3:3], at(20, 21, 22)...), 3},
		"longer than it was":            {append(before[:3:3], at(20, 21, 22, 23, 24, 25, 26)...), 3},
		"of a minute before":            {before[:5], 5},
		"nothing of it":                 {at(20, 21, 22, 23, 24, 25, 26), 0},
		"within what clocks may differ": {append(before[:4:4], at(12, 12, 12)...), 4},
	} {
		for i := range test.restored {
			test.restored[i].Seq = int64(i + 1)
		}
		got, err := store.Shared(t.Context(), test.restored, int64(len(test.restored)), last, store.Trail{})
		if err != nil || got != test.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, test.want)
		}
	}
	// A damaged log has gaps: nothing after a gap is shared.
	if got, err := store.Shared(t.Context(), before[:2], 5, last, store.Trail{}); err != nil || got != 2 {
		t.Errorf("a log with a gap: %d, %v, want 2", got, err)
	}
}

func TestHas(t *testing.T) {
	log := at(1, 2, 3)
	for _, test := range []struct {
		mark disclosure.Mark
		want bool
	}{
		{log[2].Mark(), true},
		{at(1, 2, 4)[2].Mark(), false},
		{at(1, 2, 3, 4)[3].Mark(), false},
	} {
		if got, err := store.Has(t.Context(), log, test.mark); err != nil || got != test.want {
			t.Errorf("%+v: %v, %v", test.mark, got, err)
		}
	}
}

// trailOf returns the trail of a log.
func trailOf(log rows) (t store.Trail) {
	for i := range log {
		t.Add(log[i].Mark())
	}
	return t
}

// With the trail of the log before, the seq is exact whatever the clocks say.
func TestSharedByTrail(t *testing.T) {
	before := at(1, 1, 1, 1, 1, 1)
	for i := range before {
		before[i].OccurredAt = before[i].OccurredAt.Add(time.Duration(i) * time.Microsecond)
	}
	last, trail := before[5].Mark(), trailOf(before)
	late := func(n int) (log rows) {
		for range n {
			log = append(log, disclosure.Change{Event: disclosure.Published, OccurredAt: before[0].OccurredAt.Add(-time.Hour), Report: &disclosure.Report{ID: "oir-1"}})
		}
		return log
	}
	for shared := range len(before) {
		for _, regrown := range []int{0, 1, 10} { // by a clock that is an hour behind
			restored := append(before[:shared:shared], late(regrown)...)
			for i := range restored {
				restored[i].Seq = int64(i + 1)
			}
			got, err := store.Shared(t.Context(), restored, int64(len(restored)), last, trail)
			if err != nil || got != int64(shared) {
				t.Errorf("%d shared and %d new: got %d, %v", shared, regrown, got, err)
			}
		}
	}
}

func TestTrailText(t *testing.T) {
	log := at(slices.Repeat([]int{1}, 3*store.TrailLength)...)
	for _, n := range []int{0, 1, 2, store.TrailLength, store.TrailLength + 1, len(log)} {
		trail := trailOf(log[:n])
		again := store.ParseTrail(int64(n), trail.String())
		if again.String() != trail.String() || len(again.String()) != min(n, store.TrailLength)*8 {
			t.Errorf("the trail of %d changes is parsed as %q", n, again.String())
		}
		if n == 0 {
			continue
		}
		if got, err := store.Shared(t.Context(), log[:n], int64(n), log[n-1].Mark(), again); err != nil || got != int64(n) {
			t.Errorf("%d changes and all of them: shared up to %d, %v", n, got, err)
		}
	}
	for last, text := range map[int64]string{1: "AAAAAAAAAAAAAAAA", 2: "AAAA", 3: "?", 9999: strings.Repeat("A", 8*store.TrailLength+8)} {
		if got := store.ParseTrail(last, text); got.String() != "" {
			t.Errorf("ParseTrail(%d, %.20q) = %q, want an empty one", last, text, got.String())
		}
	}
}
