package subscription

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
)

// All returns every webhook, ordered by account and age, for operators.
func (r *Registry) All(ctx context.Context) ([]Webhook, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	var all []Webhook
	for _, h := range r.Known().Hooks {
		all = append(all, h.Webhook)
	}
	slices.SortFunc(all, func(a, b Webhook) int {
		return cmp.Or(
			strings.Compare(a.Account, b.Account),
			a.CreatedAt.Compare(b.CreatedAt),
			strings.Compare(a.ID, b.ID),
		)
	})
	return all, nil
}

// CountByAccount returns how many webhooks each account has.
func (r *Registry) CountByAccount() map[string]int {
	n := map[string]int{}
	for _, h := range r.Known().Hooks {
		n[h.Account]++
	}
	return n
}

// AccountOf returns the account of a webhook, for operators.
func (r *Registry) AccountOf(ctx context.Context, id string) (string, error) {
	if err := r.Refresh(ctx); err != nil {
		return "", err
	}
	h := r.Known().Hooks[id]
	if h == nil {
		return "", fault.New(fault.NotFound, "there is no webhook %q: pregon webhooks list shows them", id)
	}
	return h.Account, nil
}

// Disable disables a webhook for an operator. It does nothing if the webhook is
// disabled already.
func (r *Registry) Disable(ctx context.Context, id, reason string) error {
	account, err := r.AccountOf(ctx, id)
	if err != nil {
		return err
	}
	by := access.WholeAccount(account)
	_, err = r.change(ctx, by, id, "webhook.disabled", func(w *Webhook, now time.Time) (bool, error) {
		was := w.Enabled
		w.Enabled = false
		w.setEnabled(now, reason)
		return was, nil
	})
	return err
}
