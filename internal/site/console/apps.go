package console

import (
	"context"

	"pregon/internal/account"
	"pregon/internal/auth/access"
)

// appRow is an application as the page shows it.
type appRow struct {
	account.Application
	Label     string
	ScopeText []string
}

// appsPage is the list of connected applications.
type appsPage struct {
	frame
	Apps []appRow
	MCP  string // the address that people give to assistants
}

func (c *Console) listApps(q *request) (*reply, error) {
	f, err := c.accountFrame(q, "apps")
	if err != nil {
		return nil, err
	}
	found, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.ApplicationList, error) {
		return c.Account.ListApplications(ctx, by, q.other())
	})
	if err != nil {
		return nil, err
	}
	data := &appsPage{frame: f, MCP: c.BaseURL + access.MCPSignInPath}
	for _, a := range found.Applications {
		data.Apps = append(data.Apps, appRow{a, nameOf(a.Name, a.Host, a.ClientID), q.shortScopes(a.Scopes)})
	}
	return q.page("apps", q.e.Text("heading.apps"), data), nil
}

func (c *Console) revokeApp(q *request) (*reply, error) {
	err := c.run(q, manage, func(ctx context.Context, by access.Principal) error {
		return c.Account.RevokeApplication(ctx, by, q.other(), q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.back("/account/apps"+q.otherQuery(), "app-revoked"), nil
}
