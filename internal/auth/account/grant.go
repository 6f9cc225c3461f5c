package account

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
)

// A refresh token is the prefix, the id of its grant, a secret of the grant and a
// secret that is good for one use. The secret of the grant shows that an old token
// was once good: who sends it may have stolen it.
const (
	refreshPrefix = "pregon_refresh_"
	grantPrefix   = "grant_"
	secretLength  = 22 // characters: 131 bits
	refreshLength = len(refreshPrefix) + idLength + 2*secretLength

	// grantLifetime is how long a grant lasts without use.
	grantLifetime = 90 * 24 * time.Hour
)

// Grant is the permission that a person gave to an application.
type Grant struct {
	ID         string       `json:"id"`
	ClientID   string       `json:"client_id"`
	ClientName string       `json:"client_name"`
	ClientHost string       `json:"client_host"`
	Resource   string       `json:"resource"` // the address that its tokens are for
	Scopes     access.Scope `json:"scopes"`
	// the key with which the person had signed in, without which it is not valid
	Key       string    `json:"key,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at"`    // when the last token was issued
	ExpiresAt time.Time `json:"expires_at"` // unless it is used before
	Family    digest    `json:"family_sha256"`
	Once      digest    `json:"once_sha256"`
}

// NewGrantID returns the id of a grant that is to be added.
func NewGrantID() string { return newID(grantPrefix) }

// ErrReused is in the chain of the error for a refresh token that was used before. Its
// grant has ended.
var ErrReused = errors.New("the refresh token was used before")

// AddGrant adds a grant to an account and returns its first refresh token. It replaces
// nothing: a person may use one application on several machines.
func (a *Accounts) AddGrant(ctx context.Context, account string, g Grant) (refresh string, err error) {
	family, once := secret.RandomText(secretLength), secret.RandomText(secretLength)
	g.Family, g.Once = digestOf(family), digestOf(once)
	g.ClientName, g.ClientHost = clipped(g.ClientName), clipped(g.ClientHost)
	err = a.change(ctx, account, "", func(one *Account, now time.Time) error {
		if state := a.restricted(a.stateOf(one), g.Key); state.Gone != "" {
			return gone(state)
		}
		if slices.ContainsFunc(one.Grants, func(other Grant) bool { return other.ID == g.ID }) {
			return fault.New(fault.Conflict, "the grant %s exists already", g.ID)
		}
		g.CreatedAt = now
		g.UsedAt = now
		g.ExpiresAt = now.Add(grantLifetime)
		one.Grants = append(slices.DeleteFunc(one.Grants,
			func(old Grant) bool { return !now.Before(old.ExpiresAt) }), g)
		return one.dropExtraGrants()
	})
	return refreshText(g.ID, family, once), err
}

func refreshText(id, family, once string) string {
	return refreshPrefix + strings.TrimPrefix(id, grantPrefix) + family + once
}

// splitRefresh returns the parts of a refresh token.
func splitRefresh(raw string) (id, family, once string, ok bool) {
	if len(raw) != refreshLength || !strings.HasPrefix(raw, refreshPrefix) {
		return "", "", "", false
	}
	rest := raw[len(refreshPrefix):]
	return grantPrefix + rest[:idLength], rest[idLength : idLength+secretLength], rest[idLength+secretLength:], true
}

// errRefresh is the error for a refresh token that is not valid.
var errRefresh = fault.New(fault.NotFound,
	"the refresh token is not valid: it was revoked, has expired, or belongs to another client")

// FindRefresh returns the grant of a refresh token of a client, which may have been used
// before. It changes nothing.
func (a *Accounts) FindRefresh(ctx context.Context, raw, clientID string) (Grant, error) {
	_, g, found := a.RefreshGrant(raw)
	if !found {
		if err := a.Wake(ctx); err != nil { // it may be new
			return Grant{}, err
		}
		_, g, found = a.RefreshGrant(raw)
	}
	if !found || g.ClientID != clientID || !time.Now().Before(g.ExpiresAt) {
		return Grant{}, errRefresh
	}
	return g, nil
}

