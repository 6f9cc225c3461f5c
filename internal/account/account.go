// Package account has the rules about what belongs to an account: its keys, sessions,
// applications, webhooks, watchlists and figures of use, and what operators may do with accounts.
//
// A method takes the caller and a request, and returns the answer as it goes on the
// wire, or a fault. REST decodes and encodes; the console calls the same methods in the
// process and shows the answers as pages. Neither decides anything itself.
//
// What limits a caller from outside is not here, since it needs the connection: the
// limit of a plan, scopes and the number of requests at once. Each surface asks the
// access.Guard for them before it calls a method, with the requirement that need.go has
// for it: rest in API.respond, the console in Console.admit.
//
// Every method that waits for the store bounds the wait, except TestWebhook and Redeliver,
// which end with the request.
package account

import (
	"context"

	"pregon/internal/auth/access"
	accounts "pregon/internal/auth/account"
	"pregon/internal/auth/usage"
	"pregon/internal/fault"
	"pregon/internal/push/alert/channel"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/ticket"
	"pregon/internal/push/watchlist"
	"pregon/internal/push/webhook"
	"pregon/internal/query"
	"pregon/internal/store"
)

// Options are the collaborators of a Service.
type Options struct {
	Query      *query.Service
	Guard      *access.Guard // knows the limits of plans
	Keys       *access.Keyring
	Accounts   *accounts.Accounts
	Webhooks   *webhook.Manager
	Watchlists *watchlist.Registry
	Alerts     *subscription.Registry
	Tickets    *ticket.Registry // of streams
	// Mailbox has the e-mails of alerts, in a demo that shows them instead of sending them.
	// Nil: they are sent.
	Mailbox *channel.Outbox
	// PushKey is the public key that browsers use to subscribe to alerts, or "".
	PushKey string
	Usage   *usage.Counter
	BaseURL string // of the service, without a slash at the end
}

// Service manages accounts.
type Service struct{ o Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// bounded calls fn with a deadline for the store.
func bounded[T any](ctx context.Context, fn func(context.Context) (T, error)) (out T, err error) {
	err = store.Within(ctx, func(ctx context.Context) (err error) {
		out, err = fn(ctx)
		return err
	})
	return out, err
}

// maxID is the length of the longest id of an account in a request, in bytes.
const maxID = 1000

// subject returns the account that a request is about: the caller's own, or the one
// that an operator names. An empty id means the caller's own.
func subject(by access.Principal, id string) (string, error) {
	if len(id) > maxID {
		return "", rejected("owner", id, "may have %d bytes at most", maxID)
	}
	if id == "" || id == by.ID {
		return by.ID, nil
	}
	return id, needOperator(by, "Only operators may name another account. Leave owner out.")
}

// wholeSubject is subject for requests that concern the whole account, which not every
// key may manage. What they concern is in the plural.
func wholeSubject(by access.Principal, id, what string) (string, error) {
	if err := by.CheckWhole(what); err != nil {
		return "", err
	}
	return subject(by, id)
}

// What CheckWhole says that requests concern.
const (
	allSessions     = "Sessions"
	allApplications = "Connected applications"
	allUsage        = "Figures of use"
)

// CheckOperator returns an error unless the caller is an operator. The methods for
// operators call it. A surface that reads a request first calls it before, so that others
// learn nothing about the form of such requests.
func CheckOperator(by access.Principal) error {
	return needOperator(by, "This is for operators of the service.")
}

func needOperator(by access.Principal, message string) error {
	if !by.Operator {
		return fault.New(fault.Forbidden, "%s", message)
	}
	return nil
}

// rejected returns the error for one field that is not valid.
func rejected(name, value, format string, args ...any) error {
	p := query.NewParams(nil)
	p.Reject(name, value, format, args...)
	return p.Err()
}
