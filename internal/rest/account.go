package rest

import (
	"net/http"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/catalog"
)

// accountRoutes exist where people can sign in. Each is described in openapi.yaml. Package
// account has their rules, and bounds their waits. They need no catalogue, so that keys
// can be managed while it is filled.
var accountRoutes = []route{
	{
		pattern:     "GET /api/v1/account",
		need:        account.ToManage,
		handle:      (*API).getAccount,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account",
		need:        account.ToManage,
		handle:      (*API).deleteAccount,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/export",
		need:        account.ToManage,
		handle:      (*API).exportAccount,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/keys",
		need:        account.ToManage,
		handle:      (*API).listKeys,
		beforeReady: true,
	},
	{
		pattern:     "POST /api/v1/account/keys",
		need:        account.ToManage,
		handle:      (*API).createKey,
		beforeReady: true,
	},
	{
		pattern:     "PATCH /api/v1/account/keys/{id}",
		need:        account.ToManage,
		handle:      (*API).changeKey,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/keys/{id}",
		need:        account.ToManage,
		handle:      (*API).revokeKey,
		beforeReady: true,
	},
	{
		pattern:     "POST /api/v1/account/keys/{id}/rotate",
		need:        account.ToManage,
		handle:      (*API).rotateKey,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/usage",
		need:        account.ToManage,
		handle:      (*API).getUsage,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/sessions",
		need:        account.ToManage,
		handle:      (*API).listSessions,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/sessions",
		need:        account.ToManage,
		handle:      (*API).endSessions,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/sessions/{id}",
		need:        account.ToManage,
		handle:      (*API).endSession,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/apps",
		need:        account.ToManage,
		handle:      (*API).listApps,
		beforeReady: true,
	},
	{
		pattern:     "DELETE /api/v1/account/apps/{id}",
		need:        account.ToManage,
		handle:      (*API).revokeApp,
		beforeReady: true,
	},
	{
		pattern:     "GET /api/v1/account/owners",
		need:        account.ToManage,
		handle:      (*API).listOwners,
		beforeReady: true,
	},
	{
		pattern:     "POST /api/v1/account/owners/block",
		need:        account.ToManage,
		handle:      (*API).blockOwner,
		beforeReady: true,
	},
}

// caller returns who sent an admitted request.
func caller(r *http.Request) access.Principal { return access.FromContext(r.Context()) }

// ofAccount reads the parameter with which operators name the account that a request is
// about. It is empty for the caller's own.
func (a *API) ofAccount(r *http.Request) (string, error) {
	p := a.readParams(r)
	id := p.Text("owner")
	return id, p.Err()
}

// done returns the answer to a request that has nothing to say.
func done(err error) (response, error) { return response{status: http.StatusNoContent}, err }

// answer encodes what package account returns.
func answer(v any, err error) (response, error) {
	if err != nil {
		return response{}, err
	}
	return encode(v)
}

func (a *API) getAccount(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return encode(a.Account.Profile(caller(r)))
}

// exportAccount returns everything of an account as a file.
func (a *API) exportAccount(r *http.Request, _ *catalog.Snapshot) (response, error) {
	out, err := answer(a.Account.Export(r.Context(), caller(r)))
	out.header = http.Header{"Content-Disposition": {`attachment; filename="pregon-account.json"`}}
	return out, err
}

func (a *API) deleteAccount(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.Deletion
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	return done(a.Account.DeleteAccount(r.Context(), caller(r), asked))
}

func (a *API) getUsage(r *http.Request, _ *catalog.Snapshot) (response, error) {
	p := a.readParams(r)
	period := account.ReadPeriod(p.Params)
	of := p.Text("owner")
	if err := p.Err(); err != nil {
		return response{}, err
	}
	return answer(a.Account.UsageOf(r.Context(), caller(r), of, period))
}

func (a *API) listSessions(r *http.Request, _ *catalog.Snapshot) (response, error) {
	of, err := a.ofAccount(r)
	if err != nil {
		return response{}, err
	}
	return answer(a.Account.ListSessions(r.Context(), caller(r), of))
}

func (a *API) endSessions(r *http.Request, _ *catalog.Snapshot) (response, error) {
	of, err := a.ofAccount(r)
	if err != nil {
		return response{}, err
	}
	return done(a.Account.EndSessions(r.Context(), caller(r), of))
}

func (a *API) endSession(r *http.Request, _ *catalog.Snapshot) (response, error) {
	of, err := a.ofAccount(r)
	if err != nil {
		return response{}, err
	}
	return done(a.Account.EndSession(r.Context(), caller(r), of, r.PathValue("id")))
}

func (a *API) listApps(r *http.Request, _ *catalog.Snapshot) (response, error) {
	of, err := a.ofAccount(r)
	if err != nil {
		return response{}, err
	}
	return answer(a.Account.ListApplications(r.Context(), caller(r), of))
}

func (a *API) revokeApp(r *http.Request, _ *catalog.Snapshot) (response, error) {
	of, err := a.ofAccount(r)
	if err != nil {
		return response{}, err
	}
	return done(a.Account.RevokeApplication(r.Context(), caller(r), of, r.PathValue("id")))
}

func (a *API) listOwners(r *http.Request, _ *catalog.Snapshot) (response, error) {
	if err := account.CheckOperator(caller(r)); err != nil {
		return response{}, err
	}
	p := a.readParams(r)
	page := account.ReadPage(p.Params)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	return answer(a.Account.ListAccounts(r.Context(), caller(r), page))
}

func (a *API) blockOwner(r *http.Request, _ *catalog.Snapshot) (response, error) {
	if err := account.CheckOperator(caller(r)); err != nil {
		return response{}, err
	}
	var asked account.Blocking
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	return done(a.Account.Block(r.Context(), caller(r), asked))
}
