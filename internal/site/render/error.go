package render

import (
	"net/http"
	"strconv"
	"strings"

	"pregon/internal/fault"
	"pregon/internal/server/content"
	"pregon/internal/server/problem"
)

// errorPage is the page of an error.
type errorPage struct {
	Status  int
	Heading string
	Advice  string // what to do
	Detail  string // what was wrong, in English as in the API
	Fields  []problem.Field
	Unknown []unknownName // instead of Detail and Fields
	ID      string        // of the request
}

// unknownName is a value of a filter that names nothing.
type unknownName struct {
	Text    string
	Choices []choice // what may be meant, with the same page for it
}

// unknownNames returns the values of a problem that name nothing, or nil if anything
// else is wrong too.
func (r *Renderer) unknownNames(q Request, d problem.Document) (out []unknownName) {
	for _, f := range d.Errors {
		if len(f.Suggestions) == 0 {
			return nil
		}
		one := unknownName{Text: q.Edition.Text("unknown."+f.Parameter, f.Value)}
		for _, value := range f.Suggestions {
			one.Choices = append(one.Choices,
				choice{Text: r.suggestion(q.Edition, f.Parameter, value), URL: q.instead(f.Parameter, value)})
		}
		out = append(out, one)
	}
	return out
}

// suggestion returns a suggestion as people know it: an issuer by its name, a category
// in the language of the page.
func (r *Renderer) suggestion(e Edition, parameter, value string) string {
	switch parameter {
	case "issuer":
	case "category":
		return e.Category(value)
	default:
		return value
	}
	snapshot, err := r.Query.Snapshot()
	if err != nil { // nothing is loaded yet
		return value
	}
	if e, ok := snapshot.Issuer(value); ok {
		return e.Issuer.Name
	}
	return value
}

// instead returns the address of the request with another value of a parameter.
func (q Request) instead(parameter, value string) string {
	values := q.URL.Query()
	values.Del("page")
	values.Set(parameter, value)
	return q.URL.EscapedPath() + "?" + values.Encode()
}

// Fail writes an error, as a page for browsers and as a problem for programs.
func (r *Renderer) Fail(w http.ResponseWriter, q Request, err error) {
	if problem.ClientClosed(q.Request, err) {
		w.WriteHeader(problem.StatusClientClosed)
		return
	}
	if fault.KindOf(err) == fault.Internal {
		r.Logger.ErrorContext(q.Context(), "a page failed", "request_id",
			w.Header().Get(problem.RequestIDHeader), "route", q.Pattern, "err", err)
	}
	r.Guard.Challenge(w.Header(), err)
	if !PrefersHTML(q.Request) {
		w.Header().Add("Vary", "Accept")
		problem.Of(err).Write(w)
		return
	}
	r.writeProblem(w, q, problem.Of(err))
}

// writeProblem writes a problem as a page. While the first data is loading, the page
// says so and reloads itself.
func (r *Renderer) writeProblem(w http.ResponseWriter, q Request, d problem.Document) {
	e := q.Edition
	status := strconv.Itoa(d.Status)
	data := &errorPage{
		Status: d.Status,
		Detail: d.Detail,
		Fields: d.Errors,
		ID:     w.Header().Get(problem.RequestIDHeader),
	}
	data.Heading = e.Text("error.other")
	if key := "error." + status; e.Known(key) {
		data.Heading = e.Text(key)
	}
	if data.Unknown = r.unknownNames(q, d); data.Unknown != nil {
		data.Detail, data.Fields = "", nil
	}
	if key := "error." + status + ".do"; e.Known(key) {
		data.Advice = e.Text(key)
	}
	p := &Page{
		Template: "error",
		Status:   d.Status,
		Title:    data.Heading,
		Data:     data,
		NoIndex:  true,
	}
	if d.Status == http.StatusServiceUnavailable {
		if q.Method == http.MethodGet || q.Method == http.MethodHead { // a form would not be sent again
			w.Header().Set("Refresh", "2") // browsers reload the page
		}
		if _, err := r.Query.Snapshot(); err != nil {
			p.Title = e.Text("loading.title")
			data.Heading = e.Text("loading.title")
			data.Advice = e.Text("loading.text")
		}
	}
	d.SetHeader(w.Header())
	out, err := r.Render(q, p)
	if err != nil {
		r.Logger.ErrorContext(q.Context(), "the page of an error failed", "err", err)
		d.Write(w)
		return
	}
	out.Write(w, q.Request, true)
}

// ErrorPage writes a problem as a page if the request is that of a browser for a
// page, and reports whether it did.
func (r *Renderer) ErrorPage(w http.ResponseWriter, req *http.Request, d problem.Document) bool {
	if !PrefersHTML(req) || strings.HasPrefix(req.URL.Path, "/api/") ||
		strings.HasPrefix(req.URL.Path, "/.well-known/") {
		return false
	}
	r.writeProblem(w, Request{Request: req, Edition: r.Edition(req)}, d)
	return true
}

// ErrNoPage is the error for an address without a page.
var ErrNoPage = fault.New(fault.NotFound, "There is nothing at this path.")

// PrefersHTML reports whether a request prefers HTML to what programs get. Browsers
// name it, programs do not.
func PrefersHTML(r *http.Request) bool {
	return content.Preferred(r.Header.Values("Accept"), "application/json", "text/html", "text/markdown") == 1
}

// NotFound writes the page for an address without a page.
func (r *Renderer) NotFound(w http.ResponseWriter, req *http.Request) {
	r.writeProblem(w, Request{Request: req, Edition: r.Edition(req)}, problem.Of(ErrNoPage))
}
