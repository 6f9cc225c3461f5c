package catalog_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
)

const shortISIN = "ES0100000017"

// shortOf is the change that a state of a short position in the issuer with shortISIN makes.
func shortOf(n int, percent string, state disclosure.PositionState) disclosure.Change {
	p := disclosure.Position{
		ID:      disclosure.ShortID(shortISIN, "2026-03-02", n),
		Kind:    disclosure.Short,
		ISIN:    shortISIN,
		Name:    "Fondo Ficticio LLP",
		Date:    "2026-03-02",
		Percent: percent,
		State:   state,
	}
	if err := p.Validate(); err != nil {
		panic(err)
	}
	return disclosure.Change{Event: disclosure.PositionPublished, Position: &p}
}

// Positions are loaded and followed with the reports, and their issuers are found in the
// directory of the same snapshot. An issuer that is learnt later is that of earlier
// positions too.
func TestPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemoryLog()
		log.append(
			shortOf(1, "0.5", disclosure.StateCurrent),
			published(newReport(disclosure.OIR, 1, "2026-03-02T10:00:00Z", "Aurora, S.A.")),
			shortOf(1, "0.5", disclosure.StatePast),
		)
		c := load(t, log)
		check := func(want int, issuer string) {
			t.Helper()
			s := c.Snapshot()
			book := s.Positions()
			e, ok := book.Get("short-es0100000017-2026-03-02-1")
			if book.Len() != want || !ok || e.IssuerID() != issuer || e.State() != disclosure.StatePast {
				t.Errorf("got %d positions, the first of %q in the state %q, want %d and %q", book.Len(), e.IssuerID(),
					e.State(), want, issuer)
			}
			if s.Len() != 1 {
				t.Errorf("there are %d reports, want 1", s.Len())
			}
			if known := c.Known().CountPositions(disclosure.Short); known != want {
				t.Errorf("ingest knows %d positions, want %d", known, want)
			}
		}
		check(1, "")
		ctx, cancel := context.WithCancel(t.Context())
		var follower sync.WaitGroup
		follower.Go(func() { _ = c.Follow(ctx) })
		before := c.Snapshot()
		log.append(shortOf(2, "0.7", disclosure.StateCurrent))
		settle()
		check(2, "")
		aurora := listed(disclosure.Issuer{Name: "Aurora, S.A.", NIF: "A-10000004", ISINs: []string{shortISIN}})
		log.append(aurora)
		settle()
		check(2, aurora.Issuer.ID)
		if before.Positions().Len() != 1 {
			t.Error("an earlier snapshot has later positions")
		}
		if key, ok := c.Snapshot().Positions().Key(shortISIN); !ok || key != aurora.Issuer.ID {
			t.Errorf("the key of the issuer is %q", key)
		}
		cancel()
		follower.Wait()
		if err := c.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(2, aurora.Issuer.ID)
	})
}

// A catalogue that is not loaded yet knows no positions.
func TestNoPositions(t *testing.T) {
	known := catalog.New(newMemoryLog(), quiet).Known()
	if n := known.CountPositions(disclosure.Short); n != 0 {
		t.Errorf("got %d positions, want none", n)
	}
	for p := range known.PositionsOf(shortISIN, disclosure.Short) {
		t.Errorf("the position %s is known", p.ID)
	}
	if _, ok := known.Position("short-es0100000017-2026-03-02-1"); ok {
		t.Error("a position is known")
	}
}
