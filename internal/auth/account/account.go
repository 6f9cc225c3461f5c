// Package account keeps the accounts of people: who they are, in which browsers they
// are signed in, and which applications may act for them.
//
// An account is one record of the store, with its sessions and grants, so that ending
// everything of a person is one write, and what has ended leaves nothing behind. Every
// replica holds all accounts in memory and follows the store.
//
// The store has digests only: neither a session nor a refresh token can be taken from
// a copy of it.
package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/server/origin"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// kind is the kind of the store's records that are accounts.
const kind = "account"

// Bounds of an account. The least recently used session or grant is dropped for a new
// one. Sessions that were opened with a key have a bound of their own for each key:
// a holder of one key must not end the sessions of others by signing in.
const (
	maxSessions    = 20 // opened with the provider
	maxKeySessions = 10 // opened with one key
	maxGrants      = 50
	maxText        = 200 // bytes of names and the like
)

// Account is a person who signed in, or the holder of a key.
type Account struct {
	// ID is the issuer and subject of a person, with # between them, or the id of a
	// key that belongs to nobody else.
	ID         string       `json:"id"`
	Provider   string       `json:"provider,omitempty"` // its id in the configuration; empty for the holder of a key
	Name       string       `json:"name,omitempty"`
	Email      string       `json:"email,omitempty"` // verified by the provider
	Plan       string       `json:"plan,omitempty"`
	Scopes     access.Scope `json:"scopes"`
	Operator   bool         `json:"operator,omitempty"`
	CreatedAt  time.Time    `json:"created_at"`
	SignedInAt time.Time    `json:"signed_in_at"`
	BlockedAt  time.Time    `json:"blocked_at,omitzero"`
	Sessions   []Session    `json:"sessions,omitempty"` // oldest first
	Grants     []Grant      `json:"grants,omitempty"`   // oldest first

	revision int64
}

// digest is the SHA-256 of a secret, in hexadecimal.
type digest string

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(hex.EncodeToString(sum[:]))
}

// is reports whether d is the digest of a text.
func (d digest) is(text string) bool {
	return subtle.ConstantTimeCompare([]byte(d), []byte(digestOf(text))) == 1
}

// Store is the part of the store that accounts need.
type Store interface {
	store.Records
}

// Options are the collaborators of Accounts.
type Options struct {
	Store Store
	// Key returns the state of a key, for the accounts of keys.
	Key func(id string) (access.AccountState, bool)
	// Configured reports whether the configuration still has the provider of an account.
	Configured func(provider, account string) bool
	Audit      access.Audit
	OnChange   func() // called after accounts changed
	Logger     *slog.Logger
}

// Accounts holds all accounts.
type Accounts struct {
	o        Options
	known    atomic.Pointer[accounts]
	follower *follow.Follower
}

// accounts is an immutable snapshot.
type accounts struct {
	byID   map[string]*Account
	grants map[string]ownedGrant // by id
}

// ownedGrant is a grant and its account.
type ownedGrant struct {
	owner *Account
	grant *Grant
}

// New returns accounts that are empty until Refresh.
func New(o Options) *Accounts {
	a := &Accounts{o: o}
	a.known.Store(&accounts{})
	a.follower = follow.New(follow.Options{
		Kind:   kind,
		Noun:   "accounts",
		Store:  o.Store,
		Apply:  a.apply,
		Logger: o.Logger,
	})
	return a
}

// Refresh reads the accounts that were written since the last time.
func (a *Accounts) Refresh(ctx context.Context) error { return a.follower.Poll(ctx) }

// Wake is Refresh for a request that names an account which may be new.
func (a *Accounts) Wake(ctx context.Context) error { return a.follower.Wake(ctx) }

// Follow keeps the accounts up to date until the context ends.
func (a *Accounts) Follow(ctx context.Context) error { return a.follower.Run(ctx) }

func (a *Accounts) apply(ctx context.Context, u follow.Update) {
	next := &accounts{grants: map[string]ownedGrant{}}
	if !u.Reload {
		next.byID = maps.Clone(a.known.Load().byID)
	}
	if next.byID == nil {
		next.byID = map[string]*Account{}
	}
	for _, r := range u.Records {
		if r.Body == "" { // it was deleted
			delete(next.byID, r.ID)
			continue
		}
		one := new(Account)
		if err := json.Unmarshal([]byte(r.Body), one); err != nil || one.ID != r.ID { // a newer program wrote it
			a.audit(ctx, "account.unreadable", r.ID)
			delete(next.byID, r.ID)
			continue
		}
		one.revision = r.Revision
		next.byID[r.ID] = one
	}
	for _, one := range next.byID {
		for i := range one.Grants {
			// an earlier version stored other letters
			one.Grants[i].ClientHost = origin.ASCIIHost(one.Grants[i].ClientHost)
			next.grants[one.Grants[i].ID] = ownedGrant{one, &one.Grants[i]}
		}
	}
	a.known.Store(next)
	if a.o.OnChange != nil {
		a.o.OnChange()
	}
}

