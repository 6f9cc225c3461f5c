package account

import (
	"context"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/store"
)

// Webhook is a webhook without its secret.
type Webhook struct {
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
	Secret         *string          `json:"secret,omitempty"` // when it is new
	Endpoint       *Endpoint        `json:"endpoint,omitempty"`
	// Warnings are sentences about values of the request that were accepted and are
	// probably wrong.
	Warnings []string `json:"-"`
}

// Endpoint is the state of the address of a webhook.
type Endpoint struct {
	FailingSince  *time.Time `json:"failing_since"`
	LastSuccessAt *time.Time `json:"last_success_at"`
	LastFailureAt *time.Time `json:"last_failure_at"`
	Pending       int        `json:"pending"`
	Dead          int        `json:"dead"`
}

// WebhookList is the webhooks that the caller may see, oldest first.
type WebhookList struct {
	Data []Webhook `json:"data"`
}

func (s *Service) newWebhook(w webhook.Webhook) Webhook {
	selected := w.Events
	if len(selected) == 0 {
		selected = events.DefaultEvents
	}
	names := make([]string, len(selected))
	for i, e := range selected {
		names[i] = string(e)
	}
	return Webhook{
		ID:             w.ID,
		Key:            query.OrNull(w.Key),
		URL:            w.URL,
		Description:    w.Description,
		Events:         names,
		Filter:         query.NewFilterBody(w.Filter),
		Enabled:        w.Enabled,
		DisabledAt:     query.TimeOrNull(w.DisabledAt),
		DisabledReason: query.OrNull(w.DisabledReason),
		PausedReason:   query.OrNull(s.o.Webhooks.PausedReason(&w)),
		StartsAfter:    w.StartsAfter,
		CreatedAt:      query.Madrid(w.CreatedAt),
		UpdatedAt:      query.Madrid(w.UpdatedAt),
	}
}

// WebhookDraft is a request that makes or changes a webhook. A change keeps what is
// absent.
type WebhookDraft struct {
	URL         *string           `json:"url"`
	Description *string           `json:"description"`
	Events      *[]string         `json:"events"`
	Filter      *query.FilterBody `json:"filter"`
	Enabled     *bool             `json:"enabled"`
}

// apply sets the fields of a draft. The error has every field that is not valid.
func (b WebhookDraft) apply(d *webhook.Draft, p *query.Params, now *catalog.Snapshot) error {
	if b.URL != nil {
		d.URL = *b.URL
	}
	if b.Description != nil {
		d.Description = *b.Description
	}
	if b.Events != nil {
		d.Events = p.Events(*b.Events)
	}
	if b.Filter != nil {
		asked := b.Filter.KeepFilter(p, now)
		same := asked
		same.Widen = d.Filter.Widen
		if same != d.Filter { // one that is stored keeps its meaning
			d.Filter = asked
		}
	}
	if b.Enabled != nil {
		d.Enabled = *b.Enabled
	}
	if b.Events != nil || b.Filter != nil {
		p.CheckSelection(d.Selection())
	}
	return p.Err()
}

// checkScope rejects a draft that selects events that the caller may not read. A draft
// without events gets the default events that the caller may read.
func checkScope(by access.Principal, d *webhook.Draft) (err error) {
	if len(d.Events) == 0 {
		d.Events, err = query.PermittedEvents(by, events.DefaultEvents)
		return err
	}
	i := slices.IndexFunc(d.Events, events.NeedsIssuers)
	if d.Enabled && i >= 0 && !by.Scope.Has(access.ReadIssuers) {
		return by.MissingScope(access.ReadIssuers, fault.Text{Format: "A webhook with the event %s", Args: []any{d.Events[i]}})
	}
	return nil
}

// CreateWebhook makes a webhook. The answer alone has its secret.
func (s *Service) CreateWebhook(ctx context.Context, by access.Principal, asked WebhookDraft) (Webhook, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Webhook{}, err
	}
	draft := webhook.Draft{Enabled: true}
	p := s.o.Query.NewParams(nil).For(by)
	if err := asked.apply(&draft, p, now); err != nil {
		return Webhook{}, err
	}
	if err := checkScope(by, &draft); err != nil {
		return Webhook{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Webhook, error) {
		w, secret, err := s.o.Webhooks.Create(ctx, s.o.Keys.Reach(by), draft)
		if err != nil {
			return Webhook{}, err
		}
		if err := s.keep(ctx, by, func(ctx context.Context, r access.Reach) error {
			return s.o.Webhooks.Delete(ctx, r, w.ID)
		}); err != nil {
			return Webhook{}, err
		}
		out := s.newWebhook(w)
		out.Secret = &secret
		out.Warnings = p.Warnings()
		return out, nil
	})
}

// ListWebhooks returns the webhooks that the caller may see.
func (s *Service) ListWebhooks(ctx context.Context, by access.Principal) (WebhookList, error) {
	all, err := bounded(ctx, func(ctx context.Context) ([]webhook.Webhook, error) {
		return s.o.Webhooks.List(ctx, s.o.Keys.Reach(by))
	})
	if err != nil {
		return WebhookList{}, err
	}
	out := WebhookList{Data: make([]Webhook, 0, len(all))}
	for _, w := range all {
		out.Data = append(out.Data, s.newWebhook(w))
	}
	return out, nil
}