// RotateGrant uses a refresh token of a client and returns the next one. Of several
// calls with one token, one succeeds, and the grant ends.
func (a *Accounts) RotateGrant(
	ctx context.Context,
	raw, clientID string,
) (owner Account, g Grant, next string, err error) {
	id, family, once, ok := splitRefresh(raw)
	if !ok {
		return owner, g, "", errRefresh
	}
	// Another replica may have written a moment ago, and a token must not be taken for
	// an old one because of that.
	if err := a.Refresh(ctx); err != nil {
		return owner, g, "", err
	}
	one, _, found := a.FindGrant(id)
	if !found {
		return owner, g, "", errRefresh
	}
	newOnce := secret.RandomText(secretLength)
	var reused error
	err = a.change(ctx, one.ID, "", func(one *Account, now time.Time) error {
		i := slices.IndexFunc(one.Grants, func(g Grant) bool { return g.ID == id })
		if i < 0 || one.Grants[i].ClientID != clientID || !one.Grants[i].Family.is(family) ||
			!now.Before(one.Grants[i].ExpiresAt) {
			return errRefresh
		}
		if !one.Grants[i].Once.is(once) {
			reused = ErrReused
			one.Grants = slices.Delete(one.Grants, i, i+1)
			return nil
		}
		if state := a.restricted(a.stateOf(one), one.Grants[i].Key); state.Gone != "" {
			return gone(state)
		}
		one.Grants[i].Once = digestOf(newOnce)
		one.Grants[i].UsedAt = now
		one.Grants[i].ExpiresAt = now.Add(grantLifetime)
		owner, g = *one, one.Grants[i]
		return nil
	})
	if reused != nil && err == nil {
		a.audit(ctx, "app.refresh_reused", one.ID, slog.String("grant", id),
			slog.String("client_id", clipped(clientID)))
		return owner, g, "", fault.Wrap(fault.NotFound, reused,
			"the refresh token was used before: the application has to be authorized again")
	}
	return owner, g, refreshText(id, family, newOnce), err
}

// RefreshGrant returns the grant of a refresh token that was good at some time, for
// revocation.
func (a *Accounts) RefreshGrant(raw string) (Account, Grant, bool) {
	id, family, _, ok := splitRefresh(raw)
	if !ok {
		return Account{}, Grant{}, false
	}
	one, g, found := a.FindGrant(id)
	return one, g, found && g.Family.is(family)
}

// EndGrant ends the access of an application.
func (a *Accounts) EndGrant(ctx context.Context, account, id string) error {
	err := a.change(ctx, account, "", func(one *Account, _ time.Time) error {
		kept := slices.DeleteFunc(one.Grants, func(g Grant) bool { return g.ID == id })
		if len(kept) == len(one.Grants) {
			return notThere("application", id)
		}
		one.Grants = kept
		return nil
	})
	if err == nil {
		a.audit(ctx, "app.revoked", account, slog.String("grant", id))
	}
	return err
}

// FindGrant returns the grant with an id and its account.
func (a *Accounts) FindGrant(id string) (Account, Grant, bool) {
	found, ok := a.known.Load().grants[id]
	if !ok {
		return Account{}, Grant{}, false
	}
	return *found.owner, *found.grant, true
}

// Grant returns what a grant of an account may do.
func (a *Accounts) Grant(account, id string) (access.AccountState, bool) {
	found, ok := a.known.Load().grants[id]
	if !ok || found.owner.ID != account {
		return access.AccountState{}, false
	}
	g := found.grant
	o := a.restricted(a.stateOf(found.owner), g.Key)
	o.Scope &= g.Scopes
	o.Operator = false // an application is never an operator
	if !time.Now().Before(g.ExpiresAt) {
		o.Gone = "its grant has expired"
	}
	return o, true
}

// ClientGrants returns how many grants a client has.
func (a *Accounts) ClientGrants(clientID string) (n int) {
	for _, found := range a.known.Load().grants {
		if found.grant.ClientID == clientID {
			n++
		}
	}
	return n
}

func gone(o access.AccountState) error {
	return fault.New(fault.Forbidden, "Access is denied: %s.", o.Gone)
}

func notThere(what, id string) error {
	return fault.New(fault.NotFound, "There is no %s %q.", what, id)
}
