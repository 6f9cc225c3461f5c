package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/store"
)

// webhookRequest is the body that creates or changes a webhook. A change keeps
// the fields that are absent.
type webhookRequest struct {
	URL         *string           `json:"url"`
	Description *string           `json:"description"`
	Events      *[]string         `json:"events"`
	Filter      *query.FilterBody `json:"filter"`
	Enabled     *bool             `json:"enabled"`
}

// apply sets the fields of a draft. The error holds every invalid field.
func (b *webhookRequest) apply(d *webhook.Draft, p *params, s *catalog.Snapshot) error {
	if b.URL != nil {
		d.URL = *b.URL
	}
	if b.Description != nil {
		d.Description = *b.Description
	}
	if b.Events != nil {
		d.Events = p.events(*b.Events)
	}
	if b.Filter != nil {
		d.Filter = b.Filter.Read(p.Params, s)
	}
	if b.Enabled != nil {
		d.Enabled = *b.Enabled
	}
	return p.Err()
}

// checkScope rejects a draft that selects events its owner may not read. A
// draft without events gets the default events that the owner may read.
func checkScope(by access.Principal, d *webhook.Draft) (err error) {
	if len(d.Events) == 0 {
		d.Events, err = permittedEvents(by, events.DefaultEvents)
		return err
	}
	if d.Enabled && slices.Contains(d.Events, disclosure.IssuerUpdated) && !by.Scope.Has(access.ReadIssuers) {
		return by.MissingScope(access.ReadIssuers, "A webhook with the event issuer.updated")
	}
	return nil
}

// webhookResponse is a webhook as the API returns it.
type webhookResponse struct {
	ID             string           `json:"id"`
	Key            *string          `json:"key"`
	URL            string           `json:"url"`
	Description    string           `json:"description"`
	Events         []string         `json:"events"`
	Filter         query.FilterBody `json:"filter"`
	Enabled        bool             `json:"enabled"`
	DisabledAt     *time.Time       `json:"disabled_at"`
	DisabledReason *string          `json:"disabled_reason"`
	PausedReason   *string          `json:"paused_reason"`
	StartsAfter    int64            `json:"starts_after"`
	CreatedAt      time.Time        `json:"created_at"`
	UpdatedAt      time.Time        `json:"updated_at"`
	Secret         *string          `json:"secret,omitempty"`
	Endpoint       *endpointBody    `json:"endpoint,omitempty"`
}

type endpointBody struct {
	FailingSince  *time.Time `json:"failing_since"`
	LastSuccessAt *time.Time `json:"last_success_at"`
	LastFailureAt *time.Time `json:"last_failure_at"`
	Pending       int        `json:"pending"`
	Dead          int        `json:"dead"`
}

func (a *API) newWebhookResponse(w webhook.Webhook) webhookResponse {
	selected := w.Events
	if len(selected) == 0 {
		selected = events.DefaultEvents
	}
	names := make([]string, len(selected))
	for i, e := range selected {
		names[i] = string(e)
	}
	return webhookResponse{
		ID:             w.ID,
		Key:            query.OrNull(w.Key),
		URL:            w.URL,
		Description:    w.Description,
		Events:         names,
		Filter:         query.NewFilterBody(w.Filter),
		Enabled:        w.Enabled,
		DisabledAt:     query.TimeOrNull(w.DisabledAt),
		DisabledReason: query.OrNull(w.DisabledReason),
		PausedReason:   query.OrNull(a.Webhooks.PausedReason(&w)),
		StartsAfter:    w.StartsAfter,
		CreatedAt:      query.Madrid(w.CreatedAt),
		UpdatedAt:      query.Madrid(w.UpdatedAt),
	}
}

// readBody decodes a JSON body and rejects unknown fields.
func readBody(r *http.Request, into any) error {
	body, err := io.ReadAll(r.Body)
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.New(fault.Invalid, "The body may have %d bytes at most.", tooLong.Limit)
	}
	if err != nil {
		return fault.New(fault.Invalid, "The body could not be read.")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	err = dec.Decode(into)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more follows the object")
		}
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "json: ")
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok { // its text names Go types
			reason = strings.Replace("a "+wrong.Value, "a a", "an a", 1) + " does not belong in " + cmp.Or(wrong.Field, "its place")
		}
		return fault.New(fault.Invalid, "The body must be a JSON object with the documented fields: %s.", reason)
	}
	return nil
}

