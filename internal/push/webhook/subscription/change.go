package subscription

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	authsecret "pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/store"
)

const (
	idPrefix = "wh_"
	idLength = 16
)

func newID() string { return idPrefix + authsecret.RandomText(idLength) }

// Create adds a webhook and returns it with its secret, which is never returned
// again.
func (r *Registry) Create(ctx context.Context, by access.Reach, d Draft) (w Webhook, secret string, err error) {
	account := by.Account()
	if err := r.check(ctx, &d); err != nil {
		return Webhook{}, "", err
	}
	if err := r.Refresh(ctx); err != nil {
		return Webhook{}, "", err
	}
	if r.count(account) >= maxPerAccount {
		return Webhook{}, "", tooMany()
	}
	if err := r.checkFilters(account, "", d.Filter); err != nil {
		return Webhook{}, "", err
	}
	now := time.Now().UTC().Truncate(time.Second)
	w = Webhook{
		ID:        newID(),
		Account:   account,
		Key:       by.Maker(),
		Draft:     d,
		CreatedAt: now,
		UpdatedAt: now,
	}
	w.setEnabled(now, "its owner has not enabled it yet")
	if secret, err = w.addSecret(r.o.Sealer, now); err != nil {
		return Webhook{}, "", err
	}
	if w, err = r.put(ctx, w, true); err != nil {
		return Webhook{}, "", err
	}
	if r.count(account) > maxPerAccount { // others were created at the same time
		if err := r.remove(ctx, w); err != nil {
			return Webhook{}, "", err
		}
		return Webhook{}, "", tooMany()
	}
	r.Seen(account)
	r.audit(ctx, "webhook.created", &w)
	return w, secret, nil
}

// setEnabled records when and why the webhook was enabled or disabled.
func (w *Webhook) setEnabled(now time.Time, reason string) {
	if w.Enabled {
		w.EnabledAt = now
		w.DisabledAt = time.Time{}
		w.DisabledReason = ""
	} else {
		w.DisabledAt, w.DisabledReason = now, reason
	}
}

// put writes a webhook. If it starts, its first change is the one after the
// newest change, and after those whose deliveries were created before the
// record was written.
func (r *Registry) put(ctx context.Context, w Webhook, starts bool) (Webhook, error) {
	var err error
	if starts {
		if w.StartsAfter, err = r.o.Store.Newest(ctx); err != nil {
			return Webhook{}, err
		}
	}
	if w, err = r.write(ctx, w); err != nil {
		return Webhook{}, err
	}
	if starts {
		fanned, err := r.o.Store.Fanned(ctx, store.ForWebhooks)
		if err != nil {
			return Webhook{}, err
		}
		if fanned > w.StartsAfter {
			w.StartsAfter = fanned
			if again, err := r.write(ctx, w); err == nil {
				w = again
			} else if fault.KindOf(err) != fault.Conflict { // a later update has its own start
				return Webhook{}, err
			}
		}
	}
	_ = r.Refresh(ctx) // the webhook is written in any case
	return w, nil
}

func (r *Registry) write(ctx context.Context, w Webhook) (Webhook, error) {
	body, err := w.body()
	if err != nil {
		return Webhook{}, err
	}
	written, err := store.PutRecord(ctx, r.o.Store, store.Record{
		Kind:     kind,
		ID:       w.ID,
		Body:     body,
		Revision: w.revision,
	})
	if err != nil {
		return Webhook{}, err
	}
	w.revision = written.Revision
	return w, nil
}

