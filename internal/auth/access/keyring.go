package access

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// keyKind is the kind of the store's records that are keys.
const keyKind = "key"

const (
	useInterval = time.Minute // how often the use of a key is recorded
	useTimeout  = 5 * time.Second
)

// Keyring holds all keys in memory. Follow keeps it up to date with the store.
type Keyring struct {
	store keyStore
	audit Audit

	known    atomic.Pointer[keys]
	follower *follow.Follower
	used     chan *holder
	changed  atomic.Pointer[chan struct{}] // closed when known changes
	accounts Accounts                      // nil: no key has a person as its owner
}

// keyStore is the part of a store that a Keyring uses.
type keyStore interface {
	store.Records
	store.Usage
	store.Nonces
}

// keys is an immutable snapshot.
type keys struct {
	byDigest map[digest]keyAndSecret
	byID     map[string]*holder
}

type keyAndSecret struct {
	holder *holder
	secret Secret
}

// holder is a key with the time of its last recorded use, which is kept when the key
// changes.
type holder struct {
	Key
	noted *atomic.Int64 // Unix seconds
}

// NewKeyring returns a keyring that is empty until Refresh.
func NewKeyring(s keyStore, audit Audit) *Keyring {
	k := &Keyring{store: s, audit: audit, used: make(chan *holder, 256)}
	k.follower = follow.New(follow.Options{Kind: keyKind, Noun: "keys", Store: s, Apply: k.apply})
	k.known.Store(&keys{})
	k.changed.Store(new(make(chan struct{})))
	return k
}

// SetAccounts sets what knows the owners of keys, before the first request.
func (k *Keyring) SetAccounts(a Accounts) { k.accounts = a }

// owner returns the state of the person that a key belongs to.
func (k *Keyring) owner(ctx context.Context, id string) (Owner, error) {
	if o, known := k.knownOwner(id); known {
		return o, nil
	}
	if k.accounts == nil {
		return Owner{Gone: "its owner is not known"}, nil
	}
	if err := k.accounts.Wake(ctx); err != nil { // it may be new
		return Owner{}, fault.Wrap(fault.Unavailable, err, "The owner of the key cannot be looked up now. Try again in a few seconds.")
	}
	o, known := k.knownOwner(id)
	if !known {
		o.Gone = "its owner is not known"
	}
	return o, nil
}

func (k *Keyring) knownOwner(id string) (Owner, bool) {
	if k.accounts == nil {
		return Owner{}, false
	}
	return k.accounts.Owner(id)
}

// Refresh reads the keys that were written since the last time.
func (k *Keyring) Refresh(ctx context.Context) error { return k.follower.Poll(ctx) }

// apply adds records to the known keys. One that cannot be read, because a newer
// program wrote it, is dropped: its secrets are refused.
func (k *Keyring) apply(ctx context.Context, u follow.Update) {
	old := k.known.Load()
	next := &keys{byID: maps.Clone(old.byID), byDigest: make(map[digest]keyAndSecret, len(old.byDigest)+len(u.Records))}
	if next.byID == nil {
		next.byID = map[string]*holder{}
	}
	for _, r := range u.Records {
		h := &holder{noted: new(atomic.Int64)}
		if err := json.Unmarshal([]byte(r.Body), &h.Key); err != nil || h.ID != r.ID {
			k.audit.record(ctx, "key.unreadable", slog.String("key", r.ID))
			delete(next.byID, r.ID)
			continue
		}
		h.revision = r.Revision
		if known := next.byID[r.ID]; known != nil {
			h.noted = known.noted
		}
		next.byID[r.ID] = h
	}
	for _, h := range next.byID {
		for _, s := range h.Secrets {
			next.byDigest[s.Digest] = keyAndSecret{h, s}
		}
	}
	k.known.Store(next)
	k.Broadcast()
}

// Follow keeps the keyring up to date and records the use of keys until the
// context ends. While the store fails, the known keys stay valid.
func (k *Keyring) Follow(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { return k.follower.Run(ctx) })
	g.Go(func() error { k.recordUses(ctx); return nil })
	return g.Wait()
}

// Behind returns the time since all keys were last known.
func (k *Keyring) Behind() time.Duration { return k.follower.Behind() }