// Webhook returns a webhook with the state of its address.
func (s *Service) Webhook(ctx context.Context, by access.Principal, id string) (Webhook, error) {
	return bounded(ctx, func(ctx context.Context) (Webhook, error) {
		w, e, err := s.o.Webhooks.Get(ctx, s.o.Keys.Reach(by), id)
		if err != nil {
			return Webhook{}, err
		}
		out := s.newWebhook(w)
		out.Endpoint = &Endpoint{
			FailingSince:  query.TimeOrNull(e.FailingSince),
			LastSuccessAt: query.TimeOrNull(e.LastSuccessAt),
			LastFailureAt: query.TimeOrNull(e.LastFailureAt),
			Pending:       e.Pending,
			Dead:          e.Dead,
		}
		return out, nil
	})
}

// ChangeWebhook changes a webhook.
func (s *Service) ChangeWebhook(
	ctx context.Context,
	by access.Principal,
	id string,
	asked WebhookDraft,
) (Webhook, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Webhook{}, err
	}
	return bounded(ctx, func(ctx context.Context) (Webhook, error) {
		var p *query.Params
		w, err := s.o.Webhooks.Update(ctx, s.o.Keys.Reach(by), id, func(d *webhook.Draft) error {
			p = s.o.Query.NewParams(nil).For(by) // it may be called again
			if err := asked.apply(d, p, now); err != nil {
				return err
			}
			return checkScope(by, d)
		})
		if err != nil {
			return Webhook{}, err
		}
		out := s.newWebhook(w)
		out.Warnings = p.Warnings()
		return out, nil
	})
}

// DeleteWebhook deletes a webhook with its deliveries.
func (s *Service) DeleteWebhook(ctx context.Context, by access.Principal, id string) error {
	return store.Within(ctx, func(ctx context.Context) error {
		return s.o.Webhooks.Delete(ctx, s.o.Keys.Reach(by), id)
	})
}

// Adoption is a request to adopt a webhook, unless it has another address than the one
// that the caller saw. A nil address is not compared.
type Adoption struct {
	URL *string `json:"url"`
}

// AdoptWebhook makes a webhook that was made with another key belong to the caller. It
// is a conflict if the webhook has another address than the caller saw.
func (s *Service) AdoptWebhook(ctx context.Context, by access.Principal, id string, asked Adoption) (Webhook, error) {
	return bounded(ctx, func(ctx context.Context) (Webhook, error) {
		w, err := s.o.Webhooks.Adopt(ctx, s.o.Keys.Reach(by), id, asked.URL)
		if err != nil {
			return Webhook{}, err
		}
		return s.newWebhook(w), nil
	})
}

// RotateWebhook gives a webhook a new secret, which the answer alone has.
func (s *Service) RotateWebhook(ctx context.Context, by access.Principal, id string) (Webhook, error) {
	return bounded(ctx, func(ctx context.Context) (Webhook, error) {
		w, secret, err := s.o.Webhooks.Rotate(ctx, s.o.Keys.Reach(by), id)
		if err != nil {
			return Webhook{}, err
		}
		out := s.newWebhook(w)
		out.Secret = &secret
		return out, nil
	})
}

// Attempt is an attempt to deliver.
type Attempt struct {
	At      time.Time `json:"at"`
	OK      bool      `json:"ok"`
	Status  *int      `json:"status"`
	Latency int       `json:"latency_ms"`
	Error   *string   `json:"error"`
	Excerpt *string   `json:"excerpt"`
}

func newAttempt(a store.Attempt) Attempt {
	out := Attempt{
		At:      query.Madrid(a.At),
		OK:      a.Status >= 200 && a.Status < 300 && a.Error == "",
		Latency: int(a.Latency.Milliseconds()),
		Error:   query.OrNull(a.Error),
		Excerpt: query.OrNull(a.Excerpt),
	}
	if a.Status != 0 {
		out.Status = &a.Status
	}
	return out
}

// TestWebhook sends a sample to a webhook, which is stored nowhere. The sender bounds
// the attempt, and how many there may be in a minute.
func (s *Service) TestWebhook(ctx context.Context, by access.Principal, id string) (Attempt, error) {
	attempt, err := s.o.Webhooks.Test(ctx, s.o.Keys.Reach(by), id)
	if err != nil {
		return Attempt{}, err
	}
	return newAttempt(attempt), nil
}

// Delivery is a delivery with its attempts.
type Delivery struct {
	ID        string     `json:"id"` // the webhook-id of every attempt
	Seq       int64      `json:"seq"`
	Event     string     `json:"event"`
	State     string     `json:"state"`
	Attempts  int        `json:"attempts"`
	CreatedAt time.Time  `json:"created_at"`
	DueAt     *time.Time `json:"due_at"`
	DoneAt    *time.Time `json:"done_at"`
	History   []Attempt  `json:"history"`
}

