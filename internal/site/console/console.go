// Package console serves the pages of people who are signed in: their keys, webhooks
// and applications, and the page on which they allow an application to act for them.
//
// A page can do nothing that the API cannot. Package account has the rules of both: a
// page calls it as the person whose session it is, and shows what it returns. Every form
// is checked for its origin and its token before anything else, and admit applies the
// limits of the API to every call.
package console

import (
	"embed"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/auth/oauth"
	"pregon/internal/auth/signin"
	"pregon/internal/fault"
	"pregon/internal/query"
	"pregon/internal/site/render"
)

// Options are the collaborators of the console.
type Options struct {
	Site    *render.Renderer // with Part
	SignIn  *signin.Service
	OAuth   *oauth.Server
	Account *account.Service
	Guard   *access.Guard
	Query   *query.Service
	// Reports answers a request for a list of reports, a report with the text of its
	// document, or a search in documents, for a caller whom a session knows. The site has
	// these pages.
	Reports func(w http.ResponseWriter, r *http.Request, by access.Principal)
	BaseURL string // of the service, without a slash at the end
}

// Console serves the pages.
type Console struct{ Options }

// New returns the console.
func New(o Options) *Console { return &Console{o} }

//go:embed templates style assets texts
var files embed.FS

const partName = "console"

// Part returns the templates, texts and files of the console, for the renderer.
func Part() render.Part {
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // a name here is wrong
	}
	return render.Part{
		Name:      partName,
		Templates: templates,
		Texts:     render.MustReadTexts(files),
		Style:     embedded("style/console.css"),
		Script:    embedded("assets/console.js"),
		Section:   render.Section{Text: "nav.account", Path: "/account"},
	}
}

// embedded returns the content of an embedded file.
func embedded(name string) []byte {
	body, err := files.ReadFile(name)
	if err != nil {
		panic(err) // a name here is wrong
	}
	return body
}

// route is one page or form.
type route struct {
	pattern string
	handle  func(*Console, *request) (*reply, error)
	open    bool // also for people who are not signed in
	// linked means that a secret in the address or the form permits the request: it needs
	// no origin and no session.
	linked bool
}

