package console

import (
	"context"
	"errors"
	"math"
	"net/url"
	"slices"
	"strconv"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/server/problem"
	"pregon/internal/site/render"
)

// operation is a kind of work that a page does for the person who is signed in.
type operation struct {
	need      access.Requirement
	expensive bool // takes one of the few slots for work that takes long
}

// The operations. REST has the same requirements in its table of routes.
var (
	manage         = operation{need: account.ToManage}
	keepWebhooks   = operation{need: account.ToKeepWebhooks}
	readWatchlists = operation{need: account.ToReadWatchlists}
	keepWatchlists = operation{need: account.ToKeepWatchlists}
	importing      = operation{need: account.ToKeepWatchlists, expensive: true}
	keepAlerts     = operation{need: account.ToKeepAlerts}
	sending        = operation{need: account.ToKeepAlerts, expensive: true}
	redelivery     = operation{need: account.ToKeepWebhooks, expensive: true}
	previewing     = operation{need: account.ToPreview, expensive: true}
	suggestNames   = operation{need: account.ToSuggestNames}
)

// admit applies what holds for callers of the API to the person who is signed in, as
// API.respond of package rest does for programs. Here, and nowhere else in the console,
//
//   - an operation counts against the limit of the plan, unless it manages the account,
//   - the scopes of the session are checked,
//   - it is refused while the catalogue is loading, and
//   - it waits for one of the slots of the person, which the caller releases.
//
// Sizes of forms are limited by respond. Neither the pages nor the API count what a
// session does as use of the service.
func (c *Console) admit(q *request, op operation) (access.Slot, error) {
	if err := c.Guard.AdmitSession(q.w, q.Request, q.session.Principal, op.need); err != nil {
		return access.Slot{}, err
	}
	find := c.Query.Snapshot
	if op.need.Account { // keys can be managed before there is data
		find = c.Query.Loaded
	}
	if _, err := find(); err != nil {
		return access.Slot{}, err
	}
	return c.Guard.AcquireSlot(q.Request, q.session.Principal, op.expensive)
}

// do calls fn for the person who is signed in, if that is allowed now.
func do[T any](c *Console, q *request, op operation, fn func(context.Context, access.Principal) (T, error)) (T, error) {
	slot, err := c.admit(q, op)
	if err != nil {
		var none T
		return none, err
	}
	defer slot.Release()
	by := q.session.Principal
	return fn(access.NewContext(q.Context(), by), by)
}

// run is do for work that returns nothing.
func (c *Console) run(q *request, op operation, fn func(context.Context, access.Principal) error) error {
	_, err := do(c, q, op, func(ctx context.Context, by access.Principal) (struct{}, error) {
		return struct{}{}, fn(ctx, by)
	})
	return err
}

// setRetryAfter tells the browser how long to wait if the error says so.
func (q *request) setRetryAfter(err error) {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.RetryAfter > 0 {
		q.w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10))
	}
}

// shown returns an error as pages show it. That of a scope that is missing has no
// challenge, which is for programs.
func shown(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.Forbidden {
		return e
	}
	return err
}

// formProblem is why a form was refused.
type formProblem struct {
	Detail render.Message            // empty if a field or Rest has it
	Fields map[string]render.Message // by the name of the field
	Rest   []otherProblem            // about what is not a field of the form
}

// otherProblem is what is wrong with a part of a request that its form does not have.
type otherProblem struct {
	Parameter string // empty if the message names it
	Message   render.Message
}

// refusal returns why a form whose fields have these names was refused, with the status
// of the page, or the error if that is nothing that a person can change in the form.
func (q *request) refusal(err error, fields ...string) (*formProblem, int, error) {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Forbidden, fault.RateLimited:
	default:
		return nil, 0, err
	}
	q.setRetryAfter(err)
	doc := problem.Of(err)
	out := &formProblem{Fields: map[string]render.Message{}}
	if doc.HasDetail() {
		out.Detail = q.e.Message(doc.Detail, doc.Parts)
	}
	for _, f := range doc.Errors {
		message := q.e.FieldMessage(f)
		switch {
		case slices.Contains(fields, f.Parameter):
			out.Fields[f.Parameter] = message
		case f.Sentence, len(f.Suggestions) > 0:
			out.Rest = append(out.Rest, otherProblem{Message: message})
		default:
			out.Rest = append(out.Rest, otherProblem{Parameter: f.Parameter, Message: message})
		}
	}
	return out, doc.Status, nil
}

// other returns the account of another that an operator looks at, or "".
func (q *request) other() string {
	if !q.session.Operator {
		return ""
	}
	return q.URL.Query().Get("owner")
}

// otherQuery returns the query string with which an operator looks at the account of
// another.
func (q *request) otherQuery() string {
	if id := q.other(); id != "" {
		return "?owner=" + url.QueryEscape(id)
	}
	return ""
}
