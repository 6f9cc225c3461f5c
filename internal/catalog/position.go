package catalog

import (
	"iter"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// Positions returns the positions. A past state does not have any: those as of a point are
// in history.Archive.Positions.
func (s *Snapshot) Positions() *position.Book {
	if s.positions == nil {
		return position.New(Finder(s.Directory()))
	}
	return s.positions
}

// Positions returns the positions of a kind as the log has them, the newest first.
func (k Known) Positions(kind disclosure.PositionKind) iter.Seq[*disclosure.Position] {
	return stored(k.known().Positions().All(kind))
}

// PositionsOf returns those of an issuer, by any of its identifiers.
func (k Known) PositionsOf(key string, kind disclosure.PositionKind) iter.Seq[*disclosure.Position] {
	book := k.known().Positions()
	if known, ok := book.Key(key); ok {
		key = known
	}
	return stored(book.Of(key, kind))
}

// CountPositions returns the number of positions of a kind.
func (k Known) CountPositions(kind disclosure.PositionKind) (n int) {
	for range k.known().Positions().All(kind) {
		n++
	}
	return n
}

// Position returns the position with an id.
func (k Known) Position(id string) (*disclosure.Position, bool) {
	e, ok := k.known().Positions().Get(id)
	if !ok {
		return nil, false
	}
	return e.Stored(), true
}

func stored(entries iter.Seq[position.Entry]) iter.Seq[*disclosure.Position] {
	return func(yield func(*disclosure.Position) bool) {
		for e := range entries {
			if !yield(e.Stored()) {
				return
			}
		}
	}
}

// Finder finds the issuers of positions in a directory, which is nil before the first
// load.
func Finder(dir *search.Directory) position.Find {
	if dir == nil {
		return nil
	}
	return func(key string) *disclosure.Issuer {
		if e, ok := dir.Find(key); ok {
			return e.Issuer
		}
		return nil
	}
}
