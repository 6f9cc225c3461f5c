package rest

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/account"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/store"
)

// owned is the requirement of operations on the caller's account. They do not count as
// use of the service.
var owned = access.Requirement{Owner: true}

// accountRoutes exist where people can sign in. Each is described in openapi.yaml. They
// need no catalogue, so that keys can be managed while it is filled.
var accountRoutes = []route{
	{
		pattern:     "GET /api/v1/account",
		need:        owned,
		handle:      (*API).getAccount,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/keys",
		need:        owned,
		handle:      (*API).listKeys,
		beforeReady: true,
	},
	{
		pattern:     "POST /api/v1/account/keys",
		need:        owned,
		handle:      (*API).createKey,
		beforeReady: true,
	},
	{
		pattern:     "PATCH /api/v1/account/keys/{id}",
		need:        owned,
		handle:      (*API).changeKey,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/keys/{id}",
		need:        owned,
		handle:      (*API).revokeKey,
		beforeReady: true,
	},
	{
		pattern:     "POST /api/v1/account/keys/{id}/rotate",
		need:        owned,
		handle:      (*API).rotateKey,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/usage",
		need:        owned,
		handle:      (*API).getUsage,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/sessions",
		need:        owned,
		handle:      (*API).listSessions,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/sessions",
		need:        owned,
		handle:      (*API).endSessions,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/sessions/{id}",
		need:        owned,
		handle:      (*API).endSession,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/apps",
		need:        owned,
		handle:      (*API).listApps,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/apps/{id}",
		need:        owned,
		handle:      (*API).revokeApp,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/owners",
		need:        owned,
		handle:      (*API).listOwners,
		beforeReady: true,
	},
	{
		pattern:     "POST /api/v1/account/owners/block",
		need:        owned,
		handle:      (*API).blockOwner,
		beforeReady: true,
	},
}

// inTime calls the handler of an operation that reads and writes the store.
func (a *API) inTime(rt route, r *http.Request, s *catalog.Snapshot) (out response, err error) {
	err = store.Within(r.Context(), func(ctx context.Context) (err error) {
		out, err = rt.handle(a, r.WithContext(ctx), s)
		return err
	})
	return out, err
}

// maxOwnerID is the length of the longest id of an account in a request, in bytes.
const maxOwnerID = 1000

// subject returns the account that a request is about: the caller's own, or the one
// that an operator names.
func (p *params) subject(r *http.Request) (string, error) {
	by, id := access.FromContext(r.Context()), p.LimitedText("owner", maxOwnerID)
	if err := p.Err(); err != nil {
		return "", err
	}
	if id == "" || id == by.ID {
		return by.ID, nil
	}
	return id, needOperator(by, "Only operators may name another owner. Leave owner out.")
}

// wholeSubject is subject for operations that concern the whole account, which not every
// key may manage. What they concern is in the plural.
func (p *params) wholeSubject(r *http.Request, what string) (string, error) {
	if err := access.FromContext(r.Context()).CheckWhole(what); err != nil {
		return "", err
	}
	return p.subject(r)
}

// What CheckWhole says that operations concern.
const (
	allSessions = "Sessions"
	allApps     = "Connected applications"
	allUsage    = "Figures of use"
)

// end ends something of the account that a request is about.
func (a *API) end(r *http.Request, all, what string, end func(ctx context.Context, account, id string) error) (response, error) {
	owner, err := a.readParams(r).wholeSubject(r, all)
	if err != nil {
		return response{}, err
	}
	err = end(r.Context(), owner, r.PathValue("id"))
	if fault.KindOf(err) == fault.NotFound { // the account or what it has
		err = fault.New(fault.NotFound, "There is no %s %q.", what, r.PathValue("id"))
	}
	return response{status: http.StatusNoContent}, err
}

func needOperator(by access.Principal, message string) error {
	if !by.Operator {
		return fault.New(fault.Forbidden, "%s", message)
	}
	return nil
}

// limitsBody is what a plan allows.
type limitsBody struct {
	RequestsPerMinute *int `json:"requests_per_minute"`
}

func (a *API) limitsOf(plan string) (body limitsBody) {
	if limit := a.Guard.PlanLimit(plan); limit != nil {
		body.RequestsPerMinute = &limit.Policy.Limit
	}
	return body
}

// accountBody is the caller's account, with the rights of the credential.
type accountBody struct {
	ID         string         `json:"id"`
	Name       string         `json:"name"`
	Email      string         `json:"email"`
	Provider   string         `json:"provider"`
	Plan       string         `json:"plan"`
	Scopes     []string       `json:"scopes"`
	Operator   bool           `json:"operator"`
	Limits     limitsBody     `json:"limits"`
	CreatedAt  *time.Time     `json:"created_at"`
	SignedInAt *time.Time     `json:"signed_in_at"`
	Credential credentialBody `json:"credential"`
}

