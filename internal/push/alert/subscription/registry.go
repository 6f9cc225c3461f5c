package subscription

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"pregon/internal/push/alert"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// Kind is the kind of the records of channels and alerts.
const Kind = "alert"

// Store is the part of the store that channels and alerts need.
type Store interface {
	store.Records
	store.Nonces
	// Newest returns the newest change of the log.
	Newest(ctx context.Context) (int64, error)
	// Fanned returns the change up to which events were matched.
	Fanned(ctx context.Context, to store.Consumer) (int64, error)
	// DropDeliveries removes what waits for a channel.
	DropDeliveries(ctx context.Context, channel string) error
}

// Sealer encrypts addresses and secrets in the store.
type Sealer interface {
	Seal(name, text string) string
	Open(name, sealed string) (string, error)
}

// Senders know the kinds of channels that this service offers.
type Senders interface {
	// Offered returns an empty code if channels of a kind are offered, else why not: off or
	// unconfigured.
	Offered(kind alert.Kind) (code string)
	// Check returns an address as it is stored, and in a form without
	// secrets. The error is for the caller that gave the address.
	Check(ctx context.Context, kind alert.Kind, address string) (normal, shown string, err error)
	// Invites reports whether the address of a channel of a kind is not typed, but known
	// when the person starts a conversation with the service.
	Invites(kind alert.Kind) bool
	// Invite returns the address at which a person starts such a conversation with a token.
	Invite(ctx context.Context, kind alert.Kind, token string) (string, error)
	// Confirm sends the request to confirm a channel, with a link.
	Confirm(ctx context.Context, c alert.Channel, link string) error
	// Test sends a sample.
	Test(ctx context.Context, c alert.Channel) error
}

// Limits are how much an account may have.
type Limits struct {
	Channels int // 0: 10
	Alerts   int // 0: 50
}

// The limits of an account, unless the operator sets others.
const (
	DefaultChannels = 10
	DefaultAlerts   = 50
)

// Options are the parameters of a Registry.
type Options struct {
	Store   Store
	Sealer  Sealer
	Senders Senders
	// Epoch returns the epoch of the catalogue: after a restored backup, all is read again.
	Epoch func() string
	// Access returns the access of an account, with the key with which something of it was
	// made, if there is one. Nil: every account may read everything.
	Access func(account, key string) Access
	// RefreshAccess loads what Access returns, as it is now. Nil: it is always current.
	RefreshAccess func(ctx context.Context) error
	// Ended reports whether an account ended for good, so that what it left is removed. Nil:
	// none did.
	Ended func(account string) bool
	// Link returns the address of a page of the site.
	Link   func(path string) string
	Limits Limits
	Logger *slog.Logger
	Audit  func(ctx context.Context, event string, attrs ...slog.Attr)
}

// Registry has the channels and alerts of all accounts.
type Registry struct {
	o        Options
	log      *slog.Logger
	known    atomic.Pointer[Snapshot]
	follower *follow.Follower
	changed  chan struct{} // has a value after known was replaced
}

// New returns a registry without channels and alerts. Refresh loads them.
func New(o Options) *Registry {
	if o.Access == nil {
		o.Access = everybody
	}
	if o.RefreshAccess == nil {
		o.RefreshAccess = func(context.Context) error { return nil }
	}
	if o.Audit == nil {
		o.Audit = func(context.Context, string, ...slog.Attr) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Limits.Channels == 0 {
		o.Limits.Channels = DefaultChannels
	}
	if o.Limits.Alerts == 0 {
		o.Limits.Alerts = DefaultAlerts
	}
	r := &Registry{
		o:       o,
		log:     o.Logger,
		changed: make(chan struct{}, 1),
	}
	r.follower = follow.New(follow.Options{
		Kind:   Kind,
		Noun:   "alerts",
		Store:  o.Store,
		Apply:  r.apply,
		Epoch:  o.Epoch,
		Logger: r.log,
	})
	r.known.Store(&Snapshot{})
	return r
}

// Known returns the channels and alerts that this process knows.
func (r *Registry) Known() *Snapshot { return r.known.Load() }

// Changed has a value after Known has changed, for one reader.
func (r *Registry) Changed() <-chan struct{} { return r.changed }

// Refresh loads what was written since the last call.
func (r *Registry) Refresh(ctx context.Context) error { return r.follower.Poll(ctx) }

// Follow keeps the channels and alerts up to date until the context ends.
func (r *Registry) Follow(ctx context.Context) error { return r.follower.Run(ctx) }

// apply adds records to the copy in memory.
func (r *Registry) apply(ctx context.Context, u follow.Update) {
	next := r.known.Load().update(u)
	for _, record := range u.Records {
		next.Revision = record.Revision
		next.forget(record.ID)
		if record.Body == "" {
			continue
		}
		if err := next.add(record, r.o.Sealer); err != nil {
			r.log.ErrorContext(ctx, "cannot read a channel or an alert: it gets no messages",
				"alert", record.ID, "err", err)
		}
	}
	r.known.Store(next)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Offer is whether channels of a kind can be made here.
type Offer struct {
	Kind   alert.Kind
	Code   string // why they cannot: off or unconfigured; empty if they can
	Reason string // the same as a sentence
}

// Offers returns all kinds of channels, with the reason if one is not offered.
func (r *Registry) Offers() (all []Offer) {
	for _, k := range alert.Kinds() {
		all = append(all, r.offer(k))
	}
	return all
}

func (r *Registry) offer(k alert.Kind) Offer {
	out := Offer{Kind: k, Code: r.o.Senders.Offered(k)}
	switch out.Code {
	case "":
	case "off":
		out.Reason = "The operator of this service has turned it off."
	default:
		out.Reason = "The operator of this service has not configured it."
	}
	return out
}

// present returns the present time in the precision of records.
func present() time.Time { return time.Now().UTC().Truncate(time.Second) }
