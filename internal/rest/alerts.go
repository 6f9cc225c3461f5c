package rest

import (
	"net/http"

	"pregon/internal/account"
	"pregon/internal/catalog"
)

// alertRoutes are for alerts and their channels.
var alertRoutes = []route{
	{
		pattern:   "GET /api/v1/account/channels",
		operation: "getChannels",
		need:      account.ToKeepAlerts,
		handle:    (*API).listChannels,
	},
	{
		pattern:   "POST /api/v1/account/channels",
		operation: "createChannel",
		need:      account.ToKeepAlerts,
		handle:    (*API).createChannel,
	},
	{
		pattern:   "GET /api/v1/account/channels/{id}",
		operation: "getChannel",
		need:      account.ToKeepAlerts,
		handle:    (*API).getChannel,
	},
	{
		pattern:   "PATCH /api/v1/account/channels/{id}",
		operation: "changeChannel",
		need:      account.ToKeepAlerts,
		handle:    (*API).changeChannel,
	},
	{
		pattern:   "DELETE /api/v1/account/channels/{id}",
		operation: "deleteChannel",
		need:      account.ToKeepAlerts,
		handle:    (*API).deleteChannel,
	},
	{
		pattern:   "POST /api/v1/account/channels/{id}/confirmation",
		operation: "confirmChannel",
		need:      account.ToKeepAlerts,
		handle:    (*API).askToConfirm,
	},
	{
		pattern:   "POST /api/v1/account/channels/{id}/test",
		operation: "testChannel",
		need:      account.ToKeepAlerts,
		handle:    (*API).testChannel,
	},
	{
		pattern:   "GET /api/v1/account/alerts",
		operation: "getAlerts",
		need:      account.ToKeepAlerts,
		handle:    (*API).listAlerts,
	},
	{
		pattern:   "POST /api/v1/account/alerts",
		operation: "createAlert",
		need:      account.ToKeepAlerts,
		handle:    (*API).createAlert,
	},
	{
		pattern:   "GET /api/v1/account/alerts/{id}",
		operation: "getAlert",
		need:      account.ToKeepAlerts,
		handle:    (*API).getAlert,
	},
	{
		pattern:   "PATCH /api/v1/account/alerts/{id}",
		operation: "changeAlert",
		need:      account.ToKeepAlerts,
		handle:    (*API).changeAlert,
	},
	{
		pattern:   "DELETE /api/v1/account/alerts/{id}",
		operation: "deleteAlert",
		need:      account.ToKeepAlerts,
		handle:    (*API).deleteAlert,
	},
}

// created returns the answer to a request that made something at an address.
func created(v any, location string) (response, error) {
	out, err := encode(v)
	out.status = http.StatusCreated
	out.location = location
	return out, err
}

func (a *API) listChannels(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.ListChannels(r.Context(), caller(r)))
}

func (a *API) createChannel(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.ChannelDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	made, err := a.Account.CreateChannel(r.Context(), caller(r), asked)
	if err != nil {
		return response{}, err
	}
	return created(made, "/api/v1/account/channels/"+made.ID)
}

func (a *API) getChannel(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.Channel(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) changeChannel(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.ChannelDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	return answer(a.Account.ChangeChannel(r.Context(), caller(r), r.PathValue("id"), asked))
}

func (a *API) deleteChannel(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return done(a.Account.DeleteChannel(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) askToConfirm(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.AskToConfirm(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) testChannel(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return done(a.Account.TestChannel(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) listAlerts(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.ListAlerts(r.Context(), caller(r)))
}

func (a *API) createAlert(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.AlertDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	made, err := a.Account.CreateAlert(r.Context(), caller(r), asked)
	if err != nil {
		return response{}, err
	}
	out, err := created(made, "/api/v1/account/alerts/"+made.ID)
	return out.warn(made.Warnings), err
}

func (a *API) getAlert(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return answer(a.Account.Alert(r.Context(), caller(r), r.PathValue("id")))
}

func (a *API) changeAlert(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.AlertDraft
	if err := readBody(r, &asked); err != nil {
		return response{}, err
	}
	changed, err := a.Account.ChangeAlert(r.Context(), caller(r), r.PathValue("id"), asked)
	if err != nil {
		return response{}, err
	}
	out, err := encode(changed)
	return out.warn(changed.Warnings), err
}

func (a *API) deleteAlert(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return done(a.Account.DeleteAlert(r.Context(), caller(r), r.PathValue("id")))
}
