package rest

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/account"
	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/push/events"
	"pregon/internal/push/ticket"
	"pregon/internal/query"
	"pregon/internal/store"
)

func (a *API) createStreamTicket(r *http.Request, _ *catalog.Snapshot) (response, error) {
	var asked account.Selection
	if err := readOptional(r, &asked); err != nil {
		return response{}, err
	}
	made, err := a.Account.CreateStreamTicket(r.Context(), caller(r), asked)
	if err != nil {
		return response{}, err
	}
	out, err := encode(made)
	out.status = http.StatusCreated
	return out.warn(made.Warnings), err
}

// ticketName is the parameter with the ticket of a stream.
const ticketName = "ticket"

// besideTicket are the parameters that a stream with a ticket may have. The ticket has the
// others.
var besideTicket = []string{ticketName, "last_event_id", "after"}

// hasTicket reports whether a request has a ticket in place of a credential.
func hasTicket(r *http.Request) bool {
	values, err := url.ParseQuery(r.URL.RawQuery)
	return err == nil && strings.Join(values[ticketName], "") != ""
}

// admit authorizes a request. That for a stream may have a ticket in place of a credential.
func (a *API) admit(w http.ResponseWriter, rt route, r *http.Request) (access.Principal, *ticket.Ticket, error) {
	need := a.needFor(rt, r)
	if rt.stream == nil || !hasTicket(r) {
		principal, err := a.Guard.Admit(w, r, need)
		return principal, nil, err
	}
	var found *ticket.Ticket
	principal, err := a.Guard.AdmitKept(w, r, need, func(ctx context.Context) (by access.Principal, err error) {
		p := query.ParseQuery(r.URL.RawQuery)
		text := p.Text(ticketName)
		if err := p.Err(); err != nil { // there are two
			return access.Principal{}, err
		}
		if found, err = a.Tickets.Find(ctx, text); err != nil {
			return access.Principal{}, err
		}
		return found.Caller, nil
	})
	return principal, found, err
}

// rejectBesideTicket rejects the parameters that the ticket has.
func (a *API) rejectBesideTicket(p *params, given url.Values) {
	for _, name := range a.parameters["streamEvents"] {
		if given.Get(name) != "" && !slices.Contains(besideTicket, name) {
			p.Reject(name, given.Get(name), "cannot be combined with ticket, whose filter and events are fixed: "+
				"leave it out, or create another ticket")
		}
	}
}

// enter takes a place among the open streams of a caller. With a ticket it makes the stream the
// one connection of the ticket, which ends and leaves its place when superseded is closed.
func (a *API) enter(
	r *http.Request,
	by access.Principal,
	t *ticket.Ticket,
) (release func(), superseded <-chan struct{}, err error) {
	acquire := func() (func(), error) { return a.Conns.Acquire(by.ID, events.MaxOpen) }
	if t == nil || r.Method == http.MethodHead { // which opens no stream
		release, err = acquire()
		return release, nil, err
	}
	var c *ticket.Connection
	err = store.Within(r.Context(), func(ctx context.Context) (err error) {
		c, err = a.Tickets.Connect(ctx, t, acquire)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return c.Close, c.Ended(), nil
}

// selectionValues returns the parameters with which the change list has the events of a
// selection.
func selectionValues(s events.Selection) url.Values {
	q := query.NewFilterBody(s.Filter).Values()
	q.Set("events", eventList(s.Names()))
	return q
}