// List returns the webhooks within a reach, oldest first.
func (r *Registry) List(ctx context.Context, by access.Reach) ([]Webhook, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	var all []Webhook
	for _, h := range r.Known().Hooks {
		if by.Has(h.Account, h.Key) {
			all = append(all, h.Webhook)
		}
	}
	slices.SortFunc(all, func(a, b Webhook) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Find returns a webhook within a reach. It does not reveal that there is one beyond.
func (r *Registry) Find(ctx context.Context, by access.Reach, id string) (*Hook, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	h := r.Known().Hooks[id]
	if h == nil || !by.Has(h.Account, h.Key) {
		return nil, fault.New(fault.NotFound, "You have no webhook %q.", id)
	}
	return h, nil
}

// FindEnabled is Find for a webhook that must be enabled.
func (r *Registry) FindEnabled(ctx context.Context, by access.Reach, id string) (*Hook, error) {
	h, err := r.Find(ctx, by, id)
	if err == nil && !h.Enabled {
		return nil, fault.New(fault.Conflict, "This webhook is disabled: enable it first.")
	}
	return h, err
}

// change updates a webhook unless the function reports no change. It starts
// over if the webhook was changed concurrently.
func (r *Registry) change(
	ctx context.Context, by access.Reach, id, event string, change func(*Webhook, time.Time) (bool, error),
) (Webhook, error) {
	for {
		h, err := r.Find(ctx, by, id)
		if err != nil {
			return Webhook{}, err
		}
		w, now := h.Webhook, time.Now().UTC().Truncate(time.Second)
		w.Events = slices.Clone(w.Events)
		if changed, err := change(&w, now); err != nil || !changed {
			return w, err
		}
		w.UpdatedAt = now
		w, err = r.put(ctx, w, w.Enabled && !h.Enabled)
		if err == nil {
			r.audit(ctx, event, &w)
			return w, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return Webhook{}, err
		}
	}
}

// Update changes the draft of a webhook. A webhook that is enabled again starts
// with the next change.
func (r *Registry) Update(ctx context.Context, by access.Reach, id string, change func(*Draft) error) (Webhook, error) {
	return r.change(ctx, by, id, "webhook.changed", func(w *Webhook, now time.Time) (bool, error) {
		d := w.Draft
		d.Events = slices.Clone(d.Events)
		if err := change(&d); err != nil {
			return false, err
		}
		if err := d.check(r.o.AllowPrivate); err != nil {
			return false, err
		}
		if d.URL != w.URL {
			if err := r.check(ctx, &d); err != nil {
				return false, err
			}
		}
		if d.Filter != w.Filter {
			if err := r.checkFilters(w.Account, id, d.Filter); err != nil {
				return false, err
			}
		}
		same := d.equal(w.Draft)
		toggled := d.Enabled != w.Enabled
		w.Draft = d
		if toggled {
			w.setEnabled(now, "its owner disabled it")
		}
		return !same, nil
	})
}

// Adopt makes a webhook belong to the caller, who may see it already: to the account, or
// to the caller's key. If it was paused because of its key, it continues as after any
// other pause. It does nothing if the webhook belongs to the caller already.
//
// A holder of the key may change the address until the moment of the adoption. So the
// caller may say which address it saw: with another one the error is a conflict. A nil
// address is not compared.
func (r *Registry) Adopt(ctx context.Context, by access.Reach, id string, address *string) (Webhook, error) {
	return r.change(ctx, by, id, "webhook.adopted", func(w *Webhook, _ time.Time) (bool, error) {
		if address != nil && *address != w.URL {
			return false, fault.New(fault.Conflict, "The webhook was changed meanwhile: check its address again.")
		}
		same := w.Key == by.Maker()
		w.Key = by.Maker()
		return !same, nil
	})
}

// Rotate adds a new secret to a webhook. The previous one signs too for a day.
func (r *Registry) Rotate(ctx context.Context, by access.Reach, id string) (w Webhook, secret string, err error) {
	w, err = r.change(ctx, by, id, "webhook.rotated", func(w *Webhook, now time.Time) (bool, error) {
		secret, err = w.addSecret(r.o.Sealer, now)
		return true, err
	})
	if err != nil {
		return Webhook{}, "", err
	}
	return w, secret, nil
}

// Delete removes a webhook and its deliveries.
func (r *Registry) Delete(ctx context.Context, by access.Reach, id string) error {
	for {
		h, err := r.Find(ctx, by, id)
		if err != nil {
			return err
		}
		if err = r.remove(ctx, h.Webhook); err == nil {
			r.audit(ctx, "webhook.deleted", &h.Webhook)
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

// remove deletes a webhook. Deliveries that remain are dropped later: see Removed.
func (r *Registry) remove(ctx context.Context, w Webhook) error {
	if _, err := store.PutRecord(ctx, r.o.Store, store.Record{Kind: kind, ID: w.ID, Revision: w.revision}); err != nil {
		return err
	}
	if err := r.o.Store.DropDeliveries(ctx, w.ID); err != nil {
		r.log.WarnContext(ctx, "the deliveries of a deleted webhook could not be dropped yet",
			"webhook", w.ID, "err", err)
	}
	return r.Refresh(ctx)
}

func (r *Registry) audit(ctx context.Context, event string, w *Webhook, more ...slog.Attr) {
	attrs := []slog.Attr{
		slog.String("webhook", w.ID), slog.String("owner", w.Account),
		slog.String("host", hostOf(w.URL)), slog.Bool("enabled", w.Enabled),
	}
	if w.Key != "" {
		attrs = append(attrs, slog.String("key", w.Key))
	}
	if w.DisabledReason != "" {
		attrs = append(attrs, slog.String("reason", w.DisabledReason))
	}
	r.o.Audit(ctx, event, append(attrs, more...)...)
}

// hostOf returns the host of a URL for the audit log: paths may contain
// passwords.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
