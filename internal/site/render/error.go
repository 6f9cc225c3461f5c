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
	Advice  string  // what to do
	Detail  Message // what was wrong, if it is not in Fields
	Fields  []wrongField
	ID      string // of the request
}

// wrongField is a parameter that is not valid.
type wrongField struct {
	Parameter string // empty if the message names it
	Value     string
	Message   Message
	Choices   []choice // what may be meant, with the same page for it
}

// wrongFields returns the parameters of a problem.
func (r *Renderer) wrongFields(q Request, d problem.Document) (out []wrongField) {
	for _, f := range d.Errors {
		one := wrongField{Message: q.Edition.FieldMessage(f)}
		if !q.Edition.isWhole(f) {
			one.Parameter = f.Parameter
			one.Value = f.Value
		}
		for _, value := range f.Suggestions {
			one.Choices = append(one.Choices,
				choice{Text: r.suggestion(q.Edition, f.Parameter, value), URL: q.instead(f, value)})
		}
		out = append(out, one)
	}
	return out
}

// unknownKey is the key of the sentence that a value of a parameter names nothing, or empty.
func (e Edition) unknownKey(f problem.Field) string {
	key := "unknown." + f.Parameter
	if (f.Sentence || len(f.Suggestions) > 0) && e.Known(key) {
		return key
	}
	return ""
}

// isWhole reports whether FieldMessage returns a sentence, which names the parameter.
// Otherwise the message continues that name.
func (e Edition) isWhole(f problem.Field) bool { return f.Sentence || e.unknownKey(f) != "" }

// FieldMessage returns what is wrong with a parameter, as a sentence or as a part of one.
func (e Edition) FieldMessage(f problem.Field) Message {
	key := e.unknownKey(f)
	if key == "" {
		return e.Message(f.Reason, f.Parts)
	}
	worded := e.Text(key, f.Value)
	if len(f.Suggestions) > 0 {
		worded += " " + e.Text("unknown.meant")
	}
	return Message{Text: worded}
}

// suggestion returns a suggestion as people know it: an issuer by its name, a category
// in the language of the page.
func (r *Renderer) suggestion(e Edition, parameter, value string) string {
	switch parameter {
	case "issuer":
	case "category":
		return e.Category(value)
	case "sector":
		return e.Sector(value)
	case "fact":
		return e.Text("factkind." + value)
	case "kind": // of dates
		return e.Text("calendarkind." + value)
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

// instead returns the address of the request with another value in place of a wrong one. That
// may be one of several in its parameter.
func (q Request) instead(wrong problem.Field, value string) string {
	values := q.URL.Query()
	values.Del("page")
	if all := values.Get(wrong.Parameter); wrong.Value != "" && strings.Contains(all, wrong.Value) {
		value = strings.Replace(all, wrong.Value, value, 1)
	}
	values.Set(wrong.Parameter, value)
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
		Fields: r.wrongFields(q, d),
		ID:     w.Header().Get(problem.RequestIDHeader),
	}
	data.Heading = e.Text("error.other")
	if key := "error." + status; e.Known(key) {
		data.Heading = e.Text(key)
	}
	// The messages about loads and failures, and about addresses without a page, are for programs:
	// the advice says it all.
	forPeople := d.Status < http.StatusInternalServerError && d.Status != http.StatusTooManyRequests &&
		!strings.HasPrefix(d.Parts.Format, ErrNoPage.Message)
	if d.HasDetail() && forPeople {
		data.Detail = e.Message(d.Detail, d.Parts)
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
