// Package problem tells failures to HTTP clients as RFC 9457 problem
// documents. It is the one place where a kind of failure becomes a status.
package problem

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/text"
)

// RequestIDHeader names the header that carries the id of a request; the
// document repeats it as the instance.
const RequestIDHeader = "X-Request-Id"

// Document is the body of a problem.
type Document struct {
	Type     string  `json:"type"`
	Title    string  `json:"title"`
	Status   int     `json:"status"`
	Detail   string  `json:"detail,omitempty"`
	Code     string  `json:"code,omitempty"` // of OAuth, where it has one
	Instance string  `json:"instance,omitempty"`
	Errors   []Field `json:"errors,omitempty"`
}

// Field is one wrong parameter: its name, the value as it came, and what is
// allowed.
type Field struct {
	Parameter string `json:"parameter"`
	Value     string `json:"value"`
	Reason    string `json:"reason"`
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

// StatusGone is counted for a request whose client hung up before the answer:
// no failure of the service, and nobody reads it. HTTP has no such status; other
// servers count it as this one.
const StatusClientClosed = 499

// Gone reports whether a request failed because its client is gone.
func ClientClosed(r *http.Request, err error) bool {
	return r.Context().Err() != nil && Status(fault.KindOf(err)) >= http.StatusInternalServerError
}

// Status is the status of a kind of failure.
func Status(k fault.Kind) int { return kinds[k].status }

// Write answers with the document of an error. An error that is no fault says
// nothing of what happened inside.
func Write(w http.ResponseWriter, err error) {
	k := kinds[fault.KindOf(err)]
	doc := Document{Type: "urn:pregon:problem:" + k.name, Title: k.title, Status: k.status}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind != fault.Internal {
		doc.Detail, doc.Code = e.Message, e.Code
		for _, f := range e.Fields {
			doc.Errors = append(doc.Errors, Field{Parameter: f.Name, Value: text.Clip(secret.Mask(f.Value), 200), Reason: secret.Mask(f.Reason)})
		}
	} else {
		doc.Detail = "Something went wrong on our side. If it lasts, tell us the id of this request."
	}
	send(w, doc)
}

// WriteStatus answers with a problem of HTTP itself, for which there is no
// kind: a wrong method, a body too large.
func WriteStatus(w http.ResponseWriter, status int, name, detail string) {
	send(w, Document{Type: "urn:pregon:problem:" + name, Title: http.StatusText(status), Status: status, Detail: detail})
}

func send(w http.ResponseWriter, doc Document) {
	h := w.Header()
	doc.Instance, doc.Detail = h.Get(RequestIDHeader), secret.Mask(doc.Detail)
	body, err := json.Marshal(doc)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Del("ETag")
	if h["Retry-After"] == nil && (doc.Status == http.StatusServiceUnavailable || doc.Status == http.StatusTooManyRequests) {
		h.Set("Retry-After", "2")
	}
	w.WriteHeader(doc.Status)
	_, _ = w.Write(body)
}