// DeliveryList is some deliveries of a webhook, the newest first.
type DeliveryList struct {
	Data []Delivery `json:"data"`
}

// DeliveryPage is a request for deliveries of a webhook.
type DeliveryPage struct {
	State  string // pending, delivered or dead; empty for all
	Before int64  // a seq; 0 for the newest
	Limit  int
}

// ReadDeliveryPage reads a page of deliveries from parameters.
func ReadDeliveryPage(p *query.Params) DeliveryPage {
	out := DeliveryPage{
		State: p.Text("state"),
		Limit: p.Integer("limit", query.DefaultLimit, 1, query.MaxLimit),
	}
	out.Before = p.Seq("before")
	switch out.State {
	case "", "pending", "delivered", "dead":
	default:
		p.Reject("state", out.State, "must be pending, delivered or dead")
	}
	return out
}

// ListDeliveries returns deliveries of a webhook.
func (s *Service) ListDeliveries(
	ctx context.Context,
	by access.Principal,
	id string,
	page DeliveryPage,
) (DeliveryList, error) {
	found, err := bounded(ctx, func(ctx context.Context) ([]store.Delivered, error) {
		return s.o.Webhooks.Deliveries(ctx, s.o.Keys.Reach(by), id, store.DeliveryQuery{
			State:  store.DeliveryState(page.State),
			Before: page.Before,
			Limit:  page.Limit,
		})
	})
	if err != nil {
		return DeliveryList{}, err
	}
	out := DeliveryList{Data: make([]Delivery, 0, len(found))}
	for _, d := range found {
		out.Data = append(out.Data, newDelivery(d))
	}
	return out, nil
}

func newDelivery(d store.Delivered) Delivery {
	out := Delivery{
		ID:        webhook.MessageID(d.Delivery),
		Seq:       d.Seq,
		Event:     d.Event,
		State:     string(d.State),
		Attempts:  d.Attempts,
		CreatedAt: query.Madrid(d.CreatedAt),
		DoneAt:    query.TimeOrNull(d.DoneAt),
		History:   make([]Attempt, 0, len(d.History)),
	}
	if d.State == "pending" {
		out.DueAt = query.TimeOrNull(d.DueAt)
	}
	for _, h := range d.History {
		out.History = append(out.History, newAttempt(h))
	}
	return out
}

// Redelivery is a request to send one change again, or all after one.
type Redelivery struct {
	Seq   *int64 `json:"seq"`
	Since *int64 `json:"since"`
}

// Redelivered is how many deliveries are sent again.
type Redelivered struct {
	Queued int `json:"queued"`
}

// Redeliver sends changes to a webhook again. It reads much of the log, page by page,
// and ends with the context: it has no deadline of its own.
func (s *Service) Redeliver(
	ctx context.Context,
	by access.Principal,
	id string,
	asked Redelivery,
) (Redelivered, error) {
	reach := s.o.Keys.Reach(by)
	w, _, err := s.o.Webhooks.Get(ctx, reach, id)
	if err != nil {
		return Redelivered{}, err
	}
	if err := checkScope(by, &w.Draft); err != nil {
		return Redelivered{}, err
	}
	count := 1
	switch {
	case asked.Seq != nil && asked.Since == nil:
		err = s.o.Webhooks.Redeliver(ctx, reach, id, *asked.Seq)
	case asked.Since != nil && asked.Seq == nil && *asked.Since >= 0:
		count, err = s.o.Webhooks.RedeliverSince(ctx, reach, id, *asked.Since)
	default:
		err = fault.New(fault.Invalid, "Give seq for one change, or since for all changes after one.")
	}
	if err != nil {
		return Redelivered{}, err
	}
	return Redelivered{Queued: count}, nil
}

// previewDays is the time that a preview of a webhook covers.
const previewDays = 30

// Selection is a request for what a webhook would have sent.
type Selection struct {
	Events []string         `json:"events"`
	Filter query.FilterBody `json:"filter"`
}

// Preview is what a webhook would have sent in the last days.
type Preview struct {
	query.Preview
	Warnings []string `json:"-"` // as those of a Webhook
}

// Preview returns the reports and positions that a selection would have matched in the last
// days, of those that the caller may read.
func (s *Service) Preview(ctx context.Context, by access.Principal, asked Selection) (Preview, error) {
	now, err := s.o.Query.Snapshot()
	if err != nil {
		return Preview{}, err
	}
	p := s.o.Query.NewParams(nil).For(by)
	selection := events.Selection{
		Events: p.Events(asked.Events),
		Filter: asked.Filter.Read(p, now),
	}
	p.CheckFilter(selection.Filter)
	p.CheckSelection(selection)
	if err := p.Err(); err != nil {
		return Preview{}, err
	}
	if selection, err = query.PermittedSelection(by, selection); err != nil {
		return Preview{}, err
	}
	found, err := s.o.Query.Preview(ctx, now, selection, previewDays)
	return Preview{Preview: found, Warnings: p.Warnings()}, err
}
