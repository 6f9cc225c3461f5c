package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/store"
	"pregon/internal/text"
)

// Key is a key without its secret.
type Key struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Plan         string         `json:"plan"`
	State        string         `json:"state"`
	Scopes       []string       `json:"scopes"`
	Networks     []netip.Prefix `json:"networks"`
	CreatedAt    time.Time      `json:"created_at"`
	ExpiresAt    *time.Time     `json:"expires_at"`
	OverlapUntil *time.Time     `json:"overlap_until"`
	RevokedAt    *time.Time     `json:"revoked_at"`
	FirstUsedAt  *time.Time     `json:"first_used_at"`
	LastUsedAt   *time.Time     `json:"last_used_at"`
	Account      string         `json:"owner"`
	Parent       *string        `json:"parent"`
	Text         string         `json:"key,omitempty"` // the secret, when it is new
}

func (s *Service) newKey(k access.Key, use store.Use) Key {
	now := time.Now()
	return Key{
		ID:           k.ID,
		Name:         k.Name,
		Plan:         k.Plan,
		State:        s.stateOf(k, now),
		Scopes:       k.Scopes.Names(),
		Networks:     append([]netip.Prefix{}, k.Networks...),
		CreatedAt:    query.Madrid(k.CreatedAt),
		ExpiresAt:    query.TimeOrNull(k.ExpiresAt),
		OverlapUntil: query.TimeOrNull(k.OverlapEnds(now)),
		RevokedAt:    query.TimeOrNull(k.RevokedAt),
		FirstUsedAt:  query.TimeOrNull(use.First.Truncate(time.Second)),
		LastUsedAt:   query.TimeOrNull(use.Last.Truncate(time.Second)),
		Account:      k.Account(),
		Parent:       query.OrNull(k.Parent),
	}
}

// stateOf returns the state of a key, or that of the key with which it was made and
// without which it is not valid. The keys of an account without access count as revoked.
func (s *Service) stateOf(k access.Key, now time.Time) string {
	state := k.State(now)
	if state != "active" || s.o.Keys.Valid(k.ID) {
		return state
	}
	for k.Parent != "" && state == "active" {
		k, _ = s.o.Keys.Key(k.Parent)
		state = k.State(now)
	}
	if state == "active" {
		return "revoked"
	}
	return state
}

// maxEnded is how many keys that are not valid any more are listed, the latest.
const maxEnded = 100

// KeyList is the keys of an account that the caller may know of, the newest first.
type KeyList struct {
	Keys []Key `json:"keys"`
}

// ListKeys returns the keys of an account: of the caller's own for an empty id.
func (s *Service) ListKeys(ctx context.Context, by access.Principal, account string) (KeyList, error) {
	id, err := subject(by, account)
	if err != nil {
		return KeyList{}, err
	}
	within := access.WholeAccount(id)
	if id == by.ID {
		within = s.o.Keys.Reach(by)
	}
	all, err := bounded(ctx, func(ctx context.Context) ([]access.ListedKey,
		error,
	) {
		return s.o.Keys.Owned(ctx, within)
	})
	if err != nil {
		return KeyList{}, err
	}
	out := KeyList{Keys: make([]Key, 0, len(all))}
	ended := 0
	for _, k := range slices.Backward(all) {
		one := s.newKey(k.Key, k.Use)
		if one.State != "active" {
			if ended++; ended > maxEnded {
				continue
			}
		}
		out.Keys = append(out.Keys, one)
	}
	return out, nil
}

// KeyChange is a request to change a key. What is absent stays.
type KeyChange struct {
	Name      *string   `json:"name"`
	ExpiresAt Expiry    `json:"expires_at"`
	Networks  *[]string `json:"networks"`
}

// NewKey is a request for a key. Without scopes it gets all of the caller's.
type NewKey struct {
	Name      *string   `json:"name"`
	ExpiresAt Expiry    `json:"expires_at"`
	Networks  *[]string `json:"networks"`
	Scopes    []string  `json:"scopes"`
}

