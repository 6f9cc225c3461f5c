package account

import (
	"slices"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// ofPart reports whether a grant came from a key for a part of the account: from one
// that is not the account's first.
func (a *Account) ofPart(g Grant) bool { return !access.IsWholeKey(a.ID, g.Key) }

// dropExtraGrants removes the least recently used grants over the bound, but not the
// last, which is new. Those that came from a key for a part of the account go first, and
// a new one of such a key is refused if only others could go: it cannot end those.
func (a *Account) dropExtraGrants() error {
	extra := len(a.Grants) - maxGrants
	if extra <= 0 {
		return nil
	}
	last := len(a.Grants) - 1
	old, newest := a.Grants[:last], a.Grants[last]
	if a.ofPart(newest) && !slices.ContainsFunc(old, a.ofPart) {
		return fault.New(fault.Conflict, "the limit of %d applications for an account is reached, and a key for a "+
			"part of the account cannot replace any: disconnect one first", maxGrants)
	}
	slices.SortStableFunc(old, func(x, y Grant) int {
		switch first := a.ofPart(x); {
		case first == a.ofPart(y):
			return x.UsedAt.Compare(y.UsedAt)
		case first:
			return -1
		}
		return 1
	})
	a.Grants = append(old[extra:], newest)
	return nil
}
