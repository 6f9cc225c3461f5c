package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"pregon/internal/auth/oauth"
	"pregon/internal/auth/token"
	"pregon/internal/site/render"
	"pregon/internal/text"
)

const authorizePath = "/oauth/authorize"

// consentPage asks a person whether an application may act for them.
type consentPage struct {
	Who      string
	Token    string
	Form     string // sealed, and sent by the page
	Final    string // sealed, and sent after the script has made the button work; on the first page
	Second   bool   // the page that asks again, without a script
	Name     string // of the application
	Host     string
	Kind     string // who verified its name, in words
	Known    bool   // the operator of this service entered the application
	Redirect string // where the answer goes
	Loopback bool
	Scopes   []string // in words
	Lacking  bool     // it asks for more than the person has
	Resource string
	Next     string // this page, for another person
	Narrow   string // the key of a session that cannot see applications; else empty
}

// consentPage shows the request of an application to a person who is signed in.
func (c *Console) consentPage(q *request) (*reply, error) {
	asked, err := c.OAuth.Read(q.Request, q.URL.Query())
	if err != nil {
		return q.refusedApp(err)
	}
	if q.session == nil {
		return q.toSignIn(), nil
	}
	first, final := c.OAuth.Forms(asked, q.session.Principal)
	return c.askPerson(q, asked, consentPage{Form: first, Final: final, Next: q.URL.RequestURI()})
}

// confirmPage asks a second time, in a browser without JavaScript: the first click may
// have been meant for another page. Any site can open a window in which no script runs,
// by a link in a sandboxed frame, and have the two clicks made there. Browsers show no
// page with a Cross-Origin-Opener-Policy in such a window, so that this page has one.
func (c *Console) confirmPage(q *request) (*reply, error) {
	asked, final, err := c.OAuth.Review(q.Context(), q.PostForm.Get("request"), q.session.Principal)
	if err != nil {
		return q.refusedApp(err)
	}
	return c.askPerson(q, asked, consentPage{Form: final, Second: true, Next: asked.Address()})
}

// askPerson returns the page of a request, with the forms in data.
func (c *Console) askPerson(q *request, asked *oauth.Request, data consentPage) (*reply, error) {
	who, err := c.profile(q)
	if err != nil {
		return nil, err
	}
	granted := asked.Scope & q.session.Scope
	data.Who = nameOf(who.Name, who.Email, who.ID)
	data.Token = q.session.Token
	data.Name = nameOf(asked.Client.Name, asked.Client.Host, asked.Client.ID)
	data.Host = asked.Client.Host
	data.Kind = q.verifiedBy(asked.Client)
	data.Known = asked.Client.Kind == oauth.Configured
	data.Redirect = asked.RedirectHost()
	data.Loopback = asked.Loopback()
	data.Scopes = q.scopes(granted.Names())
	data.Lacking = granted != asked.Scope
	data.Resource = asked.Resource
	if !q.session.Whole() {
		data.Narrow = q.session.Key
	}
	out := q.page("consent", q.e.Text("consent.title", data.Name), data)
	out.Popup = !data.Second
	out.FormAction = formAction(asked.RedirectURI)
	return out, nil
}

// verifiedBy returns a sentence about who verified the name of an application.
func (q *request) verifiedBy(app oauth.Client) string {
	if app.Kind == oauth.Document {
		return q.e.Text("consent.kind.document", app.Host)
	}
	return q.e.Text("consent.kind." + string(app.Kind))
}

// formAction returns where the answer to the form may lead. Browsers apply this to
// every redirect that follows, and many applications answer theirs with another one.
// So all hosts of the scheme are allowed.
func formAction(redirect string) string {
	scheme, _, _ := strings.Cut(redirect, ":")
	switch scheme {
	case "https":
		return "https:"
	case "http": // a program on this machine
		return "http: https:"
	}
	return scheme + ":"
}

// decide carries out what the person chose.
func (c *Console) decide(q *request) (*reply, error) {
	decision := q.PostForm.Get("decision")
	if decision == "review" {
		return c.confirmPage(q)
	}
	to, err := c.OAuth.Decide(q.Context(), q.PostForm.Get("request"), q.session.Principal, decision == "allow")
	if errors.Is(err, oauth.ErrTooSoon) {
		return c.confirmPage(q)
	}
	if err != nil {
		return q.refusedApp(err)
	}
	return &reply{redirect: to}, nil
}

// refusalPage says why the request of an application is refused.
type refusalPage struct {
	Text          render.Message
	Return, Again string
	Fault         bool // of the application
}

// refusedApp answers a request of an application that is refused.
func (q *request) refusedApp(err error) (*reply, error) {
	refused, ok := errors.AsType[*oauth.Refusal](err)
	if !ok {
		return nil, err
	}
	if refused.Redirect != "" {
		return &reply{redirect: refused.Redirect}, nil
	}
	data := &refusalPage{
		Text:   q.e.Message(text.Sentence(refused.Text), refused.Parts),
		Return: safeLink(refused.Return),
		Again:  refused.Again,
	}
	status := http.StatusBadRequest
	if refused.Code == token.CodeUnavailable {
		status = http.StatusServiceUnavailable
	} else {
		data.Fault = refused.Again == ""
	}
	out := q.page("app-refused", q.e.Text("refused.title"), data)
	out.Status, out.Popup = status, true
	return out, nil
}

// safeLink returns an address of the web, or "". The others cannot be links.
func safeLink(address string) string {
	if u, err := url.Parse(address); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		return address
	}
	return ""
}