// routes are all pages and forms.
var routes = []route{
	{pattern: "GET /signin", handle: (*Console).signInPage, open: true},
	{pattern: "GET /signin/start", handle: (*Console).startSignIn, open: true},
	{pattern: "GET /signin/callback/{provider}", handle: (*Console).finishSignIn, open: true},
	{pattern: "GET " + signin.DemoPath, handle: (*Console).signInByDemo, open: true},
	{pattern: "POST /signin/key", handle: (*Console).signInByKey, open: true},
	{pattern: "POST /signout", handle: (*Console).signOut},
	{pattern: "GET /account", handle: (*Console).account},
	{pattern: "POST /account/sessions/{id}/end", handle: (*Console).endSession},
	{pattern: "GET /account/export", handle: (*Console).exportAccount},
	{pattern: "POST /account/delete", handle: (*Console).deleteAccount},
	{pattern: "GET /account/keys", handle: (*Console).listKeys},
	{pattern: "POST /account/keys", handle: (*Console).createKey},
	{pattern: "GET /account/keys/{id}", handle: (*Console).showKey},
	{pattern: "POST /account/keys/{id}", handle: (*Console).changeKey},
	{pattern: "POST /account/keys/{id}/rotate", handle: (*Console).rotateKey},
	{pattern: "POST /account/keys/{id}/revoke", handle: (*Console).revokeKey},
	{pattern: "GET /account/webhooks", handle: (*Console).listWebhooks},
	{pattern: "POST /account/webhooks", handle: (*Console).createWebhook},
	{pattern: "GET /account/webhooks/new", handle: (*Console).newWebhook},
	{pattern: "POST /account/webhooks/preview", handle: (*Console).previewWebhook},
	{pattern: "GET /account/webhooks/{id}", handle: (*Console).showWebhook},
	{pattern: "GET /account/webhooks/{id}/edit", handle: (*Console).editWebhook},
	{pattern: "POST /account/webhooks/{id}", handle: (*Console).changeWebhook},
	{pattern: "POST /account/webhooks/{id}/enable", handle: (*Console).enableWebhook},
	{pattern: "POST /account/webhooks/{id}/adopt", handle: (*Console).adoptWebhook},
	{pattern: "POST /account/webhooks/{id}/test", handle: (*Console).testWebhook},
	{pattern: "POST /account/webhooks/{id}/redeliver", handle: (*Console).redeliver},
	{pattern: "POST /account/webhooks/{id}/rotate", handle: (*Console).rotateWebhook},
	{pattern: "POST /account/webhooks/{id}/delete", handle: (*Console).deleteWebhook},
	{pattern: "GET /account/alerts", handle: (*Console).listAlerts},
	{pattern: "POST /account/alerts", handle: (*Console).createAlert},
	{pattern: "POST /account/alerts/{id}", handle: (*Console).changeAlert},
	{pattern: "POST /account/alerts/{id}/delete", handle: (*Console).deleteAlert},
	{pattern: "POST /account/channels", handle: (*Console).createChannel},
	{pattern: "POST /account/channels/{id}", handle: (*Console).changeChannel},
	{pattern: "POST /account/channels/{id}/confirm", handle: (*Console).confirmChannel},
	{pattern: "POST /account/channels/{id}/test", handle: (*Console).testChannel},
	{pattern: "POST /account/channels/{id}/delete", handle: (*Console).deleteChannel},
	{pattern: "GET /account/push-worker.js", handle: (*Console).pushWorker, open: true},
	{pattern: "GET /account/outbox", handle: (*Console).outbox},
	{pattern: "GET /account/following", handle: (*Console).following, open: true},
	{pattern: "POST /account/following", handle: (*Console).followIssuers},
	{pattern: "GET /account/following/list", handle: (*Console).followingReports},
	{pattern: "GET /account/following/live", handle: (*Console).followingReports},
	{pattern: "GET /account/reports/{id}", handle: (*Console).readDocument},
	{pattern: "GET /account/search", handle: (*Console).searchDocuments},
	{pattern: "GET /account/watchlists", handle: (*Console).listWatchlists},
	{pattern: "POST /account/watchlists", handle: (*Console).createWatchlist},
	{pattern: "GET /account/watchlists/save", handle: (*Console).askSearch},
	{pattern: "POST /account/watchlists/save", handle: (*Console).saveSearch},
	{pattern: "GET /account/watchlists/{id}", handle: (*Console).showWatchlist},
	{pattern: "POST /account/watchlists/{id}", handle: (*Console).changeWatchlist},
	{pattern: "GET /account/watchlists/{id}/csv", handle: (*Console).exportWatchlist},
	{pattern: "POST /account/watchlists/{id}/move", handle: (*Console).moveWatchlist},
	{pattern: "POST /account/watchlists/{id}/issuers", handle: (*Console).addIssuer},
	{pattern: "POST /account/watchlists/{id}/remove", handle: (*Console).removeEntry},
	{pattern: "POST /account/watchlists/{id}/import", handle: (*Console).importWatchlist},
	{pattern: "POST /account/watchlists/{id}/link", handle: (*Console).linkList},
	{pattern: "POST /account/watchlists/{id}/delete", handle: (*Console).deleteWatchlist},
	{pattern: "GET /account/apps", handle: (*Console).listApps},
	{pattern: "POST /account/apps/{id}/revoke", handle: (*Console).revokeApp},
	{pattern: "GET /account/owners", handle: (*Console).listAccounts},
	{pattern: "POST /account/owners/block", handle: (*Console).blockAccount},
	{pattern: "GET /alerts/confirm", handle: (*Console).confirmAlertsPage, open: true},
	{pattern: "POST /alerts/confirm", handle: (*Console).confirmAlertsForm, open: true, linked: true},
	{pattern: "GET /alerts/end", handle: (*Console).endAlertsPage, open: true},
	{pattern: "POST /alerts/end", handle: (*Console).endAlertsForm, open: true, linked: true},
	{pattern: "GET /oauth/authorize", handle: (*Console).consentPage, open: true},
	{pattern: "POST /oauth/authorize", handle: (*Console).decide},
}

