package subscription

import (
	"context"
	"log/slog"
	"time"

	"pregon/internal/auth/access"
)

const (
	refuseInterval = time.Second        // how often webhooks with filters that became too long are disabled
	goneGrace      = 7 * 24 * time.Hour // after which the webhooks of a gone account end
)

// refuseFilters disables webhooks whose filters are longer than is allowed now.
func (r *Registry) refuseFilters(ctx context.Context) {
	for _, h := range r.Known().Hooks {
		if h.Enabled && h.filterError != "" {
			r.DisableUnchanged(ctx, h, "its filter "+h.filterError+": shorten it, then enable the webhook again")
		}
	}
}

// endGone ends the webhooks of gone accounts, unless the store fails.
func (r *Registry) endGone(ctx context.Context) {
	if r.syncAccounts(ctx) {
		r.removeGone(ctx)
	}
}

// removeGone ends the webhooks of accounts that have been gone for goneGrace:
// they are removed if the account cannot return, and disabled otherwise. Their
// pending deliveries are dropped.
func (r *Registry) removeGone(ctx context.Context) {
	for _, h := range r.Known().Hooks {
		s := r.Status(&h.Webhook)
		if s.Gone == "" || s.Since.IsZero() || time.Since(s.Since) < goneGrace {
			continue
		}
		if s.Permanent {
			if err := r.remove(ctx, h.Webhook); err != nil {
				r.log.WarnContext(ctx, "cannot remove the webhook of a deleted owner; will retry", "webhook",
					h.ID, "err", err)
				continue
			}
			r.audit(ctx, "webhook.removed", &h.Webhook, slog.String("reason", s.Gone))
		} else if h.Enabled && r.DisableUnchanged(ctx, h, s.Gone) {
			if err := r.o.Store.DropDeliveries(ctx, h.ID); err != nil {
				r.log.WarnContext(ctx, "cannot drop the deliveries of a disabled webhook", "webhook", h.ID, "err", err)
			}
		}
	}
}

// DisableUnchanged disables a webhook, unless its account has changed its URL, enabled it
// again or adopted it meanwhile. It reports whether it did.
func (r *Registry) DisableUnchanged(ctx context.Context, h *Hook, reason string) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	by := access.WholeAccount(h.Account)
	_, err := r.change(ctx, by, h.ID, "webhook.disabled", func(w *Webhook, now time.Time) (bool, error) {
		done = w.Enabled && w.URL == h.URL && w.Key == h.Key && w.EnabledAt.Equal(h.EnabledAt)
		if done {
			w.Enabled = false
			w.setEnabled(now, reason)
		}
		return done, nil
	})
	if err != nil { // the next failed attempt tries again
		r.log.WarnContext(ctx, "a webhook could not be disabled", "webhook", h.ID, "reason", reason, "err", err)
		return false
	}
	if done {
		r.log.WarnContext(ctx, "a webhook was disabled", "webhook", h.ID, "reason", reason)
	}
	return done
}
