package rest

import (
	"net/http"

	"pregon/internal/auth/access"
	"pregon/internal/query"
)

// params are the parameters of all surfaces and those of REST alone.
type params struct{ *query.Params }

func (a *API) readParams(r *http.Request) *params {
	return &params{a.Query.ParseQuery(r.URL.RawQuery).For(access.FromContext(r.Context()))}
}

// listParams is readParams of a list, which is also available as CSV.
func (a *API) listParams(r *http.Request) *params {
	p := a.readParams(r)
	p.Dialect()
	return p
}

// tableParams is listParams of a list that has the limits of a table at the path that
// ends in .csv.
func (a *API) tableParams(r *http.Request) *params {
	p := a.listParams(r)
	if isTable(r) {
		p.AsTable(access.FromContext(r.Context()))
	}
	return p
}
