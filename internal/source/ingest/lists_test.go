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
