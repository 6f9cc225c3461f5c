package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/store"
)

// keyKind is the kind of the store's records that are keys.
const keyKind = "key"

const (
	lookEvery   = time.Second            // how often the store is asked for keys made or revoked elsewhere
	lookAtOnce  = 100 * time.Millisecond // least time between looks for a key that nobody knows
	lookTimeout = 5 * time.Second
	lookNow     = time.Second // the same while somebody waits for it
	noteEvery   = time.Minute // how often the use of a key is noted
)

// Keyring knows all keys. It answers from memory; Follow keeps it up to date
// with what other processes do.
type Keyring struct {
	store interface {
		store.Records
		store.Marks
	}
	audit Audit

	known    atomic.Pointer[keys]
	looking  sync.Mutex   // one look at a time
	revision int64        // guarded by looking
	triedAt  time.Time    // guarded by looking: when the last look began
	failed   error        // guarded by looking: what came of it
	lookedAt atomic.Int64 // Unix nanoseconds: when the last one that succeeded began
	used     chan *holder
	changed  atomic.Pointer[chan struct{}] // closed when what is known changes
}

// keys is what is known at a moment; it does not change.
type keys struct {
	byDigest map[digest]keyAndSecret
	byID     map[string]*holder
}

type keyAndSecret struct {
	holder *holder
	secret Secret
}

// holder is a key and when its use was last noted, which outlives changes.
type holder struct {
	Key
	noted *atomic.Int64 // Unix seconds
}

// NewKeyring returns a keyring that knows nothing until Refresh.
func NewKeyring(s interface {
	store.Records
	store.Marks
}, audit Audit,
) *Keyring {
	k := &Keyring{store: s, audit: audit, used: make(chan *holder, 256)}
	k.known.Store(&keys{})
	k.changed.Store(new(make(chan struct{})))
	return k
}

// Refresh takes in what was written since the last time.
func (k *Keyring) Refresh(ctx context.Context) error {
	k.looking.Lock()
	defer k.looking.Unlock()
	return k.refresh(ctx)
}

// refresh needs k.looking.
func (k *Keyring) refresh(ctx context.Context) error {
	at := time.Now()
	k.triedAt = at
	records, err := k.store.RecordsSince(ctx, keyKind, k.revision)
	if k.failed = err; err != nil {
		return fmt.Errorf("reading keys: %w", err)
	}
	if len(records) > 0 {
		k.learn(ctx, records)
	}
	k.lookedAt.Store(at.UnixNano())
	return nil
}

// learn takes records in. One that cannot be read, which a newer program may
// have written, is nobody's key here.
func (k *Keyring) learn(ctx context.Context, records []store.Record) {
	old := k.known.Load()
	next := &keys{byID: maps.Clone(old.byID), byDigest: make(map[digest]keyAndSecret, len(old.byDigest)+len(records))}
	if next.byID == nil {
		next.byID = map[string]*holder{}
	}
	for _, r := range records {
		h := &holder{noted: new(atomic.Int64)}
		if err := json.Unmarshal([]byte(r.Body), &h.Key); err != nil || h.ID != r.ID {
			k.audit.tell(ctx, "key.unreadable", slog.String("key", r.ID))
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
	close(*k.changed.Swap(new(make(chan struct{}))))
	k.revision = records[len(records)-1].Revision
}

// Follow keeps the keyring up to date and notes the use of keys until the
// context ends. While the store does not answer, what is known stands.
func (k *Keyring) Follow(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { k.look(ctx); return ctx.Err() })
	g.Go(func() error { k.noteUses(ctx); return nil })
	return g.Wait()
}

func (k *Keyring) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		reading, cancel := context.WithTimeout(ctx, lookTimeout)
		_ = k.Refresh(reading) // Behind tells
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Behind is the time since the keyring last knew that it had seen everything.
func (k *Keyring) Behind() time.Duration { return time.Since(time.Unix(0, k.lookedAt.Load())) }

// noteUses writes down the first use of a key, and then one a minute. What
// cannot be written is written at a later use.
func (k *Keyring) noteUses(ctx context.Context) {
	for {
		select {
		case h := <-k.used:
			k.noteUse(context.WithoutCancel(ctx), h)
		case <-ctx.Done():
			return
		}
	}
}

func (k *Keyring) noteUse(ctx context.Context, h *holder) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	at := time.Now().Truncate(time.Microsecond)
	first, err := k.store.Use(ctx, useName(h.ID), at)
	if err != nil {
		h.noted.Store(0)
		return
	}
	if first.Equal(at) {
		k.audit.tell(ctx, "key.first_used", slog.String("key", h.ID))
	}
}

func useName(id string) string { return "key:" + id }

// badKey is why a key that is known is not good.
type badKey struct{ id, reason string }

func (b *badKey) Error() string { return b.reason }

