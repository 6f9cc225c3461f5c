package rest

import (
	"net/http"

	"pregon/internal/account"
	"pregon/internal/catalog"
)

func (a *API) listKeys(r *http.Request, _ *catalog.Snapshot) (response, error) {
	of, err := a.ofAccount(r)
	if err != nil {
		return response{}, err
	}
	return answer(a.Account.ListKeys(r.Context(), caller(r), of))
}

func (a *API) createKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.NewKey
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	out, err := answer(a.Account.CreateKey(r.Context(), caller(r), asked))
	out.status = http.StatusCreated
	return out, err
}

func (a *API) changeKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.KeyChange
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	return answer(a.Account.ChangeKey(r.Context(), caller(r), r.PathValue("id"), asked))
}

func (a *API) rotateKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	asked := account.KeyRotation{Overlap: account.DefaultOverlap}
	if err := readOptional(r, &asked); err != nil {
		return response{}, err
	}
	return answer(a.Account.RotateKey(r.Context(), caller(r), r.PathValue("id"), asked))
}

func (a *API) revokeKey(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return done(a.Account.RevokeKey(r.Context(), caller(r), r.PathValue("id")))
}
