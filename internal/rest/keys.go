package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/store"
	"pregon/internal/text"
)

// keyBody is a key as the API returns it.
type keyBody struct {
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
	Owner        string         `json:"owner"`
	Parent       *string        `json:"parent"`
	Key          string         `json:"key,omitempty"` // the text, when it is new
}

func (a *API) newKeyBody(k access.Key, use store.Use) keyBody {
	now := time.Now()
	return keyBody{
		ID:           k.ID,
		Name:         k.Name,
		Plan:         k.Plan,
		State:        a.stateOf(k, now),
		Scopes:       k.Scopes.Names(),
		Networks:     append([]netip.Prefix{}, k.Networks...),
		CreatedAt:    query.Madrid(k.CreatedAt),
		ExpiresAt:    query.TimeOrNull(k.ExpiresAt),
		OverlapUntil: query.TimeOrNull(k.OverlapEnds(now)),
		RevokedAt:    query.TimeOrNull(k.RevokedAt),
		FirstUsedAt:  query.TimeOrNull(use.First.Truncate(time.Second)),
		LastUsedAt:   query.TimeOrNull(use.Last.Truncate(time.Second)),
		Owner:        k.Account(),
		Parent:       query.OrNull(k.Parent),
	}
}

// stateOf returns the state of a key, or that of the key with which it was made and
// without which it is not valid. The keys of an owner without access count as revoked.
func (a *API) stateOf(k access.Key, now time.Time) string {
	state := k.State(now)
	if state != "active" || a.Keys.Valid(k.ID) {
		return state
	}
	for k.Parent != "" && state == "active" {
		k, _ = a.Keys.Key(k.Parent)
		state = k.State(now)
	}
	if state == "active" {
		return "revoked"
	}
	return state
}

// maxEnded is how many keys that are not valid any more are listed, the latest.
const maxEnded = 100

func (a *API) listKeys(r *http.Request, _ *catalog.Snapshot) (response, error) {
	id, err := a.readParams(r).subject(r)
	if err != nil {
		return response{}, err
	}
	within := access.WholeAccount(id)
	if by := access.FromContext(r.Context()); id == by.ID {
		within = a.Keys.Reach(by)
	}
	all, err := a.Keys.Owned(r.Context(), within)
	if err != nil {
		return response{}, err
	}
	docs, ended := make([]keyBody, 0, len(all)), 0
	for _, k := range slices.Backward(all) {
		doc := a.newKeyBody(k.Key, k.Use)
		if doc.State != "active" {
			if ended++; ended > maxEnded {
				continue
			}
		}
		docs = append(docs, doc)
	}
	return encode(map[string]any{"keys": docs})
}

// keyChange is the body that changes a key. What is absent stays.
type keyChange struct {
	Name      *string         `json:"name"`
	ExpiresAt json.RawMessage `json:"expires_at"`
	Networks  *[]string       `json:"networks"`
}

// read returns the change, and records what is not valid.
func (c *keyChange) read(p *params) (out access.KeyChange) {
	if c.Name != nil {
		if out.Name = new(strings.TrimSpace(*c.Name)); *out.Name == "" {
			p.Reject("name", *c.Name, "must say what the key is for")
		}
	}
	if c.ExpiresAt != nil {
		out.ExpiresAt = new(p.expiry(c.ExpiresAt))
	}
	if c.Networks != nil {
		out.Networks = new(p.networks(*c.Networks))
	}
	return out
}

