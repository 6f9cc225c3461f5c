package ingest

import (
	"errors"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

// TestRoundCutShort: a round that did not complete is repeated from its start.
func TestRoundCutShort(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	broken := &brokenStore{Store: w.store}
	s.Store = broken
	broken.failAfter(3, errors.New("disk full"))
	if err := s.lists.round(t.Context(), disclosure.OIR); err == nil {
		t.Fatal("the round was to be cut short")
	}
	if !w.coverage.Time(roundClock(disclosure.OIR)).IsZero() {
		t.Error("an incomplete round is stored as read")
	}
	broken.fail(nil)
	if err := s.lists.round(t.Context(), disclosure.OIR); err != nil {
		t.Fatal(err)
	}
	if err := w.exact(today()-firstDays, disclosure.OIR); err != nil {
		t.Error(err)
	}
	if w.coverage.Time(roundClock(disclosure.OIR)).IsZero() {
		t.Error("a complete round is not stored as read")
	}
}

// lastRound stores that the last round of OIR was a while ago, and returns its time.
func (w *walker) lastRound(ago time.Duration) time.Time {
	w.world.Helper()
	now := time.Now()
	last := now.Add(-ago)
	if err := errors.Join(
		w.coverage.SetTime(w.world.Context(), w.lease, roundClock(disclosure.OIR), last),
		w.coverage.SetTime(w.world.Context(), w.lease, nightlyClock(disclosure.OIR), now),
		w.coverage.Cover(w.world.Context(), w.lease, disclosure.OIR, today(), today(), last),
	); err != nil {
		w.world.Fatal(err)
	}
	return last
}

// TestBriefRound: a round that ends at the first page of a very long list without
// anything new is not stored as complete.
func TestBriefRound(t *testing.T) {
	t.Parallel()
	w := newWalker(t)
	w.arm(`{"kind":"runaway","surface":"list"}`)
	last := w.lastRound(2 * time.Hour)
	if err := w.lists.round(t.Context(), disclosure.OIR); err != nil {
		t.Fatal(err)
	}
	if !w.coverage.Time(roundClock(disclosure.OIR)).After(last) {
		t.Error("a complete round is not stored")
	}
	last = w.lastRound(30 * time.Minute)
	if err := w.lists.round(t.Context(), disclosure.OIR); err != nil {
		t.Fatal(err)
	}
	if w.coverage.Time(roundClock(disclosure.OIR)).After(last) {
		t.Error("a round that ended at the first page is stored as complete")
	}
}

// TestRoundMoved: reports that are published during a round move others to later pages.
// The round does not end before it has read these, or it does not count.
func TestRoundMoved(t *testing.T) {
	for _, test := range []struct {
		name      string
		published int
		before    func(w *walker) // the round
		fails     bool
	}{
		{name: "some", published: 25},
		{name: "many", published: 60},
		{
			name:      "without a pager",
			published: 25,
			before: func(w *walker) {
				w.odd(w.Ingest).be(func(_ string, page []byte) []byte { return pagerLabel.ReplaceAll(page, nil) })
			},
			fails: true,
		},
		{
			name:      "the pager does not end",
			published: 25,
			before:    func(w *walker) { w.arm(`{"kind":"runaway","surface":"list"}`) },
			fails:     true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWalker(t)
			last := w.lastRound(2 * time.Hour)
			w.publish(85)
			hidden := w.published
			if test.before != nil {
				test.before(w)
			}
			w.store.appends = 0
			w.store.before = func(n int) error {
				if n == 4 {
					w.publish(test.published)
				}
				return nil
			}
			err := w.lists.round(t.Context(), disclosure.OIR)
			if failed := err != nil; failed != test.fails {
				t.Fatalf("the round returned %v, want an error: %v", err, test.fails)
			}
			isStored := w.coverage.Time(roundClock(disclosure.OIR)).After(last)
			isCovered := w.coverage.Covered(disclosure.OIR, today()).After(last)
			if isStored == test.fails || isCovered == test.fails {
				t.Errorf("the round is stored: %v, the day is covered: %v, want %v", isStored, isCovered, !test.fails)
			}
			if test.fails { // it is repeated
				if err := w.lists.round(t.Context(), disclosure.OIR); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.hasAll(hidden); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRoundAfterWeeks: after a stop of weeks all days since are read.
func TestRoundAfterWeeks(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	weeks := time.Now().AddDate(0, 0, -20)
	if err := w.coverage.SetTime(t.Context(), s.lease, roundClock(disclosure.OIR), weeks); err != nil {
		t.Fatal(err)
	}
	if err := s.lists.round(t.Context(), disclosure.OIR); err != nil {
		t.Fatal(err)
	}
	if err := w.exact(disclosure.DayOf(weeks), disclosure.OIR); err != nil {
		t.Error(err)
	}
}
