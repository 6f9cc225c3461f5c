package api

import (
	"net/http"

	"pregon/internal/catalog"
)

func (a *API) listIssuers(r *http.Request, s *catalog.Snapshot) (answer, error) {
	p, err := readParams(r)
	if err != nil {
		return answer{}, err
	}
	b, err := p.AppendIssuers(nil, s)
	return answer{body: append(b, '}')}, err
}

func (a *API) getIssuer(r *http.Request, s *catalog.Snapshot) (answer, error) {
	found, err := a.Desk.Issuer(s, r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return encode(found)
}
