package search

import (
	"slices"

	"pregon/internal/search/segment"
)

// shared are the names that issuers share: those of their markets, or of their sectors.
type shared struct {
	names []sharedName
	at    map[string]int // places in names, by folded name
}

// sharedName is the name of some issuers' market or sector.
type sharedName struct {
	name
	text    string // as the first of its issuers has it
	issuers int
}

// add counts an issuer with a name, which is nil if it has none.
func (s *shared) add(n *name, text string) {
	if n == nil {
		return
	}
	at, known := s.at[n.folded]
	if !known {
		at = len(s.names)
		s.at[n.folded] = at
		s.names = append(s.names, sharedName{name: *n, text: text})
	}
	s.names[at].issuers++
}

// mostFirst returns the names, those of the most issuers first.
func (s *shared) mostFirst() []string {
	all := slices.Clone(s.names)
	slices.SortStableFunc(all, func(a, b sharedName) int { return b.issuers - a.issuers })
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = n.text
	}
	return texts
}

// groups returns the groups of the names that a filter selects.
func (s *shared) groups(wanted NameFilter, group func(folded string) segment.Group) (groups []segment.Group) {
	for i := range s.names {
		if wanted.match(&s.names[i].name) {
			groups = append(groups, group(s.names[i].folded))
		}
	}
	return groups
}
