package access

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"pregon/internal/fault"
)

// badKey is the reason why a known key is not valid.
type badKey struct {
	id     string
	reason fault.Text
	since  time.Time // when it ended, if known
}

func (b *badKey) Error() string { return b.reason.String() }

// Parts returns the reason with its parts.
func (b *badKey) Parts() fault.Text { return b.reason }

// foundKey is a valid key with the rights that it has now.
type foundKey struct {
	*holder
	scope   Scope
	plan    string    // that of its owner
	text    Digest    // of the text that was sent
	expires time.Time // zero for never
}

// find returns the key with a text, which must be valid for use from an address.
func (k *Keyring) find(ctx context.Context, raw string, from netip.Addr) (foundKey, error) {
	if !wellFormed(raw) {
		return foundKey{}, errors.New("this is not a key of this service, or it was not copied whole: its " +
			"checksum is wrong")
	}
	sum := digestOf(raw)
	found, ok := k.known.Load().byDigest[sum]
	if !ok {
		err := k.follower.Wake(ctx) // it may be new
		if found, ok = k.known.Load().byDigest[sum]; !ok && err != nil {
			return foundKey{}, fault.Wrap(fault.Unavailable, err,
				"The keys cannot be looked up now. Try again in a few seconds.")
		}
		if !ok {
			return foundKey{}, errors.New("there is no such key")
		}
	}
	h := found.holder
	if reached(found.secret.ExpiresAt, time.Now()) && h.RevokedAt.IsZero() && !reached(h.ExpiresAt, time.Now()) {
		return foundKey{}, replaced(h)
	}
	out := foundKey{
		holder:  h,
		scope:   AllScopes,
		plan:    h.Plan,
		text:    sum,
		expires: found.secret.ExpiresAt,
	}
	return k.checked(ctx, out, from)
}

// again returns a key that was found before, by its id, as find does.
func (k *Keyring) again(ctx context.Context, p Principal, from netip.Addr) (foundKey, error) {
	h := k.known.Load().byID[p.Credential]
	if h == nil {
		err := k.follower.Wake(ctx) // another process may have created it a moment ago
		if h = k.known.Load().byID[p.Credential]; h == nil && err != nil {
			return foundKey{}, fault.Wrap(fault.Unavailable, err,
				"The keys cannot be looked up now. Try again in a few seconds.")
		}
		if h == nil {
			return foundKey{}, errors.New("there is no such key")
		}
	}
	out := foundKey{
		holder:  h,
		scope:   AllScopes,
		plan:    h.Plan,
		text:    p.KeyText,
		expires: p.Expires,
	}
	if h.State(time.Now()) == "active" && !k.accepts(p.KeyText) {
		return foundKey{}, replaced(h)
	}
	return k.checked(ctx, out, from)
}

// accepts reports whether a rotation has left the text of a key valid.
func (k *Keyring) accepts(text Digest) bool {
	found, ok := k.known.Load().byDigest[text]
	return ok && !reached(found.secret.ExpiresAt, time.Now())
}

// replaced returns the reason why a text of a key is not valid after a rotation.
func replaced(h *holder) error {
	return &badKey{id: h.ID, reason: fault.Text{Format: "this key was replaced by a newer one"}}
}

// checked returns a key with the rights that it has now. It must be valid for use from an
// address.
func (k *Keyring) checked(ctx context.Context, out foundKey, from netip.Addr) (foundKey, error) {
	if err := k.checkChain(&out, from); err != nil {
		return foundKey{}, err
	}
	h := out.holder
	if h.AccountID == "" || IsKeyID(h.AccountID) {
		return out, nil
	}
	owner, err := k.owner(ctx, h.AccountID)
	if err != nil {
		return foundKey{}, err
	}
	if owner.Gone != "" {
		gone := fault.Text{Format: "this key is not valid: %s", Args: []any{owner.Gone}}
		return foundKey{}, &badKey{id: h.ID, reason: gone}
	}
	out.scope &= owner.Scope
	out.plan = owner.Plan
	return out, nil
}

