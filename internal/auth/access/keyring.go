package access

import (
	"context"
	"encoding/json"
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
	byDigest map[Digest]keyAndSecret
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
	k.follower = follow.New(follow.Options{
		Kind:  keyKind,
		Noun:  "keys",
		Store: s,
		Apply: k.apply,
	})
	k.known.Store(&keys{})
	k.changed.Store(new(make(chan struct{})))
	return k
}

// Refresh reads the keys that were written since the last time.
func (k *Keyring) Refresh(ctx context.Context) error { return k.follower.Poll(ctx) }

// apply adds records to the known keys. One that cannot be read, because a newer
// program wrote it, is dropped: its secrets are refused.
func (k *Keyring) apply(ctx context.Context, u follow.Update) {
	old := k.known.Load()
	next := &keys{byDigest: make(map[Digest]keyAndSecret, len(old.byDigest)+len(u.Records))}
	if !u.Reload {
		next.byID = maps.Clone(old.byID)
	}
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
		if known := old.byID[r.ID]; known != nil {
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
	key.ID = idPrefix + secret.RandomText(idLength)
	key.CreatedAt = now
	key.Secrets = []Secret{newest}
	if err := k.put(ctx, key); err != nil {
		return Key{}, "", err
	}
	k.audit.record(ctx, "key.created", slog.String("key", key.ID), slog.String("name", key.Name),
		slog.String("plan", key.Plan), slog.String("scope", key.Scopes.String()))
	return key, raw, nil
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
			return fault.New(fault.Conflict, "the key %s was rotated %d times, and its previous secrets are all "+
				"still valid: rotate it without an overlap", id, len(kept)-1)
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
				return Key{}, fault.New(fault.Invalid, "that is a key, not the id of one: pregon keys revoke "+
					"- reads a key from standard input; treat this one as exposed")
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
	if _, err = store.PutRecord(ctx, k.store, store.Record{
		Kind:     keyKind,
		ID:       key.ID,
		Body:     string(body),
		Revision: key.revision,
	}); err != nil {
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