// recordUses stores the first use of a key, and then one per minute. After an error
// the next use is stored.
func (k *Keyring) recordUses(ctx context.Context) {
	for {
		select {
		case h := <-k.used:
			k.recordUse(context.WithoutCancel(ctx), h)
		case <-ctx.Done():
			return
		}
	}
}

func (k *Keyring) recordUse(ctx context.Context, h *holder) {
	ctx, cancel := context.WithTimeout(ctx, useTimeout)
	defer cancel()
	at := time.Now().Truncate(time.Microsecond)
	first, err := k.store.RecordUse(ctx, useName(h.ID), at)
	if err != nil {
		h.noted.Store(0)
		return
	}
	if !first.Equal(at) {
		return
	}
	// Replicas that record a first use at the same moment may each be told so.
	if claimed, err := k.store.ClaimNonce(ctx, "first use of "+h.ID, at.Add(time.Hour)); claimed && err == nil {
		k.audit.record(ctx, "key.first_used", slog.String("key", h.ID))
	}
}

func useName(id string) string { return "key:" + id }

// badKey is the reason why a known key is not valid.
type badKey struct{ id, reason string }

func (b *badKey) Error() string { return b.reason }

// foundKey is a valid key with the rights that it has now.
type foundKey struct {
	*holder
	scope   Scope
	plan    string    // that of its owner
	expires time.Time // zero for never
}