// Register adds every page to the mux.
func (c *Console) Register(mux *http.ServeMux) {
	for _, rt := range routes {
		mux.Handle(rt.pattern, c.serve(rt))
	}
}

// request is a request for a page.
type request struct {
	*http.Request
	w       http.ResponseWriter
	e       render.Edition
	session *signin.Session // nil when nobody is signed in, on open pages
}

// reply is what a handler returns: a page, or a redirect. It is nil
// if the handler wrote the response.
type reply struct {
	render.Page
	redirect string
}

// maxForm is the size of a form in bytes.
const maxForm = 64 << 10

// serve turns a route into a handler.
func (c *Console) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := &request{Request: r, w: w, e: c.Site.Edition(r)}
		out, err := c.respond(rt, q)
		switch {
		case err != nil:
			q.setRetryAfter(err)
			c.Site.WriteError(w, r, shown(err))
		case out == nil:
		case out.redirect != "":
			w.Header().Set("Cache-Control", "private, no-store")
			http.Redirect(w, r, out.redirect, http.StatusSeeOther)
		default:
			out.Part = partName
			c.Site.WritePage(w, r, out.Page)
		}
	})
}

// respond checks a request and calls its handler.
func (c *Console) respond(rt route, q *request) (*reply, error) {
	if err := access.RefuseInQuery(q.URL.RawQuery); err != nil {
		return nil, err
	}
	q.session = c.SignIn.Session(q.Request)
	form := q.Method == http.MethodPost
	if form {
		q.Body = http.MaxBytesReader(q.w, q.Body, maxForm)
		if err := q.ParseForm(); err != nil {
			return nil, fault.New(fault.Invalid, "The form could not be read, or has more than %d bytes.", maxForm)
		}
		makeValid(q.PostForm)
	}
	if q.session == nil && !rt.open {
		return q.toSignIn(), nil
	}
	if form && !rt.linked {
		session := q.session
		if rt.open {
			session = nil // anonymous forms have no session token
		}
		if err := c.SignIn.CheckForm(q.Request, session); err != nil {
			return nil, err
		}
	}
	return rt.handle(c, q)
}

// makeValid replaces bytes that are no text, as decoding JSON does for the API.
func makeValid(form url.Values) {
	for _, values := range form {
		for i, value := range values {
			values[i] = strings.ToValidUTF8(value, "\uFFFD")
		}
	}
}

// toSignIn sends the browser to the page for signing in, and back here afterwards. A
// form is not sent again.
func (q *request) toSignIn() *reply {
	next := "/account"
	if q.Method == http.MethodGet {
		next = q.URL.RequestURI()
	}
	return &reply{redirect: q.e.Link("/signin?next=" + url.QueryEscape(next))}
}

// frame is what surrounds the content of a page of an account.
type frame struct {
	Session  *signin.Session
	Token    string // of forms
	Tab      string
	Heading  string
	Done     string      // what was done before, or ""
	Other    *accountRow // the account that an operator looks at; nil for the caller's own
	Problem  *formProblem
	OtherArg string // appended to the addresses of forms
}

// Who returns the name of the person who is signed in.
func (f frame) Who() string {
	return nameOf(f.Session.Account.Name, f.Session.Account.Email, f.Session.ID)
}

// nameOf returns the best name of an account.
func nameOf(name, email, id string) string {
	for _, s := range []string{name, email} {
		if s != "" {
			return s
		}
	}
	return id
}

// frame returns the surroundings of a page.
func (q *request) frame(tab string) frame {
	return frame{
		Session: q.session,
		Token:   q.session.Token,
		Tab:     tab,
		Heading: q.e.Text("heading." + tab),
		Done:    q.word("done.", q.URL.Query().Get("done"), ""),
	}
}

// page returns a page.
func (q *request) page(template, title string, data any) *reply {
	return &reply{Page: render.Page{Template: template, Title: title, Data: data}}
}

// back sends the browser to a page after a form, which reports what was done.
func (q *request) back(path, done string) *reply {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return &reply{redirect: q.e.Link(path + separator + "done=" + done)}
}
