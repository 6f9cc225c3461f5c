package token

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// Sealer encrypts values in the store. A value opens only under the name that it was
// sealed with.
type Sealer interface {
	Seal(name, text string) string
	Open(name, sealed string) (string, error)
}

const (
	signingKind = "signing-key"
	// between the publication of a key and its first signature; clients cache keys as
	// long
	publishLead = 5 * time.Minute
	keyBits     = 2048
)

// Ring holds the keys that sign access tokens. The newest key whose start has come
// signs. An older key still verifies until the last token that it can have signed has
// expired.
//
// Keys are records of the store, numbered from 1. Records never change, and the record
// of a new key describes the whole rotation: so a rotation is atomic, and a replica
// needs only that record.
type Ring struct {
	records  store.Records
	follower *follow.Follower
	sealer   Sealer
	log      *slog.Logger
	generate func() (*rsa.PrivateKey, error)
	// OnChange, if it is not nil, is called after keys were added or removed. It is set
	// before the first Refresh or LoadOrCreate.
	OnChange func()

	now   atomic.Pointer[keys]
	known map[int]*signingKey // used by apply only

	asking sync.Mutex
	asked  time.Time // guarded by asking: when an unknown key was last looked up
	unread error     // guarded by asking: the error of that lookup
}

// NewRing returns a ring that has no key until LoadOrCreate or Refresh. Without
// a log, failures of Follow are not logged.
func NewRing(records store.Records, sealer Sealer, log *slog.Logger) *Ring {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &Ring{
		records:  records,
		sealer:   sealer,
		log:      log,
		known:    map[int]*signingKey{},
		generate: func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, keyBits) },
	}
	r.follower = follow.New(follow.Options{
		Kind:   signingKind,
		Noun:   "signing keys",
		Store:  records,
		Apply:  r.apply,
		Logger: log,
	})
	r.now.Store(&keys{})
	return r
}

// LoadOrCreate reads the keys. If there is none, it creates one and returns its id.
// Concurrent processes agree on a single key.
func (r *Ring) LoadOrCreate(ctx context.Context) (created string, err error) {
	if err := r.Refresh(ctx); err != nil {
		return "", err
	}
	if len(r.now.Load().all) == 0 {
		key, err := r.put(ctx, 0, false)
		if err != nil && fault.KindOf(err) != fault.Conflict {
			return "", err
		}
		created = key.ID
		if err := r.Refresh(ctx); err != nil {
			return "", err
		}
	}
	_, err = r.now.Load().signer(time.Now())
	return created, err
}

// SigningKey is a new key.
type SigningKey struct {
	ID        string // kid
	SignsFrom time.Time
}

// Rotate adds a key. It signs after publishLead, when all replicas and clients have
// seen it, and the older keys run out. With now it signs at once, and signatures of
// older keys are refused: for a leaked key, or one that cannot be opened because
// PREGON_SECRET_KEY is lost.
func (r *Ring) Rotate(ctx context.Context, now bool) (SigningKey, error) {
	if !now {
		if err := r.Refresh(ctx); err != nil {
			return SigningKey{}, err
		}
		return r.put(ctx, publishLead, false)
	}
	for {
		if err := r.follower.Poll(ctx); err != nil {
			return SigningKey{}, err
		}
		added, err := r.put(ctx, 0, true)
		if fault.KindOf(err) != fault.Conflict {
			return added, err
		}
		// Another process rotated at the same time: its key is older too.
	}
}

// put creates a key and stores it under the next number. It returns Conflict when
// another process has just used that number.
func (r *Ring) put(ctx context.Context, wait time.Duration, distrust bool) (SigningKey, error) {
	id := strconv.Itoa(r.now.Load().newest + 1)
	private, err := r.generate()
	if err != nil {
		return SigningKey{}, fmt.Errorf("creating a signing key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return SigningKey{}, fmt.Errorf("creating a signing key: %w", err)
	}
	kid, err := thumbprint(&private.PublicKey)
	if err != nil {
		return SigningKey{}, err
	}
	now := time.Now().UTC()
	record := keyRecord{
		KeyID:          kid,
		CreatedAt:      now,
		SignsFrom:      now.Add(wait),
		DistrustsOlder: distrust,
		PrivateKey:     r.sealer.Seal(sealName(id), base64.StdEncoding.EncodeToString(der)),
	}
	body, err := json.Marshal(record)
	if err != nil {
		return SigningKey{}, err
	}
	if _, err := store.PutRecord(ctx, r.records,
		store.Record{Kind: signingKind, ID: id, Body: string(body)}); err != nil {
		return SigningKey{}, fmt.Errorf("storing a signing key: %w", err)
	}
	return SigningKey{ID: kid, SignsFrom: record.SignsFrom}, r.follower.Poll(ctx)
}

func sealName(id string) string { return signingKind + "/" + id }

// Refresh reads new records. It returns an error when the store fails, or when a key
// cannot be read; the other keys are updated nevertheless.
func (r *Ring) Refresh(ctx context.Context) error {
	if err := r.follower.Poll(ctx); err != nil {
		return err
	}
	return r.now.Load().broken
}

// apply adds records to the known keys.
func (r *Ring) apply(ctx context.Context, u follow.Update) {
	newest := r.now.Load().newest
	for _, rec := range u.Records {
		newest = max(newest, r.add(rec))
	}
	next := arrange(r.known)
	next.newest = newest
	r.now.Store(next)
	if next.broken != nil {
		r.log.ErrorContext(ctx, "a signing key cannot be opened: its tokens are refused", "err", next.broken)
	}
	if r.OnChange != nil {
		r.OnChange()
	}
}

// Trusts reports whether tokens that a key signed are accepted.
func (r *Ring) Trusts(kid string) bool {
	key := r.now.Load().byID[kid]
	return key != nil && key.trusted(time.Now())
}

// add adds one record to the known keys and returns its number, 0 if the record
// is not one of a key.
func (r *Ring) add(rec store.Record) int {
	number, err := strconv.Atoi(rec.ID)
	if err != nil {
		return 0
	}
	if rec.Body == "" {
		delete(r.known, number)
		return number
	}
	k := &signingKey{number: number}
	if k.broken = k.open(rec, r.sealer); k.broken != nil {
		k.broken = fmt.Errorf("signing key %d: %w", number, k.broken)
	}
	r.known[number] = k // even a broken key ends or distrusts older ones
	return number
}

// Follow refreshes until the context ends. While the store fails, the known keys
// stay in use.
func (r *Ring) Follow(ctx context.Context) error { return r.follower.Run(ctx) }

// lookupInterval is the minimum time between two lookups of unknown keys.
const lookupInterval = time.Second

// find returns a key by its id, or nil. An unknown key may be new, so it is looked up
// in the store, but not for every forgery. It returns Unavailable when the store
// cannot be read, because the key may exist.
func (r *Ring) find(ctx context.Context, kid string) (*signingKey, error) {
	if k := r.now.Load().byID[kid]; k != nil || len(kid) != keyIDLength {
		return k, nil
	}
	r.asking.Lock()
	defer r.asking.Unlock()
	if k := r.now.Load().byID[kid]; k != nil {
		return k, nil
	}
	if time.Since(r.asked) >= lookupInterval {
		r.unread = r.follower.Wake(context.WithoutCancel(ctx)) // others wait for the result too
		r.asked = time.Now()
	}
	k := r.now.Load().byID[kid]
	if k == nil && r.unread != nil {
		return nil, fault.Wrap(fault.Unavailable, r.unread,
			"The keys that sign tokens cannot be looked up now. Try again in a few seconds.")
	}
	return k, nil
}
