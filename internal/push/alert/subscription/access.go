package subscription

import (
	"context"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
)

// Access says whether an account has access, with the key with which something of it was
// made, and what it may read.
type Access struct {
	Gone  string    // why it has none; empty while it has
	Since time.Time // since when, if known
	// Behind is set while the keys are not known as they are now. Nothing is sent then that
	// was made with one.
	Behind bool
	Scope  access.Scope // what may be read
}

// MayRead reports whether an event may be told.
func (a Access) MayRead(event string) bool {
	return events.MayRead(a.Scope, disclosure.Event(event))
}

// Access returns the access of an account, with the key with which a channel or an alert
// of it was made. The key is empty for that of the account alone.
func (r *Registry) Access(account, key string) Access { return r.o.Access(account, key) }

// Serves reports whether messages are sent now to what an account made with a key.
func (r *Registry) Serves(account, key string) bool {
	a := r.Access(account, key)
	return a.Gone == "" && !a.Behind
}

// RefreshAccess loads what decides about access, as it is now.
func (r *Registry) RefreshAccess(ctx context.Context) error { return r.o.RefreshAccess(ctx) }

func everybody(string, string) Access { return Access{Scope: access.AllScopes} }