// Account returns the account with an id.
func (a *Accounts) Account(id string) (Account, bool) {
	one := a.known.Load().byID[id]
	if one == nil {
		return Account{}, false
	}
	return *one, true
}

// All returns all accounts, the newest first.
func (a *Accounts) All(ctx context.Context) ([]Account, error) {
	if err := a.Refresh(ctx); err != nil {
		return nil, err
	}
	var all []Account
	for _, one := range a.known.Load().byID {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(x, y Account) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), strings.Compare(x.ID, y.ID))
	})
	return all, nil
}

// State returns the state of an account.
func (a *Accounts) State(id string) (access.AccountState, bool) {
	one := a.known.Load().byID[id]
	if one == nil {
		return access.AccountState{}, false
	}
	return a.stateOf(one), true
}

// stateOf returns what an account may do now.
func (a *Accounts) stateOf(one *Account) access.AccountState {
	o := access.AccountState{Scope: one.Scopes, Plan: one.Plan, Operator: one.Operator}
	if access.IsKeyID(one.ID) {
		var known bool
		if o, known = a.o.Key(one.ID); !known {
			o.Gone = "its key is not known"
		}
	} else if !a.o.Configured(one.Provider, one.ID) {
		o.Gone = "the provider with which its owner signed in is not in the configuration"
	}
	if !one.BlockedAt.IsZero() {
		o.Gone = "an operator has blocked its owner"
		o.Since = one.BlockedAt
	}
	return o
}

// Block ends all access of an account, or allows it again. Sessions and grants do not
// come back.
func (a *Accounts) Block(ctx context.Context, id string, blocked bool) error {
	event := "account.unblocked"
	if blocked {
		event = "account.blocked"
	}
	return a.change(ctx, id, event, func(one *Account, now time.Time) error {
		if !blocked {
			one.BlockedAt = time.Time{}
			return nil
		}
		if one.BlockedAt.IsZero() {
			one.BlockedAt = now
		}
		one.Sessions, one.Grants = nil, nil
		return nil
	})
}

// errUnchanged ends a change that has nothing to write.
var errUnchanged = errors.New("unchanged")

// change rewrites an account. It tries again when another process changed it
// meanwhile. An empty event is not audited.
func (a *Accounts) change(ctx context.Context, id, event string, change func(*Account, time.Time) error) error {
	return store.Within(ctx, func(ctx context.Context) error { return a.rewrite(ctx, id, event, change) })
}

func (a *Accounts) rewrite(ctx context.Context, id, event string, change func(*Account, time.Time) error) error {
	for {
		one, known := a.Account(id)
		if !known {
			if err := a.Refresh(ctx); err != nil {
				return err
			}
			if one, known = a.Account(id); !known {
				return fault.New(fault.NotFound, "There is no account %q.", id)
			}
		}
		// The snapshot that others read must not change.
		one.Sessions, one.Grants = slices.Clone(one.Sessions), slices.Clone(one.Grants)
		err := change(&one, now())
		if errors.Is(err, errUnchanged) {
			return nil
		}
		if err != nil {
			return err
		}
		if err = a.put(ctx, one); err == nil {
			if event != "" {
				a.audit(ctx, event, id)
			}
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
		if err := a.Refresh(ctx); err != nil {
			return err
		}
	}
}

// put writes an account and adds it to the known ones.
func (a *Accounts) put(ctx context.Context, one Account) error {
	body, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if _, err := store.PutRecord(ctx, a.o.Store, store.Record{
		Kind:     kind,
		ID:       one.ID,
		Body:     string(body),
		Revision: one.revision,
	}); err != nil {
		return err
	}
	// It is applied in the order of revisions. If that fails now, Follow does it: what is
	// written must not be reported as a failure, since a client would lose its token.
	_ = a.Refresh(ctx)
	return nil
}

func (a *Accounts) audit(ctx context.Context, event, id string, more ...slog.Attr) {
	if a.o.Audit != nil {
		a.o.Audit(ctx, event, append([]slog.Attr{slog.String("account", id)}, more...)...)
	}
}

// now returns the time as it is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// newID returns a random id with a prefix.
func newID(prefix string) string { return prefix + secret.RandomText(idLength) }

const idLength = 12