// Expiry is the end of a key in a request. Its zero value means that the request does
// not mention it.
type Expiry struct {
	given bool
	never bool
	text  string // of the time
	sent  string // what errors repeat
}

// Never is the end of a key that does not expire.
func Never() Expiry { return Expiry{given: true, never: true} }

// ExpiresAt is the end of a key as a time in RFC 3339.
func ExpiresAt(time string) Expiry { return Expiry{given: true, text: time, sent: time} }

// UnmarshalJSON accepts any value: what is not a time is refused with the other fields.
func (e *Expiry) UnmarshalJSON(raw []byte) error {
	*e = Expiry{given: true, sent: string(raw)}
	if bytes.Equal(raw, []byte("null")) {
		e.never = true
		return nil
	}
	_ = json.Unmarshal(raw, &e.text) // anything but a text is no time
	return nil
}

// maxExpiry is how far ahead the end of a key may be. Later times cannot be written in
// every time zone.
const maxExpiry = 100 * 365 * 24 * time.Hour

// read returns the end of a key, zero for never, and records if it is not valid.
func (e Expiry) read(p *query.Params) time.Time {
	if e.never {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, e.text)
	if now := time.Now(); err != nil || !t.After(now) || t.After(now.Add(maxExpiry)) {
		p.Reject("expires_at", e.sent, "must be a time in the future, within 100 years, such as %s, or null for never",
			now.AddDate(1, 0, 0).UTC().Format(time.RFC3339))
	}
	return t.UTC().Truncate(time.Second)
}

// read returns the change, and records what is not valid.
func (c KeyChange) read(p *query.Params) (out access.KeyChange) {
	if c.Name != nil {
		if out.Name = new(strings.TrimSpace(*c.Name)); *out.Name == "" {
			p.Reject("name", *c.Name, "must say what the key is for")
		}
	}
	if c.ExpiresAt.given {
		out.ExpiresAt = new(c.ExpiresAt.read(p))
	}
	if c.Networks != nil {
		out.Networks = new(readNetworks(p, *c.Networks))
	}
	return out
}

// readNetworks returns the networks of a key, and records one that is not valid.
func readNetworks(p *query.Params, texts []string) (out []netip.Prefix) {
	for _, s := range texts {
		network, err := access.ParseNetwork(s)
		if err != nil {
			p.Reject("networks", s, "must be a network, such as 203.0.113.0/24, or an address")
			break
		}
		out = append(out, network)
	}
	return out
}

// CreateKey makes a key. The answer alone has its secret.
func (s *Service) CreateKey(ctx context.Context, by access.Principal, asked NewKey) (Key, error) {
	p := query.NewParams(nil)
	change := KeyChange{Name: asked.Name, ExpiresAt: asked.ExpiresAt, Networks: asked.Networks}
	if change.Name == nil {
		change.Name = new("")
	}
	given := change.read(p)
	key := access.Key{Name: *given.Name}
	var err error
	if key.Scopes, err = access.ParseScopes(asked.Scopes); err != nil {
		p.Reject("scopes", strings.Join(asked.Scopes, " "), "%v", err)
	}
	if given.ExpiresAt != nil {
		key.ExpiresAt = *given.ExpiresAt
	}
	if given.Networks != nil {
		key.Networks = *given.Networks
	}
	if err := p.Err(); err != nil {
		return Key{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Key, error) {
		made, secret, err := s.o.Keys.CreateFor(ctx, by, key)
		if err != nil {
			return Key{}, sentence(err)
		}
		out := s.newKey(made, store.Use{})
		out.Text = secret
		return out, nil
	})
}

// findKey returns the key with an id if the caller may know of it. A caller that sends a
// key, or signed in with one, knows of that key and those made with it: otherwise a key
// with few rights would be enough to get one with more.
func (s *Service) findKey(ctx context.Context, by access.Principal, id string) (access.Key, error) {
	if err := s.o.Keys.Refresh(ctx); err != nil {
		return access.Key{}, err
	}
	key, known := s.o.Keys.Key(id)
	if !known || !by.Operator && !s.o.Keys.Reach(by).Has(key.Account(), key.ID) {
		return access.Key{}, fault.New(fault.NotFound, "There is no key %q. GET /api/v1/account/keys lists yours.", id)
	}
	return key, nil
}

