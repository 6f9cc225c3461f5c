package access

import (
	"context"
	"slices"
	"time"

	"pregon/internal/fault"
)

// Bounds of the keys that an account may make. They hold for the keys that the person
// or the first key makes, and again for those that all other keys make together: a key
// that leaked must not keep its owner from making another. Replicas that create keys at
// the same moment may exceed them by a few.
const (
	maxOwned = 50  // that are valid
	maxDaily = 100 // in 24 hours, since what was revoked is kept
)

// CreateFor creates a key for a caller, with some of the caller's own rights. A key
// that is made with a key is not valid without it.
func (k *Keyring) CreateFor(ctx context.Context, by Principal, key Key) (Key, string, error) {
	if key.Scopes == 0 {
		key.Scopes = by.Scope
	}
	if !by.Scope.Has(key.Scopes) {
		return Key{}, "", fault.New(fault.Invalid, "the key would have more scopes than you: use some of %s", by.Scope)
	}
	if key.Plan = by.Plan; key.Plan == OperatorPlan {
		key.Plan = Plans[0] // a key for everyday use
	}
	key.AccountID, key.Parent = by.ID, by.Key
	if err := k.Refresh(ctx); err != nil {
		return Key{}, "", err
	}
	if err := k.checkBounds(by); err != nil {
		return Key{}, "", err
	}
	byID := k.known.Load().byID
	depth := 0
	for id := key.Parent; id != "" && byID[id] != nil; id = byID[id].Parent {
		depth++
	}
	if depth > maxDepth {
		return Key{}, "", fault.New(fault.Conflict,
			"keys may be nested %d levels deep: use a parent of this key, or sign in", maxDepth)
	}
	return k.Create(ctx, key)
}

// checkBounds returns an error if a caller may not make another key.
func (k *Keyring) checkBounds(by Principal) error {
	now := time.Now()
	owned, made := 0, 0
	for _, h := range k.known.Load().byID {
		if h.Account() != by.ID || IsWholeKey(by.ID, h.Parent) != by.Whole() {
			continue
		}
		if h.State(now) == "active" {
			owned++
		}
		if now.Sub(h.CreatedAt) < 24*time.Hour {
			made++
		}
	}
	if owned >= maxOwned {
		return fault.New(fault.Conflict, "the limit of %d keys for an account is reached: revoke one first", maxOwned)
	}
	if made >= maxDaily {
		return fault.New(fault.Conflict,
			"the limit of %d new keys in 24 hours for an account is reached: wait, or rotate a key", maxDaily)
	}
	return nil
}

// Owned returns the keys within a reach with their use, oldest first.
func (k *Keyring) Owned(ctx context.Context, r Reach) ([]ListedKey, error) {
	all, err := k.List(ctx)
	return slices.DeleteFunc(all, func(l ListedKey) bool { return !r.Has(l.Account(), l.ID) }), err
}
