package rest

import (
	"net/http"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

func (a *API) listIssuers(r *http.Request, s *catalog.Snapshot) (response, error) {
	p := readParams(r)
	found, err := p.Issuers(r.Context(), s)
	if err != nil {
		return response{}, err
	}
	b := []byte(`{"data":[`)
	for i, e := range found {
		if i > 0 {
			b = append(b, ',')
		}
		b = disclosure.AppendIssuer(b, e.Issuer)
	}
	return response{body: append(b, "]}"...)}, nil
}

func (a *API) getIssuer(r *http.Request, s *catalog.Snapshot) (response, error) {
	found, err := a.Query.Issuer(s, r.PathValue("id"), access.FromContext(r.Context()))
	if err != nil {
		return response{}, fault.New(fault.KindOf(err), "%s Search with /api/v1/issuers?search=.", err)
	}
	return encode(found)
}
