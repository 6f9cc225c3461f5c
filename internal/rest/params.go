package rest

import (
	"net/http"

	"pregon/internal/query"
)

// params are the parameters of all surfaces and those of REST alone.
type params struct{ *query.Params }

func readParams(r *http.Request) *params { return &params{query.ParseQuery(r.URL.RawQuery)} }
