package api

import (
	"net/http"

	"pregon/internal/catalog"
	"pregon/internal/desk"
)

func (a *API) listIssuers(r *http.Request, s *catalog.Snapshot) (answer, error) {
	p, err := readParams(r)
	if err != nil {
		return answer{}, err
	}
	found, err := p.Issuers(s)
	if err != nil {
		return answer{}, err
	}
	return answer{body: append(desk.AppendIssuers(nil, found), '}')}, nil
}

func (a *API) getIssuer(r *http.Request, s *catalog.Snapshot) (answer, error) {
	found, err := a.Desk.Issuer(s, r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return encode(found)
}