// find returns the holder of a key that is good now, and until when it is.
func (k *Keyring) find(ctx context.Context, raw string) (h *holder, expires time.Time, err error) {
	if !wellFormed(raw) {
		return nil, expires, errors.New("this is not a key of this service, or it was not copied whole: its checksum is wrong")
	}
	sum := digestOf(raw)
	found, ok := k.known.Load().byDigest[sum]
	if !ok {
		err := k.lookAgain(ctx)
		if found, ok = k.known.Load().byDigest[sum]; !ok && err != nil {
			return nil, expires, fault.Wrap(fault.Unavailable, err, "The keys cannot be looked up now. Try again in a few seconds.")
		}
		if !ok {
			return nil, expires, errors.New("there is no such key")
		}
	}
	h, now := found.holder, time.Now()
	switch {
	case !h.RevokedAt.IsZero():
		return nil, expires, &badKey{h.ID, "this key was revoked"}
	case reached(h.ExpiresAt, now):
		return nil, expires, &badKey{h.ID, "this key has expired"}
	case reached(found.secret.ExpiresAt, now):
		return nil, expires, &badKey{h.ID, "this key was replaced by a newer one"}
	}
	if expires = h.ExpiresAt; expires.IsZero() || !found.secret.ExpiresAt.IsZero() && found.secret.ExpiresAt.Before(expires) {
		expires = found.secret.ExpiresAt
	}
	return h, expires, nil
}

// lookAgain looks for a key that was made a moment ago. However many are
// asked for that do not exist, the store is asked ten times a second at most.
func (k *Keyring) lookAgain(ctx context.Context) error {
	asked := time.Now()
	k.looking.Lock()
	defer k.looking.Unlock()
	if k.triedAt.After(asked) {
		return k.failed // somebody has just done it
	}
	if err := retry.Sleep(ctx, lookAtOnce-time.Since(k.triedAt)); err != nil {
		return err
	}
	// Others wait for the answer too: it must not end with this request.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookNow)
	defer cancel()
	return k.refresh(ctx)
}

// touch notes that a key was used, now and then.
func (k *Keyring) touch(h *holder) {
	now, noted := time.Now().Unix(), h.noted.Load()
	if now-noted < int64(noteEvery/time.Second) || !h.noted.CompareAndSwap(noted, now) {
		return
	}
	select {
	case k.used <- h:
	default:
		h.noted.Store(noted) // too many at once: at its next use
	}
}

// Changed returns a channel that is closed when keys are made or revoked.
func (k *Keyring) Changed() <-chan struct{} { return *k.changed.Load() }

// Alive reports whether a holder's key has not been revoked and has not expired,
// for what goes on after a request was let in.
func (k *Keyring) Alive(id string) bool {
	h := k.known.Load().byID[id]
	return h != nil && h.State(time.Now()) == "active"
}

// Key returns the key with an id.
func (k *Keyring) Key(id string) (Key, bool) {
	h := k.known.Load().byID[id]
	if h == nil {
		return Key{}, false
	}
	return h.Key, true
}

// Create makes a key and returns it: the only time that it is ever shown.
func (k *Keyring) Create(ctx context.Context, key Key) (Key, string, error) {
	now := time.Now().UTC().Truncate(time.Second)
	if err := key.validate(now); err != nil {
		return Key{}, "", err
	}
	raw, secret := newSecret(now)
	key.ID, key.CreatedAt, key.Secrets = idPrefix+randomText(idLength), now, []Secret{secret}
	if err := k.put(ctx, key); err != nil {
		return Key{}, "", err
	}
	k.audit.tell(ctx, "key.created", slog.String("key", key.ID), slog.String("name", key.Name), slog.String("plan", key.Plan), slog.String("scope", key.Scopes.String()))
	return key, raw, nil
}

// Revoke ends a key for good. One that is revoked already stays so.
func (k *Keyring) Revoke(ctx context.Context, id string) (Key, error) {
	return k.change(ctx, id, "key.revoked", func(key *Key, now time.Time) error {
		if key.RevokedAt.IsZero() {
			key.RevokedAt = now
		}
		return nil
	})
}

// Rotate makes another key for a holder. Those before it are good for as long
// as the overlap is.
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

// change rewrites a key. When somebody else has changed it meanwhile, it
// starts over from what they left.
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
			return Key{}, fault.New(fault.NotFound, "there is no key %q: pregon keys list tells them", id)
		}
		key := h.Key
		key.Secrets = slices.Clone(key.Secrets)
		if err := change(&key, time.Now().UTC().Truncate(time.Second)); err != nil {
			return Key{}, err
		}
		err := k.put(ctx, key)
		if err == nil {
			k.audit.tell(ctx, event, slog.String("key", key.ID), slog.String("name", key.Name))
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
	_, err = k.store.PutRecord(ctx, store.Record{Kind: keyKind, ID: key.ID, Body: string(body), Revision: key.revision})
	return err
}

// Find returns the id of the holder of a key, whatever its state.
func (k *Keyring) Find(raw string) (string, error) {
	raw = strings.TrimSpace(raw)
	if found, ok := k.known.Load().byDigest[digestOf(raw)]; ok && wellFormed(raw) {
		return found.holder.ID, nil
	}
	return "", fault.New(fault.NotFound, "there is no such key")
}

// Listed is a key and its use.
type ListedKey struct {
	Key
	store.Use
}

// List returns all keys, the oldest first.
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