// checkChain checks a key, the key with which it was made, and so on: each must be
// valid, and none has more rights than the one before.
func (k *Keyring) checkChain(f *foundKey, from netip.Addr) error {
	now, byID := time.Now(), k.known.Load().byID
	for h, depth := f.holder, 0; ; depth++ {
		state := h.State(now)
		switch {
		case state != "active" && depth == 0:
			reason := map[string]string{"revoked": "this key was revoked", "expired": "this key has expired"}[state]
			return &badKey{id: f.ID, reason: fault.Text{Format: reason}, since: h.endedAt()}
		case state != "active":
			ended := fault.Text{Format: "the key that created this one is %s", Args: []any{state}}
			return &badKey{id: f.ID, reason: ended, since: h.endedAt()}
		case from.IsValid() && !h.allows(from):
			elsewhere := fault.Text{Format: "this key is not for use from %s", Args: []any{from}}
			return &badKey{id: f.ID, reason: elsewhere}
		}
		f.scope &= h.Scopes
		f.expires = earlier(f.expires, h.ExpiresAt)
		if h.Parent == "" {
			return nil
		}
		parent := byID[h.Parent]
		if parent == nil || depth == maxDepth {
			unknown := fault.Text{Format: "the key that created this one is not known"}
			return &badKey{id: f.ID, reason: unknown}
		}
		h = parent
	}
}

// earlier returns the earlier of two times. A zero time never comes.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ByText returns the caller that a key belongs to, for a person who signs in with it.
func (k *Keyring) ByText(ctx context.Context, raw string, from netip.Addr) (Principal, error) {
	f, err := k.find(ctx, strings.TrimSpace(raw), from)
	if err != nil {
		return Principal{}, err
	}
	k.touch(f.holder)
	return f.principal(), nil
}

// Valid reports whether the key with an id is valid, and so are those with which it
// was made and its owner.
func (k *Keyring) Valid(id string) bool {
	state, known := k.State(id)
	return known && state.Gone == ""
}

// State returns what the key with an id may do now.
func (k *Keyring) State(id string) (o AccountState, known bool) {
	f := foundKey{holder: k.known.Load().byID[id], scope: AllScopes}
	if f.holder == nil {
		return o, false
	}
	if err := k.checkChain(&f, netip.Addr{}); err != nil {
		o.Gone = err.Error()
		if bad, ok := errors.AsType[*badKey](err); ok {
			o.Since = bad.since
		}
		return o, true
	}
	o = AccountState{Scope: f.scope, Plan: f.Plan, Operator: f.Plan == OperatorPlan}
	if f.AccountID == "" || IsKeyID(f.AccountID) {
		return o, true
	}
	person, known := k.knownOwner(f.AccountID)
	o.Scope &= person.Scope
	o.Gone = person.Gone
	o.Since = person.Since
	o.Plan = person.Plan
	return o, known
}

// Allows reports whether a key, and those with which it was made, may be used from an
// address. What has no key, and so an empty id, may be used from everywhere.
func (k *Keyring) Allows(id string, from netip.Addr) bool {
	byID := k.known.Load().byID
	for h := byID[id]; h != nil; h = byID[h.Parent] {
		if !h.allows(from) {
			return false
		}
	}
	return true
}

// SetAccounts sets the source of account state. It is called before the first request.
func (k *Keyring) SetAccounts(a Accounts) { k.accounts = a }

// owner returns the state of the person that a key belongs to.
func (k *Keyring) owner(ctx context.Context, id string) (AccountState, error) {
	if o, known := k.knownOwner(id); known {
		return o, nil
	}
	if k.accounts == nil {
		return AccountState{Gone: "its owner is not known"}, nil
	}
	if err := k.accounts.Wake(ctx); err != nil { // it may be new
		return AccountState{}, fault.Wrap(fault.Unavailable, err,
			"The owner of the key cannot be looked up now. Try again in a few seconds.")
	}
	o, known := k.knownOwner(id)
	if !known {
		o.Gone = "its owner is not known"
	}
	return o, nil
}

func (k *Keyring) knownOwner(id string) (AccountState, bool) {
	if k.accounts == nil {
		return AccountState{}, false
	}
	return k.accounts.State(id)
}
