package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"pregon/internal/fault"
	"pregon/internal/site/chart"
)

// person is an account as the API returns it.
type person struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Email      string     `json:"email"`
	Provider   string     `json:"provider"`
	Plan       string     `json:"plan"`
	Scopes     []string   `json:"scopes"`
	Operator   bool       `json:"operator"`
	Limits     limits     `json:"limits"`
	SignedInAt *time.Time `json:"signed_in_at"`
}

// limits are those of the plan.
type limits struct {
	RequestsPerMinute *int `json:"requests_per_minute"`
}

// session is a session as the API returns it.
type session struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	SeenAt    time.Time `json:"seen_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Agent     string    `json:"agent"`
	Current   bool      `json:"current"`
	Key       string    `json:"key"`
}

// accountPage is the first page of an account.
type accountPage struct {
	frame
	Person   person
	Name     string
	Scopes   []string // in words
	Usage    []*chart.Chart
	Sessions []sessionRow
}

type sessionRow struct {
	session
	Browser string
}

func (c *Console) account(q *request) (*reply, error) {
	data := &accountPage{}
	var err error
	if data.frame, err = c.ownerFrame(q, "account"); err != nil {
		return nil, err
	}
	if data.Owner != nil {
		data.Person = data.Owner.person
	} else if data.Person, err = c.person(q); err != nil {
		return nil, err
	}
	data.Name = nameOf(data.Person.Name, data.Person.Email, data.Person.ID)
	if data.Owner != nil {
		data.Heading = data.Name
	}
	data.Scopes = q.scopes(data.Person.Scopes)
	if !q.session.Whole() { // the API would refuse to list its use and its sessions
		return q.page("account", data.Heading, data), nil
	}
	if data.Usage, err = c.usage(q); err != nil {
		return nil, err
	}
	var found struct{ Sessions []session }
	if err := c.call(q, http.MethodGet, "/api/v1/account/sessions"+data.OwnerArg, nil, &found); err != nil {
		return nil, err
	}
	for _, s := range found.Sessions {
		data.Sessions = append(data.Sessions, sessionRow{s, q.browser(s.Agent)})
	}
	return q.page("account", data.Heading, data), nil
}

// person returns the account of the person who is signed in.
func (c *Console) person(q *request) (p person, err error) {
	err = c.call(q, http.MethodGet, "/api/v1/account", nil, &p)
	return p, err
}

// endSession signs a browser out.
func (c *Console) endSession(q *request) (*reply, error) {
	if err := c.call(q, http.MethodDelete, "/api/v1/account/sessions/"+url.PathEscape(q.PathValue("id"))+q.ownerQuery(), nil, nil); err != nil {
		return nil, err
	}
	return q.back("/account"+q.ownerQuery(), "session-ended"), nil
}

// ownerFrame is frame for pages on which an operator may see what belongs to another.
func (c *Console) ownerFrame(q *request, tab string) (frame, error) {
	f := q.frame(tab)
	if f.OwnerArg = q.ownerQuery(); f.OwnerArg == "" {
		return f, nil
	}
	found, err := c.owners(q)
	if err != nil {
		return f, err
	}
	asked := q.URL.Query().Get("owner")
	for i := range found {
		if found[i].ID == asked {
			f.Owner = &found[i]
			return f, nil
		}
	}
	return f, fault.New(fault.NotFound, "There is no account with that id.")
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
	browsers = [][2]string{{"Edg", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}}
	systems  = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Macintosh", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"}}
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
