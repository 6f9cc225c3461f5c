package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/cli"
	"pregon/internal/push/webhook"
	"pregon/internal/service/push"
	"pregon/internal/store"
	"pregon/internal/store/engine"
)

type webhooksCmd struct {
	List    listWebhooksCmd   `cmd:"" help:"List all webhooks with their owners, hosts and states."`
	Disable disableWebhookCmd `cmd:"" help:"Stop a webhook. Its owner sees why, and can enable it again."`
	Delete  deleteWebhookCmd  `cmd:"" help:"Remove a webhook with all its deliveries."`
	Adopt   adoptWebhookCmd   `cmd:"" help:"Move a webhook from the key that created it to the account of that key, so that it works without the key."`
}

// withWebhooks calls do with the webhooks of the store. A running service sees
// changes to them within a second.
func (f *adminFlags) withWebhooks(ctx context.Context, p *process, do func(*webhook.Manager) error) error {
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return err
	}
	return f.with(ctx, func(db engine.Store, audit access.Audit) error {
		owners, err := push.StoredAccounts(ctx, db)
		if err != nil {
			return err
		}
		return do(webhook.New(webhook.Options{
			Store:         db,
			Sealer:        box,
			Audit:         audit,
			AccountStatus: owners.Status,
			Keys:          owners.Keys,
		}))
	})
}

type listWebhooksCmd struct {
	adminFlags
	JSON bool `name:"json" help:"Print one JSON object a line, for programs."`
}

// webhookLine is a webhook in the list. Only the host of its address is shown: the
// path may be a secret.
type webhookLine struct {
	ID             string     `json:"id"`
	Owner          string     `json:"owner"`
	Key            string     `json:"key,omitempty"` // with which it was made; empty: it belongs to the account
	Host           string     `json:"host"`
	State          string     `json:"state"` // enabled, failing, paused or disabled
	DisabledReason string     `json:"disabled_reason,omitempty"`
	PausedReason   string     `json:"paused_reason,omitempty"`
	Pending        int        `json:"pending"`
	Dead           int        `json:"dead"`
	CreatedAt      time.Time  `json:"created_at"`
	LastSuccessAt  *time.Time `json:"last_success_at"`
}

// Run lists the webhooks.
func (c *listWebhooksCmd) Run(ctx context.Context, p *process) error {
	var all []webhook.Webhook
	var endpoints map[string]store.Endpoint
	paused := map[string]string{}
	if err := c.withWebhooks(ctx, p, func(m *webhook.Manager) (err error) {
		all, endpoints, err = m.All(ctx)
		for i := range all {
			paused[all[i].ID] = m.PausedReason(&all[i])
		}
		return err
	}); err != nil {
		return err
	}
	lines := make([]webhookLine, 0, len(all))
	for _, w := range all {
		e := endpoints[w.ID]
		l := webhookLine{
			ID:             w.ID,
			Owner:          w.Account,
			Key:            w.Key,
			State:          "enabled",
			DisabledReason: w.DisabledReason,
			PausedReason:   paused[w.ID],
			Pending:        e.Pending,
			Dead:           e.Dead,
			CreatedAt:      w.CreatedAt.UTC(),
			LastSuccessAt:  orNull(e.LastSuccessAt),
		}
		if u, err := url.Parse(w.URL); err == nil {
			l.Host = u.Host
		}
		switch {
		case !w.Enabled:
			l.State = "disabled"
		case l.PausedReason != "":
			l.State = "paused"
		case !e.FailingSince.IsZero():
			l.State = "failing"
		}
		lines = append(lines, l)
	}
	const header = "ID\tOWNER\tHOST\tSTATE\tPENDING\tDEAD\tCREATED\tLAST SUCCESS\tREASON"
	return cli.PrintList(p.stdout, lines, c.JSON, header, func(l webhookLine) []string {
		return []string{
			l.ID, l.Owner, l.Host, l.State, strconv.Itoa(l.Pending), strconv.Itoa(l.Dead),
			day(&l.CreatedAt), minute(l.LastSuccessAt), cmp.Or(l.DisabledReason, l.PausedReason),
		}
	})
}

type disableWebhookCmd struct {
	adminFlags
	ID     string `arg:"" help:"The webhook's id."`
	Reason string `default:"the operator disabled it" placeholder:"TEXT" help:"Reason that its owner sees."`
}

// Run disables the webhook.
func (c *disableWebhookCmd) Run(ctx context.Context, p *process) error {
	return c.withWebhooks(ctx, p, func(m *webhook.Manager) error {
		if err := m.Disable(ctx, c.ID, c.Reason); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.stderr, "%s is disabled\n", c.ID)
		return err
	})
}

type deleteWebhookCmd struct {
	adminFlags
	ID string `arg:"" help:"The webhook's id."`
}

// Run deletes the webhook.
func (c *deleteWebhookCmd) Run(ctx context.Context, p *process) error {
	return c.withWebhooks(ctx, p, func(m *webhook.Manager) error {
		owner, err := m.AccountOf(ctx, c.ID)
		if err != nil {
			return err
		}
		if err := m.Delete(ctx, access.WholeAccount(owner), c.ID); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stderr, "%s is deleted\n", c.ID)
		return err
	})
}

type adoptWebhookCmd struct {
	adminFlags
	ID string `arg:"" help:"The webhook's id."`
}

// Run gives the webhook to its account.
func (c *adoptWebhookCmd) Run(ctx context.Context, p *process) error {
	return c.withWebhooks(ctx, p, func(m *webhook.Manager) error {
		owner, err := m.AccountOf(ctx, c.ID)
		if err != nil {
			return err
		}
		w, err := m.Adopt(ctx, access.WholeAccount(owner), c.ID, nil)
		if err != nil {
			return err
		}
		note := ""
		switch reason := m.PausedReason(&w); {
		case !w.Enabled:
			note = ", and is disabled: " + w.DisabledReason
		case reason != "":
			note = ", and stays paused: " + reason
		}
		_, err = fmt.Fprintf(p.stderr, "%s belongs to the account %s%s\n", c.ID, owner, note)
		return err
	})
}
