package catalog

import (
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

// Positions returns the positions that are known, for ingest.
func (k Known) Positions() *position.Book { return k.known().Positions() }

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
