package account

import "slices"

// ofPart reports whether a grant came from a key for a part of the account: from one
// that is not the account's first.
func (a *Account) ofPart(g Grant) bool { return g.Key != "" && g.Key != a.ID }

// dropExtraGrants removes the least recently used grants over the bound, but not the
// last, which is new. Those that came from a key for a part of the account go first, so
// that such a key cannot end the others by adding more.
func (a *Account) dropExtraGrants() {
	extra := len(a.Grants) - maxGrants
	if extra <= 0 {
		return
	}
	last := len(a.Grants) - 1
	old, newest := a.Grants[:last], a.Grants[last]
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
}
