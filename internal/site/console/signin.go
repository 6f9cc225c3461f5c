package console

import (
	"net/http"
	"net/url"

	"pregon/internal/auth/signin"
	"pregon/internal/fault"
	"pregon/internal/server/problem"
	"pregon/internal/site/render"
)

// signInPage is the page for signing in.
type signInPage struct {
	Providers []providerLink
	Next      string
	Refused   render.Message // why a key was refused; empty for none
	Wait      string         // seconds until one may sign in again, if there were too many
	Done      string
	ForApp    bool // an application waits for the person
}

type providerLink struct{ Name, URL string }

func (c *Console) signInPage(q *request) (*reply, error) {
	next := q.URL.Query().Get("next")
	if q.session != nil {
		return &reply{redirect: q.e.Link(signin.Next(next))}, nil
	}
	data := c.newSignInPage(q, next)
	data.Done = q.word("done.", q.URL.Query().Get("done"), "")
	return q.signInReply(data), nil
}

func (c *Console) newSignInPage(q *request, next string) *signInPage {
	next = signin.Next(next)
	address, _ := url.Parse(next) // Next returns what can be parsed
	data := &signInPage{Next: next, ForApp: address.Path == authorizePath}
	for _, p := range c.SignIn.Providers() {
		values := url.Values{"provider": {p.ID}, "next": {next}}
		data.Providers = append(data.Providers, providerLink{p.Name, "/signin/start?" + values.Encode()})
	}
	return data
}

// signInReply returns the page. It may be in a window that an application opened.
func (q *request) signInReply(data *signInPage) *reply {
	out := q.page("signin", q.e.Text("signin.title"), data)
	out.Popup = true
	return out
}

// startSignIn sends the browser to a provider.
func (c *Console) startSignIn(q *request) (*reply, error) {
	values := q.URL.Query()
	return nil, c.SignIn.Start(q.w, q.Request, values.Get("provider"), values.Get("next"))
}

// finishSignIn is where a provider sends the browser back.
func (c *Console) finishSignIn(q *request) (*reply, error) {
	next, err := c.SignIn.Finish(q.w, q.Request, q.session, q.PathValue("provider"))
	if err != nil {
		return nil, err
	}
	return &reply{redirect: next}, nil
}

// signInByKey signs in the holder of a key. The form is shown again without the key.
func (c *Console) signInByKey(q *request) (*reply, error) {
	next, err := c.SignIn.ByKey(q.w, q.Request, q.session, q.PostForm.Get("key"), q.PostForm.Get("next"))
	switch fault.KindOf(err) {
	case fault.Unauthorized, fault.Forbidden, fault.Invalid:
		data := c.newSignInPage(q, q.PostForm.Get("next"))
		data.Refused = q.messageOf(err)
		out := q.signInReply(data)
		out.Status = http.StatusForbidden
		return out, nil
	case fault.RateLimited:
		data := c.newSignInPage(q, q.PostForm.Get("next"))
		data.Wait = q.w.Header().Get("Retry-After")
		out := q.signInReply(data)
		out.Status = http.StatusTooManyRequests
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	return &reply{redirect: q.e.Link(next)}, nil
}

// signInByDemo signs in who follows the link that the demo has printed. Programs that only
// check the link send HEAD, and must not use it up.
func (c *Console) signInByDemo(q *request) (*reply, error) {
	if q.Method == http.MethodHead {
		return nil, errNoPage
	}
	if err := c.SignIn.ByDemo(q.w, q.Request, q.session, q.URL.Query().Get("once")); err != nil {
		return nil, err
	}
	return &reply{redirect: q.e.Link(signin.FollowingPath)}, nil
}

// signOut ends the session, or all of them.
func (c *Console) signOut(q *request) (*reply, error) {
	if err := c.SignIn.SignOut(q.w, q.Request, q.session, q.PostForm.Get("everywhere") != ""); err != nil {
		return nil, err
	}
	if next := q.PostForm.Get("next"); next != "" { // another person signs in
		return &reply{redirect: q.e.Link("/signin?next=" + url.QueryEscape(signin.Next(next)))}, nil
	}
	return q.back("/signin", "signed-out"), nil
}

// messageOf returns what an error says to people.
func (q *request) messageOf(err error) render.Message {
	doc := problem.Of(err)
	return q.e.Message(doc.Detail, doc.Parts)
}