// find returns the key with a text, which must be valid for use from an address.
func (k *Keyring) find(ctx context.Context, raw string, from netip.Addr) (foundKey, error) {
	if !wellFormed(raw) {
		return foundKey{}, errors.New("this is not a key of this service, or it was not copied whole: its checksum is wrong")
	}
	sum := digestOf(raw)
	found, ok := k.known.Load().byDigest[sum]
	if !ok {
		err := k.follower.Wake(ctx) // it may be new
		if found, ok = k.known.Load().byDigest[sum]; !ok && err != nil {
			return foundKey{}, fault.Wrap(fault.Unavailable, err, "The keys cannot be looked up now. Try again in a few seconds.")
		}
		if !ok {
			return foundKey{}, errors.New("there is no such key")
		}
	}
	h := found.holder
	if reached(found.secret.ExpiresAt, time.Now()) && h.RevokedAt.IsZero() && !reached(h.ExpiresAt, time.Now()) {
		return foundKey{}, &badKey{h.ID, "this key was replaced by a newer one"}
	}
	out := foundKey{holder: h, scope: AllScopes, plan: h.Plan}
	out.expires = earlier(out.expires, found.secret.ExpiresAt)
	if err := k.checkChain(&out, from); err != nil {
		return foundKey{}, err
	}
	if h.Owner != "" && !IsKeyID(h.Owner) {
		owner, err := k.owner(ctx, h.Owner)
		if err != nil {
			return foundKey{}, err
		}
		if owner.Gone != "" {
			return foundKey{}, &badKey{h.ID, "this key is not valid: " + owner.Gone}
		}
		out.scope &= owner.Scope
		out.plan = owner.Plan
	}
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
			return &badKey{f.ID, map[string]string{"revoked": "this key was revoked", "expired": "this key has expired"}[state]}
		case state != "active":
			return &badKey{f.ID, "the key with which this one was made is " + state}
		case from.IsValid() && !h.allows(from):
			return &badKey{f.ID, "this key is not for use from " + from.String()}
		}
		f.scope &= h.Scopes
		f.expires = earlier(f.expires, h.ExpiresAt)
		if h.Parent == "" {
			return nil
		}
		parent := byID[h.Parent]
		if parent == nil || depth == maxDepth {
			return &badKey{f.ID, "the key with which this one was made is not known"}
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

// touch records the use of a key, at most once per useInterval.
func (k *Keyring) touch(h *holder) {
	now, noted := time.Now().Unix(), h.noted.Load()
	if now-noted < int64(useInterval/time.Second) || !h.noted.CompareAndSwap(noted, now) {
		return
	}
	select {
	case k.used <- h:
	default:
		h.noted.Store(noted) // the queue is full: the next use is recorded
	}
}

// Changed returns a channel that is closed when a key changes.
func (k *Keyring) Changed() <-chan struct{} { return *k.changed.Load() }

// Broadcast closes the channel of Changed, for a change that is not one of a key.
func (k *Keyring) Broadcast() { close(*k.changed.Swap(new(make(chan struct{})))) }

// Valid reports whether the key with an id is valid, and so are those with which it
// was made and its owner.
func (k *Keyring) Valid(id string) bool {
	state, known := k.State(id)
	return known && state.Gone == ""
}

// State returns what the key with an id may do now.
func (k *Keyring) State(id string) (o Owner, known bool) {
	f := foundKey{holder: k.known.Load().byID[id], scope: AllScopes}
	if f.holder == nil {
		return o, false
	}
	if err := k.checkChain(&f, netip.Addr{}); err != nil {
		return Owner{Gone: err.Error()}, true
	}
	o = Owner{Scope: f.scope, Plan: f.Plan, Operator: f.Plan == OperatorPlan}
	if f.Owner == "" || IsKeyID(f.Owner) {
		return o, true
	}
	person, known := k.knownOwner(f.Owner)
	o.Scope &= person.Scope
	o.Gone, o.Plan = person.Gone, person.Plan
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

// Key returns the key with an id.
func (k *Keyring) Key(id string) (Key, bool) {
	h := k.known.Load().byID[id]
	if h == nil {
		return Key{}, false
	}
	return h.Key, true
}

// Create stores a new key and returns its text, which cannot be read again.
func (k *Keyring) Create(ctx context.Context, key Key) (Key, string, error) {
	now := time.Now().UTC().Truncate(time.Second)
	if err := key.validate(now); err != nil {
		return Key{}, "", err
	}
	raw, newest := newSecret(now)
	key.ID, key.CreatedAt, key.Secrets = idPrefix+secret.RandomText(idLength), now, []Secret{newest}
	if err := k.put(ctx, key); err != nil {
		return Key{}, "", err
	}
	k.audit.record(ctx, "key.created", slog.String("key", key.ID), slog.String("name", key.Name), slog.String("plan", key.Plan), slog.String("scope", key.Scopes.String()))
	return key, raw, nil
}

// Bounds of the keys that an account may make. Replicas that create keys at the same
// moment may exceed them by a few.
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
	key.Owner, key.Parent = by.ID, by.Key
	if err := k.Refresh(ctx); err != nil {
		return Key{}, "", err
	}
	now, byID, owned, made := time.Now(), k.known.Load().byID, 0, 0
	for _, h := range byID {
		if h.Account() != by.ID {
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
		return Key{}, "", fault.New(fault.Conflict, "an account may have %d keys: revoke some first", maxOwned)
	}
	if made >= maxDaily {
		return Key{}, "", fault.New(fault.Conflict, "an account may make %d keys in 24 hours: wait, or rotate one", maxDaily)
	}
	depth := 0
	for id := key.Parent; id != "" && byID[id] != nil; id = byID[id].Parent {
		depth++
	}
	if depth > maxDepth {
		return Key{}, "", fault.New(fault.Conflict, "this key was made with a key that was made with a key, and so on: use one that is nearer to the first, or sign in")
	}
	return k.Create(ctx, key)
}

// Owned returns the keys of an account with their use, oldest first.
func (k *Keyring) Owned(ctx context.Context, account string) ([]ListedKey, error) {
	all, err := k.List(ctx)
	return slices.DeleteFunc(all, func(l ListedKey) bool { return l.Account() != account }), err
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

// Revoke revokes a key permanently.
func (k *Keyring) Revoke(ctx context.Context, id string) (Key, error) {
	return k.change(ctx, id, "key.revoked", func(key *Key, now time.Time) error {
		if key.RevokedAt.IsZero() {
			key.RevokedAt = now
		}
		return nil
	})
}

// KeyChange is a change of a key by its owner. Nil fields stay as they are.
type KeyChange struct {
	Name      *string
	ExpiresAt *time.Time // zero for never
	Networks  *[]netip.Prefix
}

// Change changes the name, end or networks of a key that is valid.
func (k *Keyring) Change(ctx context.Context, id string, c KeyChange) (Key, error) {
	return k.change(ctx, id, "key.changed", func(key *Key, now time.Time) error {
		if state := key.State(now); state != "active" {
			return fault.New(fault.Conflict, "the key %s is %s: make a new one", id, state)
		}
		if c.Name != nil {
			key.Name = *c.Name
		}
		if c.ExpiresAt != nil {
			key.ExpiresAt = *c.ExpiresAt
		}
		if c.Networks != nil {
			key.Networks = *c.Networks
		}
		return key.validate(now)
	})
}

// Rotate adds a secret to a key. The older ones stay valid during the overlap.
func (k *Keyring) Rotate(ctx context.Context, id string, overlap time.Duration) (Key, string, error) {
	var raw string
	key, err := k.change(ctx, id, "key.rotated", func(key *Key, now time.Time) error {
		if state := key.State(now); state != "active" {
			return fault.New(fault.Conflict, "the key %s is %s: make a new one", id, state)
		}
		kept := slices.DeleteFunc(key.Secrets, func(s Secret) bool { return reached(s.ExpiresAt, now) })
		for i, s := range kept {
			if end := now.Add(overlap); s.ExpiresAt.IsZero() || s.ExpiresAt.After(end) {
				kept[i].ExpiresAt = end
			}
		}
		if overlap > 0 && len(kept) >= maxSecrets {
			return fault.New(fault.Conflict, "the key %s was rotated %d times, and none of its secrets has ended yet: rotate it without an overlap", id, len(kept)-1)
		}
		var secret Secret
		raw, secret = newSecret(now)
		key.Secrets = append(kept, secret)
		return nil
	})
	if err != nil {
		return Key{}, "", err
	}
	return key, raw, nil
}

// change rewrites a key. It retries when another process has changed it meanwhile.
func (k *Keyring) change(ctx context.Context, id, event string, change func(*Key, time.Time) error) (Key, error) {
	for {
		if err := k.Refresh(ctx); err != nil {
			return Key{}, err
		}
		h := k.known.Load().byID[id]
		if h == nil {
			if strings.HasPrefix(id, keyPrefix) {
				return Key{}, fault.New(fault.Invalid, "that is a key, not the id of one: pregon keys revoke - reads a key from standard input; treat this one as exposed")
			}
			return Key{}, fault.New(fault.NotFound, "there is no key %q: pregon keys list shows all", id)
		}
		key := h.Key
		key.Secrets = slices.Clone(key.Secrets)
		if err := change(&key, time.Now().UTC().Truncate(time.Second)); err != nil {
			return Key{}, err
		}
		err := k.put(ctx, key)
		if err == nil {
			k.audit.record(ctx, event, slog.String("key", key.ID), slog.String("name", key.Name))
			return key, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Key{}, err
		}
	}
}

func (k *Keyring) put(ctx context.Context, key Key) error {
	body, err := json.Marshal(key)
	if err != nil {
		return err
	}
	if _, err = store.PutRecord(ctx, k.store, store.Record{Kind: keyKind, ID: key.ID, Body: string(body), Revision: key.revision}); err != nil {
		return err
	}
	_ = k.Refresh(ctx) // so that it has effect here at once; the key is stored, and Follow would find it too
	return nil
}

// Find returns the id of a key by its text, in any state.
func (k *Keyring) Find(raw string) (string, error) {
	raw = strings.TrimSpace(raw)
	if found, ok := k.known.Load().byDigest[digestOf(raw)]; ok && wellFormed(raw) {
		return found.holder.ID, nil
	}
	return "", fault.New(fault.NotFound, "there is no such key")
}

// ListedKey is a key with its use.
type ListedKey struct {
	Key
	store.Use
}

// List returns all keys, oldest first.
func (k *Keyring) List(ctx context.Context) ([]ListedKey, error) {
	if err := k.Refresh(ctx); err != nil {
		return nil, err
	}
	uses, err := k.store.Uses(ctx)
	if err != nil {
		return nil, err
	}
	var all []ListedKey
	for id, h := range k.known.Load().byID {
		all = append(all, ListedKey{h.Key, uses[useName(id)]})
	}
	slices.SortFunc(all, func(a, b ListedKey) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, nil
}
