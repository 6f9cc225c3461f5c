package ingest

import (
	"errors"
	"testing"
	"time"

	"pregon/internal/disclosure"
)

// TestRoundCutShort: a round that did not come to its end is done again from
// where it began, however far it came.
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
	if !w.led.Time(roundClock(disclosure.OIR)).IsZero() {
		t.Error("half a round counts")
	}
	broken.fail(nil)
	if err := s.lists.round(t.Context(), disclosure.OIR); err != nil {
		t.Fatal(err)
	}
	if err := w.exact(today()-firstDays, disclosure.OIR); err != nil {
		t.Error(err)
	}
	if w.led.Time(roundClock(disclosure.OIR)).IsZero() {
		t.Error("a whole round does not count")
	}
}

// TestRoundAfterWeeks: whoever was away for weeks reads all of them.
func TestRoundAfterWeeks(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	s := w.session()
	weeks := time.Now().AddDate(0, 0, -20)
	if err := w.led.SetTime(t.Context(), s.lease, roundClock(disclosure.OIR), weeks); err != nil {
		t.Fatal(err)
	}
	if err := s.lists.round(t.Context(), disclosure.OIR); err != nil {
		t.Fatal(err)
	}
	if err := w.exact(disclosure.DayOf(weeks), disclosure.OIR); err != nil {
		t.Error(err)
	}
}