// reach returns what the caller may see and change.
func (a *API) reach(r *http.Request) access.Reach {
	return a.Keys.Reach(access.FromContext(r.Context()))
}

func (a *API) createWebhook(r *http.Request, s *catalog.Snapshot) (response, error) {
	var body webhookRequest
	if err := readBody(r, &body); err != nil {
		return response{}, err
	}
	draft := webhook.Draft{Enabled: true}
	p := a.newParams()
	if err := body.apply(&draft, p, s); err != nil {
		return response{}, err
	}
	if err := checkScope(access.FromContext(r.Context()), &draft); err != nil {
		return response{}, err
	}
	w, secret, err := a.Webhooks.Create(r.Context(), a.reach(r), draft)
	if err != nil {
		return response{}, err
	}
	doc := a.newWebhookResponse(w)
	doc.Secret = &secret
	out, err := encode(doc)
	out.status, out.location = http.StatusCreated, "/api/v1/webhooks/"+w.ID
	return out.warn(p), err
}

func (a *API) listWebhooks(r *http.Request, _ *catalog.Snapshot) (response, error) {
	if err := a.listParams(r).Err(); err != nil {
		return response{}, err
	}
	all, err := a.Webhooks.List(r.Context(), a.reach(r))
	if err != nil {
		return response{}, err
	}
	docs := make([]webhookResponse, 0, len(all))
	for _, w := range all {
		docs = append(docs, a.newWebhookResponse(w))
	}
	return encode(map[string]any{"data": docs})
}

func (a *API) getWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	w, e, err := a.Webhooks.Get(r.Context(), a.reach(r), r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	doc := a.newWebhookResponse(w)
	doc.Endpoint = &endpointBody{
		FailingSince:  query.TimeOrNull(e.FailingSince),
		LastSuccessAt: query.TimeOrNull(e.LastSuccessAt),
		LastFailureAt: query.TimeOrNull(e.LastFailureAt),
		Pending:       e.Pending,
		Dead:          e.Dead,
	}
	return encode(doc)
}

func (a *API) changeWebhook(r *http.Request, s *catalog.Snapshot) (response, error) {
	var body webhookRequest
	if err := readBody(r, &body); err != nil {
		return response{}, err
	}
	var p *params
	w, err := a.Webhooks.Update(r.Context(), a.reach(r), r.PathValue("id"), func(d *webhook.Draft) error {
		p = a.newParams() // it may be called again
		if err := body.apply(d, p, s); err != nil {
			return err
		}
		return checkScope(access.FromContext(r.Context()), d)
	})
	if err != nil {
		return response{}, err
	}
	out, err := encode(a.newWebhookResponse(w))
	return out.warn(p), err
}

func (a *API) deleteWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	return response{status: http.StatusNoContent}, a.Webhooks.Delete(r.Context(), a.reach(r), r.PathValue("id"))
}

// adoptWebhook makes a webhook that was made with another key belong to the caller.
func (a *API) adoptWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var body struct {
		URL *string `json:"url"`
	}
	if r.ContentLength != 0 { // the body is optional
		if err := readBody(r, &body); err != nil {
			return response{}, err
		}
	}
	w, err := a.Webhooks.Adopt(r.Context(), a.reach(r), r.PathValue("id"), body.URL)
	if err != nil {
		return response{}, err
	}
	return encode(a.newWebhookResponse(w))
}

func (a *API) rotateWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	w, secret, err := a.Webhooks.Rotate(r.Context(), a.reach(r), r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	doc := a.newWebhookResponse(w)
	doc.Secret = &secret
	return encode(doc)
}

// attemptBody is one attempt to deliver.
type attemptBody struct {
	At      time.Time `json:"at"`
	OK      bool      `json:"ok"`
	Status  *int      `json:"status"`
	Latency int64     `json:"latency_ms"`
	Error   *string   `json:"error"`
	Excerpt *string   `json:"excerpt"`
}

func newAttemptBody(a store.Attempt) attemptBody {
	doc := attemptBody{
		At:      query.Madrid(a.At),
		OK:      a.Status >= 200 && a.Status < 300 && a.Error == "",
		Latency: a.Latency.Milliseconds(),
		Error:   query.OrNull(a.Error),
		Excerpt: query.OrNull(a.Excerpt),
	}
	if a.Status != 0 {
		doc.Status = &a.Status
	}
	return doc
}

