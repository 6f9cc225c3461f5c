package console

import (
	"context"
	"strings"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/site/chart"
)

// accountPage is the first page of an account.
type accountPage struct {
	frame
	Profile  any // account.Profile of oneself, or account.Summary of another
	Name     string
	Scopes   []string // in words
	Usage    []*chart.Chart
	Sessions []sessionRow
}

// sessionRow is a session as the page shows it.
type sessionRow struct {
	account.Session
	Key     string // with which it was opened, or ""
	Browser string
}

func (c *Console) account(q *request) (*reply, error) {
	data := &accountPage{}
	var err error
	if data.frame, err = c.accountFrame(q, "account"); err != nil {
		return nil, err
	}
	var scopes []string
	if other := data.Other; other != nil {
		data.Profile = other.Summary
		data.Name = other.Label()
		data.Heading = data.Name
		scopes = other.Scopes
	} else {
		own, err := c.profile(q)
		if err != nil {
			return nil, err
		}
		data.Profile = own
		data.Name = nameOf(own.Name, own.Email, own.ID)
		scopes = own.Scopes
	}
	data.Scopes = q.scopes(scopes)
	if !q.session.Whole() { // which may see neither its use nor its sessions
		return q.page("account", data.Heading, data), nil
	}
	if data.Usage, err = c.usage(q); err != nil {
		return nil, err
	}
	found, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.SessionList, error) {
		return c.Account.ListSessions(ctx, by, q.other())
	})
	if err != nil {
		return nil, err
	}
	for _, s := range found.Sessions {
		data.Sessions = append(data.Sessions, sessionRow{s, textOf(s.Key), q.browser(s.Agent)})
	}
	return q.page("account", data.Heading, data), nil
}

// profile returns the account of the person who is signed in.
func (c *Console) profile(q *request) (account.Profile, error) {
	return do(c, q, manage, func(_ context.Context, by access.Principal) (account.Profile, error) {
		return c.Account.Profile(by), nil
	})
}

// endSession signs a browser out.
func (c *Console) endSession(q *request) (*reply, error) {
	err := c.run(q, manage, func(ctx context.Context, by access.Principal) error {
		return c.Account.EndSession(ctx, by, q.other(), q.PathValue("id"))
	})
	if err != nil {
		return nil, err
	}
	return q.back("/account"+q.otherQuery(), "session-ended"), nil
}

// accountFrame is frame for pages on which an operator may see what belongs to another.
func (c *Console) accountFrame(q *request, tab string) (frame, error) {
	f := q.frame(tab)
	f.OtherArg = q.otherQuery()
	if f.OtherArg == "" {
		return f, nil
	}
	found, err := do(c, q, manage, func(ctx context.Context, by access.Principal) (account.Summary, error) {
		return c.Account.Account(ctx, by, q.other())
	})
	if err != nil {
		return f, err
	}
	f.Other = &accountRow{found}
	return f, nil
}

// textOf returns a text that may be absent.
func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// scopes returns rights in words. One that this page does not know is shown as it is.
func (q *request) scopes(names []string) (out []string) {
	for _, name := range names {
		out = append(out, q.word("scope.", strings.TrimPrefix(name, "read:"), name))
	}
	return out
}

// shortScopes returns rights as tables show them.
func (q *request) shortScopes(names []string) (out []string) {
	for _, name := range names {
		out = append(out, q.word("scope.short.", strings.TrimPrefix(name, "read:"), name))
	}
	return out
}

// word returns the text for a value of the API, or another.
func (q *request) word(prefix, value, other string) string {
	if text, err := q.e.T(prefix + value); err == nil {
		return text
	}
	return other
}

// Names in the header User-Agent, the more particular first: most browsers also name
// those after them.
var (
	browsers = [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"Windows", "Windows"},
		{"Macintosh", "macOS"},
		{"CrOS", "ChromeOS"},
		{"Linux", "Linux"},
	}
)

// browser returns the names of a browser and its system.
func (q *request) browser(agent string) string {
	find := func(names [][2]string) string {
		for _, n := range names {
			if strings.Contains(agent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	name, system := find(browsers), find(systems)
	switch {
	case name != "" && system != "":
		return q.e.Text("session.browser", name, system)
	case name+system != "":
		return name + system
	}
	return q.e.Text("session.unknown")
}
