package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"pregon/internal/auth/secret"
	"pregon/internal/webhook"
)

type webhooksCmd struct {
	List    listWebhooksCmd   `cmd:"" help:"List all webhooks: whose they are, where they send to, and how they fare."`
	Disable disableWebhookCmd `cmd:"" help:"Stop a webhook. Its owner sees why, and can enable it again."`
	Delete  deleteWebhookCmd  `cmd:"" help:"Remove a webhook with all that was or is to be delivered."`
}

// webhookFlags are taken by every command on webhooks.
type webhookFlags struct {
	storeFlag
	auditFlag
}

// manager opens the store, which must be there, and reads the webhooks in it. A
// running service learns within a second of what is done with them.
func (f *webhookFlags) manager(ctx context.Context, p *process) (m *webhook.Manager, end func() error, err error) {
	box, err := secret.NewBox(p.getenv(secretKeyEnv))
	if err != nil {
		return nil, nil, err
	}
	db, err := f.open(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	audit, closeAudit, err := f.audit(nil)
	if err != nil {
		return nil, nil, joinClose(err, db.Close)
	}
	end = func() error { return joinClose(closeAudit(), db.Close) }
	return webhook.New(webhook.Options{Store: db, Sealer: box, Audit: audit}), end, nil
}

type listWebhooksCmd struct {
	webhookFlags
	JSON bool `name:"json" help:"Print one JSON object a line, for programs."`
}

// webhookLine is a webhook as it is listed. Of its address only the host is
// shown: paths are passwords too.
type webhookLine struct {
	ID             string     `json:"id"`
	Owner          string     `json:"owner"`
	Host           string     `json:"host"`
	State          string     `json:"state"` // enabled, failing or disabled
	DisabledReason string     `json:"disabled_reason,omitempty"`
	Pending        int        `json:"pending"`
	Dead           int        `json:"dead"`
	CreatedAt      time.Time  `json:"created_at"`
	LastSuccessAt  *time.Time `json:"last_success_at"`
}

// Run lists.
func (c *listWebhooksCmd) Run(ctx context.Context, p *process) error {
	m, end, err := c.manager(ctx, p)
	if err != nil {
		return err
	}
	all, endpoints, err := m.All(ctx)
	if err := joinClose(err, end); err != nil {
		return err
	}
	lines := make([]webhookLine, 0, len(all))
	for _, w := range all {
		e := endpoints[w.ID]
		l := webhookLine{
			ID: w.ID, Owner: w.Owner, State: "enabled", DisabledReason: w.DisabledReason, Pending: e.Pending, Dead: e.Dead,
			CreatedAt: w.CreatedAt.UTC(), LastSuccessAt: orNull(e.LastSuccessAt),
		}
		if u, err := url.Parse(w.URL); err == nil {
			l.Host = u.Host
		}
		switch {
		case !w.Enabled:
			l.State = "disabled"
		case !e.FailingSince.IsZero():
			l.State = "failing"
		}
		lines = append(lines, l)
	}
	if c.JSON {
		out := json.NewEncoder(p.stdout)
		for _, l := range lines {
			if err := out.Encode(l); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tOWNER\tHOST\tSTATE\tPENDING\tDEAD\tCREATED\tLAST SUCCESS\tREASON")
	for _, l := range lines {
		fmt.Fprintln(table, strings.Join([]string{
			l.ID, l.Owner, orDash(l.Host), l.State, strconv.Itoa(l.Pending), strconv.Itoa(l.Dead), day(&l.CreatedAt), minute(l.LastSuccessAt), orDash(l.DisabledReason),
		}, "\t"))
	}
	return table.Flush()
}

type disableWebhookCmd struct {
	webhookFlags
	ID     string `arg:"" help:"The webhook's id."`
	Reason string `default:"the operator disabled it" placeholder:"TEXT" help:"What its owner is shown."`
}

// Run disables.
func (c *disableWebhookCmd) Run(ctx context.Context, p *process) error {
	m, end, err := c.manager(ctx, p)
	if err != nil {
		return err
	}
	if err := joinClose(m.Disable(ctx, c.ID, c.Reason), end); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "%s is disabled\n", c.ID)
	return err
}

type deleteWebhookCmd struct {
	webhookFlags
	ID string `arg:"" help:"The webhook's id."`
}

// Run deletes.
func (c *deleteWebhookCmd) Run(ctx context.Context, p *process) error {
	m, end, err := c.manager(ctx, p)
	if err != nil {
		return err
	}
	owner, err := m.OwnerOf(ctx, c.ID)
	if err == nil {
		err = m.Delete(ctx, owner, c.ID)
	}
	if err := joinClose(err, end); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "%s is deleted\n", c.ID)
	return err
}