// networks reads the networks of a key.
func (p *params) networks(texts []string) (out []netip.Prefix) {
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

// maxExpiry is how far ahead the end of a key may be. Later times cannot be written in
// every time zone.
const maxExpiry = 100 * 365 * 24 * time.Hour

// expiry reads the end of a key, zero for never.
func (p *params) expiry(raw json.RawMessage) time.Time {
	if bytes.Equal(raw, []byte("null")) {
		return time.Time{}
	}
	var s string
	_ = json.Unmarshal(raw, &s) // anything but a text is no time
	t, err := time.Parse(time.RFC3339, s)
	if now := time.Now(); err != nil || !t.After(now) || t.After(now.Add(maxExpiry)) {
		p.Reject("expires_at", string(raw), "must be a time to come, within 100 years, such as "+now.AddDate(1, 0, 0).UTC().Format(time.RFC3339)+", or null for never")
	}
	return t.UTC().Truncate(time.Second)
}

func (a *API) createKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var body struct {
		keyChange
		Scopes []string `json:"scopes"`
	}
	if err := readBody(r, &body); err != nil {
		return response{}, err
	}
	p := &params{query.NewParams(nil)}
	if body.Name == nil {
		body.Name = new("")
	}
	given := body.read(p)
	key := access.Key{Name: *given.Name}
	var err error
	if key.Scopes, err = access.ParseScopes(body.Scopes); err != nil {
		p.Reject("scopes", strings.Join(body.Scopes, " "), err.Error())
	}
	if given.ExpiresAt != nil {
		key.ExpiresAt = *given.ExpiresAt
	}
	if given.Networks != nil {
		key.Networks = *given.Networks
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	key, raw, err := a.Keys.CreateFor(r.Context(), access.FromContext(r.Context()), key)
	if err != nil {
		return response{}, sentence(err)
	}
	doc := a.newKeyBody(key, store.Use{})
	doc.Key = raw
	out, err := encode(doc)
	out.status = http.StatusCreated
	return out, err
}

// findKey returns the key that a request names if the caller may know of it. A caller
// that sends a key, or signed in with one, knows of that key and those made with it:
// otherwise a key with few rights would be enough to get one with more.
func (a *API) findKey(r *http.Request) (access.Key, error) {
	if err := a.Keys.Refresh(r.Context()); err != nil {
		return access.Key{}, err
	}
	by, id := access.FromContext(r.Context()), r.PathValue("id")
	key, known := a.Keys.Key(id)
	if !known || !by.Operator && !a.Keys.Reach(by).Has(key.Account(), key.ID) {
		return access.Key{}, fault.New(fault.NotFound, "There is no key %q. GET /api/v1/account/keys lists yours.", id)
	}
	return key, nil
}

// checkOwn returns an error unless a key that the caller may know of is within the
// caller's reach. Operators know of all keys.
func (a *API) checkOwn(by access.Principal, key access.Key) error {
	if !a.Keys.Reach(by).Has(key.Account(), key.ID) {
		return fault.New(fault.Forbidden, "The key %s belongs to another owner: operators may revoke it, and nothing else.", key.ID)
	}
	return nil
}

func (a *API) changeKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var body keyChange
	if err := readBody(r, &body); err != nil {
		return response{}, err
	}
	p := &params{query.NewParams(nil)}
	change := body.read(p)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	key, err := a.findKey(r)
	if err != nil {
		return response{}, err
	}
	by := access.FromContext(r.Context())
	if err := a.checkOwn(by, key); err != nil {
		return response{}, err
	}
	moves := change.ExpiresAt != nil && !change.ExpiresAt.Equal(key.ExpiresAt) || change.Networks != nil && !slices.Equal(*change.Networks, key.Networks)
	if moves && key.ID == by.Key {
		return response{}, fault.New(fault.Forbidden, "A key cannot change its own expiry or networks: use the key that created it, sign in without a key, or ask the operator.")
	}
	if key, err = a.Keys.Change(r.Context(), key.ID, change); err != nil {
		return response{}, sentence(err)
	}
	return a.changedKey(r.Context(), key, "")
}

// changedKey returns the response to a change of a key, with its text if that is new.
func (a *API) changedKey(ctx context.Context, key access.Key, raw string) (response, error) {
	all, err := a.Keys.Owned(ctx, access.WholeAccount(key.Account()))
	if err != nil {
		return response{}, err
	}
	var use store.Use
	for _, k := range all {
		if k.ID == key.ID {
			use = k.Use
		}
	}
	doc := a.newKeyBody(key, use)
	doc.Key = raw
	return encode(doc)
}

// Overlap of the secrets of a rotated key, in seconds.
const (
	defaultOverlap = 24 * 60 * 60
	maxOverlap     = 90 * 24 * 60 * 60
)

func (a *API) rotateKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	body := struct {
		Overlap int `json:"overlap_seconds"`
	}{defaultOverlap}
	if r.ContentLength != 0 { // the body is optional
		if err := readBody(r, &body); err != nil {
			return response{}, err
		}
	}
	p := &params{query.NewParams(nil)}
	if body.Overlap < 0 || body.Overlap > maxOverlap {
		p.Reject("overlap_seconds", strconv.Itoa(body.Overlap), "must be a whole number from 0 to "+strconv.Itoa(maxOverlap))
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	key, err := a.findKey(r)
	if err != nil {
		return response{}, err
	}
	if err := a.checkOwn(access.FromContext(r.Context()), key); err != nil {
		return response{}, err
	}
	key, raw, err := a.Keys.Rotate(r.Context(), key.ID, time.Duration(body.Overlap)*time.Second)
	if err != nil {
		return response{}, sentence(err)
	}
	return a.changedKey(r.Context(), key, raw)
}

func (a *API) revokeKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	key, err := a.findKey(r)
	if err != nil {
		return response{}, err
	}
	_, err = a.Keys.Revoke(r.Context(), key.ID)
	return response{status: http.StatusNoContent}, err
}

// sentence returns an error whose message the command line shows after a colon as the
// sentence that a response has.
func sentence(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	shown := *e
	shown.Message = text.Sentence(e.Message)
	return &shown
}