func (a *API) testWebhook(r *http.Request, _ *catalog.Snapshot) (response, error) {
	attempt, err := a.Webhooks.Test(r.Context(), a.reach(r), r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	return encode(newAttemptBody(attempt))
}

// deliveryBody is a delivery with its attempts.
type deliveryBody struct {
	ID        string        `json:"id"` // the webhook-id of every attempt
	Seq       int64         `json:"seq"`
	Event     string        `json:"event"`
	State     string        `json:"state"`
	Attempts  int           `json:"attempts"`
	CreatedAt time.Time     `json:"created_at"`
	DueAt     *time.Time    `json:"due_at"`
	DoneAt    *time.Time    `json:"done_at"`
	History   []attemptBody `json:"history"`
}

func (a *API) listDeliveries(r *http.Request, _ *catalog.Snapshot) (response, error) {
	p := a.listParams(r)
	q := store.DeliveryQuery{State: store.DeliveryState(p.Text("state")), Limit: p.Integer("limit", query.DefaultLimit, 1, query.MaxLimit)}
	q.Before = p.seq("before")
	switch q.State {
	case "", "pending", "delivered", "dead":
	default:
		p.Reject("state", string(q.State), "must be pending, delivered or dead")
	}
	if err := p.Err(); err != nil {
		return response{}, err
	}
	id := r.PathValue("id")
	found, err := a.Webhooks.Deliveries(r.Context(), a.reach(r), id, q)
	if err != nil {
		return response{}, err
	}
	docs := make([]deliveryBody, 0, len(found))
	for _, d := range found {
		doc := deliveryBody{
			ID:        webhook.MessageID(d.Delivery),
			Seq:       d.Seq,
			Event:     d.Event,
			State:     string(d.State),
			Attempts:  d.Attempts,
			CreatedAt: query.Madrid(d.CreatedAt),
			DoneAt:    query.TimeOrNull(d.DoneAt),
			History:   make([]attemptBody, 0, len(d.History)),
		}
		if d.State == "pending" {
			doc.DueAt = query.TimeOrNull(d.DueAt)
		}
		for _, h := range d.History {
			doc.History = append(doc.History, newAttemptBody(h))
		}
		docs = append(docs, doc)
	}
	return encode(map[string]any{"data": docs})
}

// redeliver sends one delivery again, or all after a change.
func (a *API) redeliver(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var body struct {
		Seq   *int64 `json:"seq"`
		Since *int64 `json:"since"`
	}
	if err := readBody(r, &body); err != nil {
		return response{}, err
	}
	w, _, err := a.Webhooks.Get(r.Context(), a.reach(r), r.PathValue("id"))
	if err != nil {
		return response{}, err
	}
	if err := checkScope(access.FromContext(r.Context()), &w.Draft); err != nil {
		return response{}, err
	}
	count := 1
	switch id := r.PathValue("id"); {
	case body.Seq != nil && body.Since == nil:
		err = a.Webhooks.Redeliver(r.Context(), a.reach(r), id, *body.Seq)
	case body.Since != nil && body.Seq == nil && *body.Since >= 0:
		count, err = a.Webhooks.RedeliverSince(r.Context(), a.reach(r), id, *body.Since)
	default:
		err = fault.New(fault.Invalid, "Give seq for one change, or since for all changes after one.")
	}
	if err != nil {
		return response{}, err
	}
	out, err := encode(map[string]any{"queued": count})
	out.status = http.StatusAccepted
	return out, err
}

// previewDays is the time that a preview of a webhook covers.
const previewDays = 30

// previewWebhook returns the reports that a selection would have matched in the
// last days.
func (a *API) previewWebhook(r *http.Request, s *catalog.Snapshot) (response, error) {
	var body struct {
		Events []string         `json:"events"`
		Filter query.FilterBody `json:"filter"`
	}
	if err := readBody(r, &body); err != nil {
		return response{}, err
	}
	p := a.newParams()
	selected := p.events(body.Events)
	filter := body.Filter.Read(p.Params, s)
	p.CheckFilter(filter)
	if err := p.Err(); err != nil {
		return response{}, err
	}
	found, err := a.Query.Preview(r.Context(), s, events.Selection{Events: selected, Filter: filter}, previewDays)
	if err != nil {
		return response{}, err
	}
	out, err := encode(found)
	return out.warn(p), err
}
