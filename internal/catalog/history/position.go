package history

import (
	"context"
	"slices"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

func (o *outline) addPosition(m disclosure.Mark) {
	known, ok := o.positions[m.Subject]
	if !ok {
		known.first = m.Seq
	}
	known.newest = m.Seq
	o.positions[m.Subject] = known
}

// positionsSince returns the ids of the positions that have changed since a point or did
// not exist then, and of those that have changed. It fails, Invalid, if these are too many.
func (o *outline) positionsSince(seq int64) (drop, changed []string, err error) {
	for id, at := range o.positions {
		if at.newest <= seq {
			continue
		}
		drop = append(drop, id)
		if at.first > seq {
			continue
		}
		changed = append(changed, id)
		if len(changed) > MaxChanged {
			return nil, nil, fault.New(fault.Invalid,
				"More than %d positions that were known then have changed since, so they cannot be listed "+
					"as of that point. Ask for a later point, or for one position.", MaxChanged)
		}
	}
	slices.SortFunc(changed, func(a, b string) int { return int(o.positions[a].first - o.positions[b].first) })
	return drop, changed, nil
}

// Positions returns the positions as of a point, with the directory of that time.
func (a *Archive) Positions(ctx context.Context, s *catalog.Snapshot, seq int64) (*position.Book, error) {
	if seq == s.Seq() {
		return s.Positions(), nil
	}
	at := point{s.Head().Epoch, seq}
	if past, ok := a.books.get(at); ok {
		return past, nil
	}
	if err := a.grow(ctx, s); err != nil {
		return nil, err
	}
	return share(ctx, &a.queue, bookKey(at), func(ctx context.Context) (*position.Book, error) {
		if past, ok := a.books.get(at); ok {
			return past, nil
		}
		past, err := a.positions(ctx, s, at)
		if err == nil {
			a.books.put(at, past)
		}
		return past, err
	})
}

// positions builds the positions as of a point. It is a build, so that the outline does not
// change.
func (a *Archive) positions(ctx context.Context, s *catalog.Snapshot, at point) (*position.Book, error) {
	if a.outline.epoch != at.epoch || a.outline.seq < s.Seq() {
		return nil, errAnotherLog
	}
	drop, changed, err := a.outline.positionsSince(at.seq)
	if err != nil {
		return nil, err
	}
	dir := s.Directory()
	if last, others := a.outline.issuersSince(at.seq); len(others) > 0 {
		if dir, err = a.directory(ctx, s, point{at.epoch, last}, others); err != nil {
			return nil, err
		}
	}
	former := make([]disclosure.Change, 0, len(changed))
	err = a.each(ctx, s, disclosure.OfPosition, at.seq, changed,
		func(c disclosure.Change) { former = append(former, c) })
	if err != nil {
		return nil, err
	}
	return s.Positions().Former(drop, former, catalog.Finder(dir)), nil
}

// Position returns a position as of a point, joined with the directory of that time, or nil
// if it was not known.
func (a *Archive) Position(
	ctx context.Context,
	s *catalog.Snapshot,
	id string,
	seq int64,
) (*position.Entry, error) {
	found, err := a.Changes(ctx, s, disclosure.OfPosition, id, seq, 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	dir, err := a.Directory(ctx, s, seq)
	if err != nil {
		return nil, err
	}
	e, _ := position.New(catalog.Finder(dir)).Next(found).Get(id)
	return &e, nil
}
