package transparency

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// KeyKind is the kind of the records that hold the keys of the log.
const KeyKind = "log-key"

// maxKeys is the number of keys that may sign at the same time.
const maxKeys = 8

// Keys are the Ed25519 keys that sign the checkpoints of a log. They are kept in the
// store, sealed if there is a PREGON_SECRET_KEY, and all replicas use them. Every key
// signs every checkpoint: a new key is added, and the old one is removed once those
// who verify checkpoints know the new one.
type Keys struct {
	records  store.Records
	box      *secret.Box
	log      *slog.Logger
	follower *follow.Follower

	mu   sync.RWMutex
	keys []Key // guarded by mu: the oldest first
}

// Key is a key of the log.
type Key struct {
	ID        int64
	CreatedAt time.Time
	private   ed25519.PrivateKey
	revision  int64
}

// keyText is the text of a record.
type keyText struct {
	Seed      []byte    `json:"seed"`
	CreatedAt time.Time `json:"created_at"`
}

// NewKeys returns keys that are not read yet.
func NewKeys(records store.Records, box *secret.Box, log *slog.Logger) *Keys {
	k := &Keys{records: records, box: box, log: log}
	// Failures of the store are not logged here: the catalogue reads it too and logs them.
	k.follower = follow.New(follow.Options{
		Kind:  KeyKind,
		Noun:  "keys of the transparency log",
		Store: records,
		Apply: k.apply,
	})
	return k
}

// LoadOrCreate reads the keys, and creates one if there is none. Concurrent processes
// agree on one.
func (k *Keys) LoadOrCreate(ctx context.Context) error {
	stored, err := k.records.RecordsSince(ctx, KeyKind, 0)
	if err != nil {
		return err
	}
	if len(stored) == 0 {
		if _, err := k.put(ctx, 1); err != nil && fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return k.follower.Poll(ctx)
}

// Follow keeps the keys up to date until the context ends.
func (k *Keys) Follow(ctx context.Context) error { return k.follower.Run(ctx) }

// List returns the keys, the oldest first.
func (k *Keys) List() []Key {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return slices.Clone(k.keys)
}

// Add creates a key, which signs from now on beside the others.
func (k *Keys) Add(ctx context.Context) (Key, error) {
	if err := k.follower.Poll(ctx); err != nil {
		return Key{}, err
	}
	known := k.List()
	if len(known) >= maxKeys {
		return Key{}, fault.New(fault.Conflict, "the limit of %d keys for the log is reached: remove one first",
			len(known))
	}
	stored, err := k.records.RecordsSince(ctx, KeyKind, 0)
	if err != nil {
		return Key{}, err
	}
	id := int64(0) // no id is used twice, not even that of a removed key
	for _, r := range stored {
		n, _ := strconv.ParseInt(r.ID, 10, 64)
		id = max(id, n)
	}
	return k.put(ctx, id+1)
}

// Remove ends a key. The only one cannot be removed.
func (k *Keys) Remove(ctx context.Context, id int64) error {
	if err := k.follower.Poll(ctx); err != nil {
		return err
	}
	known := k.List()
	i := slices.IndexFunc(known, func(key Key) bool { return key.ID == id })
	switch {
	case i < 0:
		return fault.New(fault.NotFound, "the log does not have key %d", id)
	case len(known) == 1:
		return fault.New(fault.Conflict, "key %d is the only one: add another first", id)
	}
	if _, err := store.PutRecord(ctx, k.records,
		store.Record{Kind: KeyKind, ID: strconv.FormatInt(id, 10), Revision: known[i].revision}); err != nil {
		return err
	}
	return k.follower.Poll(ctx)
}

func (k *Keys) put(ctx context.Context, id int64) (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, err
	}
	key := Key{ID: id, CreatedAt: time.Now().UTC().Truncate(time.Second), private: private}
	text, err := json.Marshal(keyText{Seed: private.Seed(), CreatedAt: key.CreatedAt})
	if err != nil {
		return Key{}, err
	}
	name := strconv.FormatInt(id, 10)
	if _, err = store.PutRecord(ctx, k.records,
		store.Record{Kind: KeyKind, ID: name, Body: k.box.Seal(sealedAs(name), string(text))}); err != nil {
		return Key{}, err
	}
	return key, k.follower.Poll(ctx)
}

func sealedAs(id string) string { return KeyKind + "/" + id }

func (k *Keys) apply(ctx context.Context, u follow.Update) {
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := slices.Clone(k.keys)
	if u.Reload {
		keys = nil
	}
	for _, r := range u.Records {
		id, err := strconv.ParseInt(r.ID, 10, 64)
		if err != nil {
			continue
		}
		keys = slices.DeleteFunc(keys, func(key Key) bool { return key.ID == id })
		if r.Body == "" {
			continue
		}
		key, err := k.open(r, id)
		if err != nil {
			k.log.ErrorContext(ctx, "a key of the transparency log cannot be used", "key", id, "err", err)
			continue
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.ID, b.ID) })
	k.keys = keys
}

func (k *Keys) open(r store.Record, id int64) (Key, error) {
	text, err := k.box.Open(sealedAs(r.ID), r.Body)
	if err != nil {
		return Key{}, err
	}
	var read keyText
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return Key{}, err
	}
	if len(read.Seed) != ed25519.SeedSize {
		return Key{}, fmt.Errorf("its seed has %d bytes, not %d", len(read.Seed), ed25519.SeedSize)
	}
	return Key{
		ID:        id,
		CreatedAt: read.CreatedAt,
		private:   ed25519.NewKeyFromSeed(read.Seed),
		revision:  r.Revision,
	}, nil
}

// VerifierKey returns the text of the public key for a log, as signed notes have it:
// NAME+HASH+KEY. The name of the log is part of the hash.
func (k Key) VerifierKey(origin string) (string, error) {
	return note.NewEd25519VerifierKey(origin, k.private.Public().(ed25519.PublicKey))
}

// signer returns the key as a signer for a log.
func (k Key) signer(origin string) (note.Signer, error) {
	verifier, err := k.VerifierKey(origin)
	if err != nil {
		return nil, err
	}
	const ed25519Algorithm = 1
	hash, _, _ := strings.Cut(strings.TrimPrefix(verifier, origin+"+"), "+")
	seed := append([]byte{ed25519Algorithm}, k.private.Seed()...)
	return note.NewSigner("PRIVATE+KEY+" + origin + "+" + hash + "+" + base64.StdEncoding.EncodeToString(seed))
}
