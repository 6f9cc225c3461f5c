// Package problem writes errors as RFC 9457 problem documents. It alone maps kinds of
// faults to HTTP statuses.
package problem

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"pregon/internal/fault"
	"pregon/internal/text"
	"pregon/internal/text/mask"
)

// RequestIDHeader is the header of the request id; problem documents repeat it as
// instance.
const RequestIDHeader = "X-Request-Id"

// Document is the body of a problem.
type Document struct {
	Type     string  `json:"type"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail,omitempty"`
	Code     string  `json:"code,omitempty"` // OAuth error code, if any
	Instance string  `json:"instance,omitempty"`
	Errors   []Field `json:"errors,omitempty"`

	// Parts are those of Detail, for pages in other languages.
	Parts fault.Text `json:"-"`
}

// Field is an invalid parameter with its value and the reason.
type Field struct {
	Parameter string `json:"parameter"`
	Value     string `json:"value"`
	Reason    string `json:"reason"`
	// Suggestions are values that are accepted and may be meant, the best first.
	Suggestions []string `json:"suggestions,omitempty"`

	Parts    fault.Text `json:"-"` // of Reason
	Sentence bool       `json:"-"` // see fault.Field
}

var kinds = map[fault.Kind]struct {
	status int
	name   string
	title  string
}{
	fault.Internal:     {http.StatusInternalServerError, "internal", "Internal error"},
	fault.Invalid:      {http.StatusBadRequest, "invalid", "Invalid request"},
	fault.NotFound:     {http.StatusNotFound, "not-found", "Not found"},
	fault.Conflict:     {http.StatusConflict, "conflict", "Conflict"},
	fault.Unauthorized: {http.StatusUnauthorized, "unauthorized", "Unauthorized"},
	fault.Forbidden:    {http.StatusForbidden, "forbidden", "Forbidden"},
	fault.RateLimited:  {http.StatusTooManyRequests, "rate-limited", "Too many requests"},
	fault.Unavailable:  {http.StatusServiceUnavailable, "unavailable", "Unavailable"},
}

// StatusClientClosed is counted for requests whose client disconnected before the
// response. It is not a failure of the service. HTTP has no such status; nginx uses
// the same.
const StatusClientClosed = 499

// ClientClosed reports whether a request failed because its client disconnected.
func ClientClosed(r *http.Request, err error) bool {
	return r.Context().Err() != nil && Status(fault.KindOf(err)) >= http.StatusInternalServerError
}

// Status returns the HTTP status of a kind.
func Status(k fault.Kind) int { return kinds[k].status }

// Of returns the document of an error. For an error that is not a fault it reveals
// no details.
func Of(err error) Document {
	k := kinds[fault.KindOf(err)]
	doc := Document{Type: "urn:pregon:problem:" + k.name, Title: k.title, Status: k.status}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind != fault.Internal {
		doc.Detail = mask.Credentials(e.Message)
		doc.Code = e.Code
		doc.Parts = e.Text
		for _, f := range e.Fields {
			doc.Errors = append(doc.Errors, Field{
				Parameter:   f.Name,
				Value:       text.Clip(mask.Credentials(f.Value), 200),
				Reason:      mask.Credentials(f.Reason),
				Suggestions: f.Suggestions,
				Parts:       f.Text,
				Sentence:    f.Sentence,
			})
		}
	} else {
		doc.Detail = "Something went wrong on our side. If it happens again, send us the id of this request."
	}
	return doc
}

// HasDetail reports whether Detail says more than Errors: without parts of its own it is made of
// them.
func (d Document) HasDetail() bool { return len(d.Errors) == 0 || d.Parts.Format != "" }

// OfStatus returns the document of an HTTP error for which there is no kind, such as
// a wrong method.
func OfStatus(status int, name, format string, args ...any) Document {
	parts := fault.Text{Format: format, Args: args}
	return Document{
		Type:   "urn:pregon:problem:" + name,
		Title:  http.StatusText(status),
		Status: status,
		Detail: mask.Credentials(parts.String()),
		Parts:  parts,
	}
}

// Write writes the document of an error.
func Write(w http.ResponseWriter, err error) { Of(err).Write(w) }

// Write writes the document with the id of the request.
func (d Document) Write(w http.ResponseWriter) {
	h := w.Header()
	d.SetHeader(h)
	d.Instance = h.Get(RequestIDHeader)
	body, err := json.Marshal(d)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(d.Status)
	_, _ = w.Write(body)
}

// SetHeader sets the headers of an error in any format, and removes those of the
// response that it replaces.
func (d Document) SetHeader(h http.Header) {
	for _, name := range []string{"ETag", "Content-Length", "Content-Encoding", "Content-Disposition"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	if h["Retry-After"] == nil && (d.Status == http.StatusServiceUnavailable ||
		d.Status == http.StatusTooManyRequests) {
		h.Set("Retry-After", "2")
	}
}

// Park excludes a request that will wait from the requests in work, if the server
// counts them. It finds the server's ResponseWriter below those that wrap it.
func Park(w http.ResponseWriter) {
	for w != nil {
		if p, ok := w.(interface{ Park() }); ok {
			p.Park()
			return
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = inner.Unwrap()
	}
}