// findOwnKey is findKey for a key that must be within the caller's reach. Operators know
// of all keys.
func (s *Service) findOwnKey(ctx context.Context, by access.Principal, id string) (access.Key, error) {
	key, err := s.findKey(ctx, by, id)
	if err != nil {
		return access.Key{}, err
	}
	if !s.o.Keys.Reach(by).Has(key.Account(), key.ID) {
		return access.Key{}, fault.New(fault.Forbidden,
			"The key %s belongs to another account: operators may only revoke it.", key.ID)
	}
	return key, nil
}

// ChangeKey changes the name, end or networks of a key.
func (s *Service) ChangeKey(ctx context.Context, by access.Principal, id string, asked KeyChange) (Key, error) {
	p := query.NewParams(nil)
	change := asked.read(p)
	if err := p.Err(); err != nil {
		return Key{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Key, error) {
		key, err := s.findOwnKey(ctx, by, id)
		if err != nil {
			return Key{}, err
		}
		movesEnd := change.ExpiresAt != nil && !change.ExpiresAt.Equal(key.ExpiresAt)
		movesNetworks := change.Networks != nil && !slices.Equal(*change.Networks, key.Networks)
		if (movesEnd || movesNetworks) && key.ID == by.Key {
			return Key{}, fault.New(fault.Forbidden, "A key cannot change its own expiry or networks: "+
				"use the key that created it, sign in without a key, or ask the operator.")
		}
		if key, err = s.o.Keys.Change(ctx, key.ID, change); err != nil {
			return Key{}, sentence(err)
		}
		return s.changedKey(ctx, key)
	})
}

// changedKey returns a key that was changed, with its use.
func (s *Service) changedKey(ctx context.Context, key access.Key) (Key, error) {
	all, err := s.o.Keys.Owned(ctx, access.WholeAccount(key.Account()))
	if err != nil {
		return Key{}, err
	}
	var use store.Use
	for _, k := range all {
		if k.ID == key.ID {
			use = k.Use
		}
	}
	return s.newKey(key, use), nil
}

// Overlap of the secrets of a rotated key, in seconds.
const (
	DefaultOverlap = 24 * 60 * 60
	maxOverlap     = 90 * 24 * 60 * 60
)

// KeyRotation is a request for a new secret of a key. Surfaces use DefaultOverlap if the
// caller gives none.
type KeyRotation struct {
	// Overlap is how many seconds the old secret stays valid.
	Overlap int `json:"overlap_seconds"`
}

// RotateKey gives a key a new secret. Only this answer has it.
func (s *Service) RotateKey(ctx context.Context, by access.Principal, id string, asked KeyRotation) (Key, error) {
	if asked.Overlap < 0 || asked.Overlap > maxOverlap {
		return Key{}, rejected("overlap_seconds", strconv.Itoa(asked.Overlap),
			"must be a whole number from %d to %d", 0, maxOverlap)
	}
	return bounded(ctx, func(ctx context.Context) (Key, error) {
		key, err := s.findOwnKey(ctx, by, id)
		if err != nil {
			return Key{}, err
		}
		key, secret, err := s.o.Keys.Rotate(ctx, key.ID, time.Duration(asked.Overlap)*time.Second)
		if err != nil {
			return Key{}, sentence(err)
		}
		out, err := s.changedKey(ctx, key)
		out.Text = secret
		return out, err
	})
}

// RevokeKey ends a key for good. Operators may end any.
func (s *Service) RevokeKey(ctx context.Context, by access.Principal, id string) error {
	return store.Within(ctx, func(ctx context.Context) error {
		key, err := s.findKey(ctx, by, id)
		if err != nil {
			return err
		}
		_, err = s.o.Keys.Revoke(ctx, key.ID)
		return err
	})
}

// sentence returns an error whose message the command line shows after a colon as the
// sentence that an answer has.
func sentence(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	shown := *e
	shown.Message = text.Sentence(e.Message)
	return &shown
}
