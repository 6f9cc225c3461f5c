package console

import (
	"net/http"
	"net/url"
	"time"

	"pregon/internal/auth/access"
)

// app is a connected application as the API returns it.
type app struct {
	ID         string     `json:"id"`
	ClientID   string     `json:"client_id"`
	Name       string     `json:"name"`
	Host       string     `json:"host"`
	Scopes     []string   `json:"scopes"`
	Resource   string     `json:"resource"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
}

// appRow is an application as the page shows it.
type appRow struct {
	app
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
	f, err := c.ownerFrame(q, "apps")
	if err != nil {
		return nil, err
	}
	var found struct{ Apps []app }
	if err := c.call(q, http.MethodGet, "/api/v1/account/apps"+q.ownerQuery(), nil, &found); err != nil {
		return nil, err
	}
	data := &appsPage{frame: f, MCP: c.BaseURL + access.MCPSignInPath}
	for _, a := range found.Apps {
		data.Apps = append(data.Apps, appRow{a, nameOf(a.Name, a.Host, a.ClientID), q.shortScopes(a.Scopes)})
	}
	return q.page("apps", q.e.Text("heading.apps"), data), nil
}

func (c *Console) revokeApp(q *request) (*reply, error) {
	if err := c.call(q, http.MethodDelete, "/api/v1/account/apps/"+url.PathEscape(q.PathValue("id"))+q.ownerQuery(), nil, nil); err != nil {
		return nil, err
	}
	return q.back("/account/apps"+q.ownerQuery(), "app-revoked"), nil
}
