package watchlist

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
)

// snapshot is a set of lists that never changes.
type snapshot struct {
	byID     map[string]*entry
	accounts map[string][]*entry // the lists of each account, in no order
	links    map[string]*entry   // by the digest of the secret
	revision int64               // of the newest record
}

// entry is a list with what is derived from it.
type entry struct {
	List
	entries *disclosure.Entries
}

func newSnapshot() *snapshot {
	return &snapshot{
		byID:     map[string]*entry{},
		accounts: map[string][]*entry{},
		links:    map[string]*entry{},
	}
}

// clone returns a snapshot that may be changed with set and remove.
func (s *snapshot) clone() *snapshot {
	return &snapshot{
		byID:     maps.Clone(s.byID),
		accounts: maps.Clone(s.accounts),
		links:    maps.Clone(s.links),
		revision: s.revision,
	}
}

// remove removes a list.
func (s *snapshot) remove(id string) {
	e := s.byID[id]
	if e == nil {
		return
	}
	delete(s.byID, id)
	for _, l := range e.links() {
		delete(s.links, l.digest)
	}
	// An earlier snapshot has the slice.
	left := slices.DeleteFunc(slices.Clone(s.accounts[e.Account]), func(other *entry) bool { return other == e })
	if len(left) == 0 {
		delete(s.accounts, e.Account)
	} else {
		s.accounts[e.Account] = left
	}
}

// set adds a list, or replaces it.
func (s *snapshot) set(e *entry) {
	s.remove(e.ID)
	s.byID[e.ID] = e
	for _, l := range e.links() {
		s.links[l.digest] = e
	}
	s.accounts[e.Account] = append(slices.Clip(s.accounts[e.Account]), e)
}

// links returns the links that a list has.
func (e *entry) links() (all []*Link) {
	for _, l := range []*Link{e.Share, e.Feed} {
		if l != nil {
			all = append(all, l)
		}
	}
	return all
}

// within returns the lists within a reach, in their order.
func (s *snapshot) within(by access.Reach) (found []List) {
	for _, e := range s.accounts[by.Account()] {
		if by.Has(e.Account, e.Key) {
			found = append(found, e.List)
		}
	}
	slices.SortFunc(found, func(a, b List) int {
		return cmp.Or(
			cmp.Compare(a.Order, b.Order),
			a.CreatedAt.Compare(b.CreatedAt),
			strings.Compare(a.ID, b.ID),
		)
	})
	return found
}
