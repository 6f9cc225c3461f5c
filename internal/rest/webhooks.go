package rest

import (
	"net/http"

	"pregon/internal/account"
	"pregon/internal/catalog"
)

func (a *API) createWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.WebhookDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	made, err := a.Account.CreateWebhook(r.Context(), caller(r), asked)
	if err != nil {
		return response{}, err
	}
	out, err := encode(made)
	out.status = http.StatusCreated
	out.location = "/api/v1/webhooks/" + made.ID
	return out.warn(made.Warnings), err
}

func (a *API) listWebhooks(r *http.Request, _ *catalog.Snapshot) (response, error) {
	if err := a.listParams(r).Err(); err != nil {
		return response{}, err
	}
	return answer(a.Account.ListWebhooks(r.Context(), caller(r)))
}

func (a *API) getWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.Webhook(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) changeWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.WebhookDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	changed, err := a.Account.ChangeWebhook(r.Context(), caller(r), r.PathValue("id"), asked)
	if err != nil {
		return response{}, err
	}
	out, err := encode(changed)
	return out.warn(changed.Warnings), err
}

func (a *API) deleteWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return done(a.Account.DeleteWebhook(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) adoptWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.Adoption
	if err := readOptional(r, &asked); err != nil {
		return response{}, err
	}
	return answer(a.Account.AdoptWebhook(r.Context(), caller(r), r.PathValue("id"), asked))
}

func (a *API) rotateWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.RotateWebhook(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) testWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.TestWebhook(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) listDeliveries(r *http.Request, _ *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	page := account.ReadDeliveryPage(p.Params)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	return answer(a.Account.ListDeliveries(r.Context(), caller(r), r.PathValue("id"), page))
}

func (a *API) redeliver(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.Redelivery
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	out, err := answer(a.Account.Redeliver(r.Context(), caller(r), r.PathValue("id"), asked))
	out.status = http.StatusAccepted
	return out, err
}

func (a *API) previewWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.Selection
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	found, err := a.Account.Preview(r.Context(), caller(r), asked)
	if err != nil {
		return response{}, err
	}
	out, err := encode(found)
	return out.warn(found.Warnings), err
}
