package store_test

import (
	"context"
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
		got, err := store.Shared(t.Context(), test.restored, int64(len(test.restored)), last)
		if err != nil || got != test.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, test.want)
		}
	}
	// A damaged log has gaps: nothing after a gap is shared.
	if got, err := store.Shared(t.Context(), before[:2], 5, last); err != nil || got != 2 {
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
