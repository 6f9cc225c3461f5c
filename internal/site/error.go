package site

import (
	"net/http"
	"strconv"
	"strings"

	"pregon/internal/fault"
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
func (q *request) unknownNames(d problem.Document) (out []unknownName) {
	for _, f := range d.Errors {
		if len(f.Suggestions) == 0 {
			return nil
		}
		one := unknownName{Text: q.edition.Text("unknown."+f.Parameter, f.Value)}
		for _, value := range f.Suggestions {
			one.Choices = append(one.Choices, choice{Text: q.suggestion(f.Parameter, value), URL: q.instead(f.Parameter, value)})
		}
		out = append(out, one)
	}
	return out
}

// suggestion returns a suggestion as people know it: an issuer by its name.
func (q *request) suggestion(parameter, value string) string {
	if parameter == "issuer" && q.snapshot != nil {
		if e, ok := q.snapshot.Issuer(value); ok {
			return e.Issuer.Name
		}
	}
	return value
}

// instead returns the address of the request with another value of a parameter.
func (q *request) instead(parameter, value string) string {
	values := q.URL.Query()
	values.Del("page")
	values.Set(parameter, value)
	return q.URL.EscapedPath() + "?" + values.Encode()
}

// writeError writes an error, as a page for browsers and as a problem for programs.
func (s *Site) writeError(w http.ResponseWriter, q *request, err error) {
	if problem.ClientClosed(q.Request, err) {
		w.WriteHeader(problem.StatusClientClosed)
		return
	}
	if fault.KindOf(err) == fault.Internal {
		s.Logger.ErrorContext(q.Context(), "a page failed", "request_id", w.Header().Get(problem.RequestIDHeader), "route", q.Pattern, "err", err)
	}
	s.Guard.Challenge(w.Header(), err)
	if !prefersHTML(q.Request) {
		w.Header().Add("Vary", "Accept")
		problem.Of(err).Write(w)
		return
	}
	s.writeProblem(w, q, problem.Of(err))
}

// writeProblem writes a problem as a page. While the first data is loading, the page
// says so and reloads itself.
func (s *Site) writeProblem(w http.ResponseWriter, q *request, d problem.Document) {
	e := q.edition
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
	if data.Unknown = q.unknownNames(d); data.Unknown != nil {
		data.Detail, data.Fields = "", nil
	}
	if key := "error." + status + ".do"; e.Known(key) {
		data.Advice = e.Text(key)
	}
	p := &page{
		template: "error",
		status:   d.Status,
		Title:    data.Heading,
		Data:     data,
		noIndex:  true,
	}
	if d.Status == http.StatusServiceUnavailable {
		if q.Method == http.MethodGet || q.Method == http.MethodHead { // a form would not be sent again
			w.Header().Set("Refresh", "2") // browsers reload the page
		}
		if _, err := s.Query.Snapshot(); err != nil {
			p.Title = e.Text("loading.title")
			data.Heading = e.Text("loading.title")
			data.Advice = e.Text("loading.text")
		}
	}
	d.SetHeader(w.Header())
	out, err := s.execute(q, p)
	if err != nil {
		s.Logger.ErrorContext(q.Context(), "the page of an error failed", "err", err)
		d.Write(w)
		return
	}
	out.write(w, q.Request, true)
}

// ErrorPage writes a problem as a page if the request is that of a browser for a
// page, and reports whether it did.
func (s *Site) ErrorPage(w http.ResponseWriter, r *http.Request, d problem.Document) bool {
	if !prefersHTML(r) || strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/.well-known/") {
		return false
	}
	s.writeProblem(w, &request{Request: r, edition: s.Edition(r)}, d)
	return true
}

var errNoPage = fault.New(fault.NotFound, "There is nothing at this path.")

// NotFound writes the page for an address without a page.
func (s *Site) NotFound(w http.ResponseWriter, r *http.Request) {
	s.writeProblem(w, &request{Request: r, edition: s.Edition(r)}, problem.Of(errNoPage))
}