type credentialBody struct {
	Mode string `json:"mode"`
	ID   string `json:"id"`
}

func (a *API) getAccount(r *http.Request, _ *catalog.Snapshot) (response, error) {
	by := access.FromContext(r.Context())
	one := a.profile(by.ID)
	return encode(accountBody{
		ID:         by.ID,
		Name:       one.Name,
		Email:      one.Email,
		Provider:   one.Provider,
		Plan:       by.Plan,
		Scopes:     by.Scope.Names(),
		Operator:   by.Operator,
		Limits:     a.limitsOf(by.Plan),
		CreatedAt:  query.TimeOrNull(one.CreatedAt),
		SignedInAt: query.TimeOrNull(one.SignedInAt),
		Credential: credentialBody{by.Mode.String(), by.Credential},
	})
}

// profile returns what is known of an account. That of the holder of a key exists only
// after the first sign-in; the key has the rest.
func (a *API) profile(id string) account.Account {
	one, _ := a.Accounts.Account(id)
	if key, known := a.Keys.Key(id); known {
		one.Name, one.CreatedAt = cmp.Or(one.Name, key.Name), key.CreatedAt
	}
	return one
}

// liveAccount returns the account that a request is about with what is valid of it. It
// is empty when nobody has signed in to it.
func (a *API) liveAccount(r *http.Request, all string) (account.Account, error) {
	id, err := a.readParams(r).wholeSubject(r, all)
	if err != nil {
		return account.Account{}, err
	}
	if err := a.Accounts.Refresh(r.Context()); err != nil { // another replica may have ended something
		return account.Account{}, err
	}
	one, _ := a.Accounts.Live(id)
	return one, nil
}

// sessionBody is a browser in which a person is signed in.
type sessionBody struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Agent     string    `json:"agent"`
	Current   bool      `json:"current"`
	Key       *string   `json:"key"`
}

func (a *API) listSessions(r *http.Request, _ *catalog.Snapshot) (response, error) {
	one, err := a.liveAccount(r, allSessions)
	if err != nil {
		return response{}, err
	}
	by, docs := access.FromContext(r.Context()), make([]sessionBody, 0, len(one.Sessions))
	for _, s := range one.Sessions {
		docs = append(docs, sessionBody{
			ID:        s.ID,
			CreatedAt: query.Madrid(s.CreatedAt),
			SeenAt:    query.Madrid(s.SeenAt),
			ExpiresAt: query.Madrid(s.ExpiresAt),
			Agent:     s.Agent,
			Current:   by.Mode == access.BySession && s.ID == by.Credential,
			Key:       query.OrNull(s.Key),
		})
	}
	return encode(map[string]any{"sessions": docs})
}

func (a *API) endSessions(r *http.Request, _ *catalog.Snapshot) (response, error) {
	id, err := a.readParams(r).wholeSubject(r, allSessions)
	if err == nil {
		err = a.Accounts.EndSessions(r.Context(), id)
	}
	if fault.KindOf(err) == fault.NotFound { // nobody has signed in
		err = nil
	}
	return response{status: http.StatusNoContent}, err
}

func (a *API) endSession(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return a.end(r, allSessions, "session", a.Accounts.EndSession)
}

// appBody is an application that may act for a person.
type appBody struct {
	ID         string    `json:"id"`
	ClientID   string    `json:"client_id"`
	Name       string    `json:"name"`
	Host       string    `json:"host"`
	Scopes     []string  `json:"scopes"`
	Resource   string    `json:"resource"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at"`
	ExpiresAt  time.Time `json:"expires_at"`
}

func (a *API) listApps(r *http.Request, _ *catalog.Snapshot) (response, error) {
	one, err := a.liveAccount(r, allApps)
	if err != nil {
		return response{}, err
	}
	docs := make([]appBody, 0, len(one.Grants))
	for _, g := range one.Grants {
		docs = append(docs, appBody{
			ID:         g.ID,
			ClientID:   g.ClientID,
			Name:       g.ClientName,
			Host:       g.ClientHost,
			Scopes:     g.Scopes.Names(),
			Resource:   g.Resource,
			CreatedAt:  query.Madrid(g.CreatedAt),
			LastUsedAt: query.Madrid(g.UsedAt),
			ExpiresAt:  query.Madrid(g.ExpiresAt),
		})
	}
	return encode(map[string]any{"apps": docs})
}

func (a *API) revokeApp(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return a.end(r, allApps, "application", a.Accounts.EndGrant)
}
