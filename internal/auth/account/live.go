package account

import (
	"slices"
	"time"
)

// Live returns the account with an id, with only those of its sessions and grants that
// are valid.
func (a *Accounts) Live(id string) (Account, bool) {
	one, known := a.Account(id)
	if !known {
		return Account{}, false
	}
	now, state := time.Now(), a.stateOf(&one)
	// The snapshot that others read must not change.
	one.Sessions = slices.DeleteFunc(slices.Clone(one.Sessions), func(s Session) bool {
		return !s.alive(now) || a.restricted(state, s.Key).Gone != ""
	})
	one.Grants = slices.DeleteFunc(slices.Clone(one.Grants), func(g Grant) bool {
		return !now.Before(g.ExpiresAt) || a.restricted(state, g.Key).Gone != ""
	})
	return one, true
}
