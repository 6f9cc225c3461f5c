package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/server/problem"
)

// apiError is a problem that the API answered.
type apiError struct{ problem.Document }

func (e *apiError) Error() string { return fmt.Sprintf("the API answered %d: %s", e.Status, e.Detail) }

// Unwrap returns the problem as the fault that it was.
func (e *apiError) Unwrap() error {
	out := &fault.Error{Kind: fault.Internal, Message: e.Detail, Code: e.Code}
	for kind := fault.Internal; kind <= fault.Unavailable; kind++ {
		if problem.Status(kind) == e.Status {
			out.Kind = kind
		}
	}
	for _, f := range e.Errors {
		out.Fields = append(out.Fields, fault.Field{Name: f.Parameter, Value: f.Value, Reason: f.Reason})
	}
	return out
}

// recorder keeps the response of the API in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// call calls the API for the person who is signed in. in and out are JSON; either may
// be nil.
func (c *Console) call(q *request, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(access.Trusted(q.Context(), q.session.Principal), method, path, &body)
	if err != nil {
		return err
	}
	r.RemoteAddr, r.Host = q.RemoteAddr, q.Host
	r.Header.Set("Content-Type", "application/json")
	r.Header["X-Forwarded-For"] = q.Header["X-Forwarded-For"]
	rec := &recorder{header: http.Header{}}
	rec.header.Set(problem.RequestIDHeader, q.w.Header().Get(problem.RequestIDHeader))
	c.API.ServeHTTP(rec, r)
	if status := cmp.Or(rec.status, http.StatusOK); status >= http.StatusBadRequest {
		failed := &apiError{problem.Document{Status: status}}
		if err := json.Unmarshal(rec.body.Bytes(), &failed.Document); err != nil {
			return fmt.Errorf("the API answered %d without a problem: %w", status, err)
		}
		if after := rec.header.Get("Retry-After"); after != "" {
			q.w.Header().Set("Retry-After", after)
		}
		return failed
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(rec.body.Bytes(), out)
}

// formProblem is why a form was refused.
type formProblem struct {
	Detail string            // in English, as in the API
	Fields map[string]string // reasons by the name of the field
	Rest   []problem.Field   // about what is no field of the form
}

// refusal returns why the API refused a form whose fields have these names, or the
// error if that is nothing that a person can change in the form.
func refusal(err error, fields ...string) (*formProblem, int, error) {
	e, ok := errors.AsType[*apiError](err)
	if !ok || e.Status >= http.StatusInternalServerError || e.Status == http.StatusUnauthorized || e.Status == http.StatusNotFound {
		return nil, 0, err
	}
	out := &formProblem{Detail: e.Detail, Fields: map[string]string{}}
	for _, f := range e.Errors {
		if slices.Contains(fields, f.Parameter) {
			out.Fields[f.Parameter] = f.Reason
		} else {
			out.Rest = append(out.Rest, f)
		}
	}
	return out, e.Status, nil
}

// ownerQuery returns the parameter with which an operator sees what belongs to
// another.
func (q *request) ownerQuery() string {
	if id := q.URL.Query().Get("owner"); id != "" && q.session.Operator {
		return "?owner=" + url.QueryEscape(id)
	}
	return ""
}
