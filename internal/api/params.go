package api

import (
	"net/http"

	"pregon/internal/desk"
)

// params are those that every surface has, and those of REST alone.
type params struct{ *desk.Params }

func readParams(r *http.Request) (*params, error) {
	p, err := desk.ParseQuery(r.URL.RawQuery)
	return &params{p}, err
}
