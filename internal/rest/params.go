package rest

import (
	"net/http"

	"pregon/internal/query"
)

// params are the parameters of all surfaces and those of REST alone.
type params struct{ *query.Params }

func (a *API) readParams(r *http.Request) *params {
	return &params{a.Query.ParseQuery(r.URL.RawQuery)}
}

// newParams returns params for values that are in the body of a request.
func (a *API) newParams() *params { return &params{a.Query.NewParams(nil)} }
