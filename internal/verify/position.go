package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/store"
	"pregon/internal/store/relational"
)

// firstPosition is like first for a position.
func firstPosition(c *disclosure.Change) error {
	p := c.Position
	imported := p.AvailableAt.Before(c.OccurredAt)
	switch {
	case c.Event != disclosure.PositionPublished && c.Event != disclosure.PositionBackfilled:
		return fmt.Errorf("the first event of %s is %q", p.ID, c.Event)
	case c.Event == disclosure.PositionBackfilled && !p.Backfilled && !imported:
		return fmt.Errorf("%s is back-filled and its Backfilled field is false", p.ID)
	case p.AvailableAt.IsZero() || p.AvailableAt.After(c.OccurredAt) || p.FirstSeenAt.IsZero():
		return fmt.Errorf("%s is available at %v, first seen at %v", p.ID, p.AvailableAt, p.FirstSeenAt)
	}
	return nil
}

// positionStep checks a later change of a position. Names may have been erased since,
// so that seals are compared in their place: a name keeps its seal until it changes.
func positionStep(before *disclosure.Position, c *disclosure.Change) error {
	switch c.Event {
	case disclosure.PositionUpdated, disclosure.PositionBackfilled:
	case disclosure.PositionWithdrawn:
		if c.Position.State != disclosure.StateAnnulled {
			return fmt.Errorf("%s is withdrawn and its state is %q", c.Subject(), c.Position.State)
		}
	default:
		return fmt.Errorf("a later event of %s is %q", c.Subject(), c.Event)
	}
	now := sealsAsNames(c.Position)
	merged, changed := sealsAsNames(before).Merge(now)
	return step(c, changed, merged, now)
}

func sealsAsNames(p *disclosure.Position) disclosure.Position {
	named := *p
	if named.Sealed != "" {
		named.Name = "sealed " + named.Sealed
	}
	if named.Erased {
		named.Name = ""
	}
	named.Sealed = ""
	return named
}

// seals collects the seals of the log, and with each whether its name must be there: it
// must unless the position was erased later.
type seals struct {
	of     map[hash]string   // the position of each seal
	sealed map[string][]hash // the seals of each position that is not erased
}

func newSeals() seals {
	return seals{of: map[hash]string{}, sealed: map[string][]hash{}}
}

func (s *seals) add(p *disclosure.Position) {
	seal, ok := parseHash(p.Sealed)
	if ok {
		if _, known := s.of[seal]; !known {
			id := strings.Clone(p.ID) // it may be a part of the row
			s.of[seal] = id
			s.sealed[id] = append(s.sealed[id], seal)
		}
	}
	if p.Erased {
		delete(s.sealed, p.ID)
	}
}

// checkNames compares the names with the seals of the log. A name that is missing or
// does not belong to its seal cannot be restored.
func (c *Checker) checkNames(ctx context.Context, tx relational.Tx) error {
	there := map[hash]bool{}
	var n store.SealedName
	err := relational.Each(ctx, tx, []any{&n.Sealed, &n.Salt, &n.Name}, func() error {
		seal, ok := parseHash(n.Sealed)
		where := "seal " + n.Sealed
		position, known := c.seals.of[seal]
		switch {
		case !ok || !known:
			c.found(Finding{Kind: Name, Where: where, Text: "no change of the log has it, and its name is stored"})
		case c.erased(position):
			c.found(Finding{Kind: NameKept, Where: where, Text: "the name of " + position + " was erased, and is stored"})
			c.broken.names = append(c.broken.names, n.Sealed)
		case !n.Opens():
			c.found(Finding{Kind: Name, Where: where, Text: "it is not that of its salt and name"})
		}
		there[seal] = ok
		return nil
	}, `SELECT sealed, salt, name FROM sealed_name`)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(c.seals.sealed)) {
		for _, seal := range c.seals.sealed[id] {
			if !there[seal] {
				c.found(Finding{Kind: Name, Where: "position " + id, Text: "the name of its seal " + seal.String() + " is missing"})
			}
		}
	}
	return nil
}

// erased reports whether the names of a position are erased by the log.
func (c *Checker) erased(position string) bool {
	_, kept := c.seals.sealed[position]
	return !kept
}
