package rest

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
)

// ownerBody is an account as operators see it.
type ownerBody struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Email      string     `json:"email"`
	Provider   string     `json:"provider"`
	Plan       string     `json:"plan"`
	Scopes     []string   `json:"scopes"`
	Operator   bool       `json:"operator"`
	Keys       int        `json:"keys"`
	Webhooks   int        `json:"webhooks"`
	Apps       int        `json:"apps"`
	Sessions   int        `json:"sessions"`
	Limits     limitsBody `json:"limits"`
	CreatedAt  time.Time  `json:"created_at"`
	SignedInAt *time.Time `json:"signed_in_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	BlockedAt  *time.Time `json:"blocked_at"`
}

// used records a use.
func (o *ownerBody) used(at time.Time) {
	if !at.IsZero() && (o.LastUsedAt == nil || at.After(*o.LastUsedAt)) {
		o.LastUsedAt = query.TimeOrNull(at)
	}
}

const onlyOperators = "This is for operators of the service."

// maxOwners is the number of owners on a page, unless the caller wants fewer.
const maxOwners = 500

func (a *API) listOwners(r *http.Request, _ *catalog.Snapshot) (response, error) {
	if err := needOperator(access.FromContext(r.Context()), onlyOperators); err != nil {
		return response{}, err
	}
	p := a.readParams(r)
	limit, page := p.Integer("limit", maxOwners, 1, maxOwners), p.Integer("page", 1, 1, query.MaxPage)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	all, err := a.owners(r.Context())
	if err != nil {
		return response{}, err
	}
	from := min((page-1)*limit, len(all))
	return encode(map[string]any{"owners": all[from:min(from+limit, len(all))], "total": len(all), "page": page, "limit": limit})
}

// owners returns all accounts, those of keys included, the newest first.
func (a *API) owners(ctx context.Context) ([]*ownerBody, error) {
	people, err := a.Accounts.All(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := a.Keys.List(ctx)
	if err != nil {
		return nil, err
	}
	byID := map[string]*ownerBody{}
	for _, k := range keys {
		if k.Owner == "" {
			byID[k.ID] = &ownerBody{
				ID:        k.ID,
				Name:      k.Name,
				Plan:      k.Plan,
				Scopes:    k.Scopes.Names(),
				Operator:  k.Plan == access.OperatorPlan,
				CreatedAt: query.Madrid(k.CreatedAt),
			}
		}
	}
	for _, one := range people {
		o := byID[one.ID]
		if o == nil {
			o = &ownerBody{
				ID:        one.ID,
				Name:      one.Name,
				Email:     one.Email,
				Provider:  one.Provider,
				Plan:      one.Plan,
				Scopes:    one.Scopes.Names(),
				Operator:  one.Operator,
				CreatedAt: query.Madrid(one.CreatedAt),
			}
			byID[one.ID] = o
		}
		o.SignedInAt, o.BlockedAt = query.TimeOrNull(one.SignedInAt), query.TimeOrNull(one.BlockedAt)
		live, _ := a.Accounts.Live(one.ID)
		o.Apps, o.Sessions = len(live.Grants), len(live.Sessions)
		for _, s := range live.Sessions {
			o.used(s.SeenAt)
		}
		for _, g := range live.Grants {
			o.used(g.UsedAt)
		}
	}
	for _, k := range keys {
		if o := byID[k.Account()]; o != nil {
			o.used(k.Last.Truncate(time.Second))
			if a.Keys.Valid(k.ID) {
				o.Keys++
			}
		}
	}
	hooks := a.Webhooks.Owners()
	for id, o := range byID {
		o.Webhooks, o.Limits = hooks[id], a.limitsOf(o.Plan)
	}
	return slices.SortedFunc(maps.Values(byID), func(x, y *ownerBody) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), strings.Compare(x.ID, y.ID))
	}), nil
}

func (a *API) blockOwner(r *http.Request, _ *catalog.Snapshot) (response, error) {
	by := access.FromContext(r.Context())
	if err := needOperator(by, onlyOperators); err != nil {
		return response{}, err
	}
	var body struct {
		Owner   string `json:"owner"`
		Blocked *bool  `json:"blocked"`
	}
	if err := readBody(r, &body); err != nil {
		return response{}, err
	}
	switch {
	case body.Owner == "" || body.Blocked == nil:
		return response{}, fault.New(fault.Invalid, "Give owner, the id of an account, and blocked, true or false.")
	case body.Owner == by.ID:
		return response{}, fault.New(fault.Conflict, "You cannot block yourself.")
	case access.IsKeyID(body.Owner):
		return response{}, fault.New(fault.Conflict, "This account belongs to an API key. Revoke the key instead: that also ends its sessions, applications and webhooks.")
	}
	return response{status: http.StatusNoContent}, a.Accounts.Block(r.Context(), body.Owner, *body.Blocked)
}
