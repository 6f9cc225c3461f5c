package subscription

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/push/events"
	"pregon/internal/retry"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// storeTimeout bounds what is read or written in the background.
const storeTimeout = 5 * time.Second

// Store is the part of the store that webhooks need.
type Store interface {
	store.Records
	store.Usage
	// Newest returns the newest change of the log.
	Newest(ctx context.Context) (int64, error)
	// Fanned returns the change up to which deliveries were created.
	Fanned(ctx context.Context, of store.Consumer) (int64, error)
	// DropDeliveries removes the deliveries of a webhook.
	DropDeliveries(ctx context.Context, webhook string) error
}

// Lists are the watchlists of accounts; watchlist.Registry is one.
type Lists interface {
	events.Lists
	// Revision returns the revision of the newest list that Entries knows.
	Revision() int64
	Refresh(ctx context.Context) error
}

// Options are the parameters of a Registry.
type Options struct {
	Store  Store
	Sealer Sealer
	// Epoch returns the epoch of the catalogue: after a restored backup, all webhooks are
	// read again. Nil: see follow.Options.
	Epoch        func() string
	AllowPrivate bool          // receivers may have any address and use plain http
	Resolver     *net.Resolver // of the addresses of new webhooks; nil: that of the system
	// AccountStatus returns the status of an account. While it is gone, deliveries
	// are kept but not sent. Nil: every account is served.
	AccountStatus func(account string) AccountStatus
	// Lists has the watchlists of accounts. Nil: a filter with one selects nothing.
	Lists Lists
	// Keys knows the keys with which webhooks were made. While one is not valid, its
	// webhooks are treated as those of a gone account. Nil: every key is valid.
	Keys Keys
	// AccountTimeout is the time without use after which the subject of a token
	// counts as gone. 0: never.
	AccountTimeout time.Duration
	Logger         *slog.Logger
	Audit          func(ctx context.Context, event string, attrs ...slog.Attr)
}

// Registry has the webhooks of all accounts.
type Registry struct {
	o        Options
	log      *slog.Logger
	accounts *accounts

	known    atomic.Pointer[Snapshot]
	follower *follow.Follower
	removed  removed
	changed  chan struct{} // has a value after known was replaced
}

// New returns a registry without webhooks. Refresh loads them.
func New(o Options) *Registry {
	if o.AccountStatus == nil {
		o.AccountStatus = func(string) AccountStatus { return AccountStatus{Scope: access.AllScopes} }
	}
	if o.Audit == nil {
		o.Audit = func(context.Context, string, ...slog.Attr) {}
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{
		o:        o,
		log:      o.Logger,
		accounts: newAccounts(o),
		changed:  make(chan struct{}, 1),
	}
	r.follower = follow.New(follow.Options{
		Kind:   kind,
		Noun:   "webhooks",
		Store:  o.Store,
		Apply:  r.apply,
		Epoch:  o.Epoch,
		Logger: r.log,
	})
	r.known.Store(&Snapshot{})
	return r
}

// Known returns the webhooks that this process knows.
func (r *Registry) Known() *Snapshot { return r.known.Load() }

// Changed has a value after Known has changed, for one reader.
func (r *Registry) Changed() <-chan struct{} { return r.changed }

// Refresh loads the webhooks that were written since the last call.
func (r *Registry) Refresh(ctx context.Context) error { return r.follower.Poll(ctx) }

// Follow keeps the webhooks up to date until the context ends, in a process that
// manages them but leaves deliveries to others.
func (r *Registry) Follow(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(func() { retry.Every(ctx, accountsInterval, func(ctx context.Context) { r.syncAccounts(ctx) }) })
	return r.follower.Run(ctx)
}

// Maintain is Follow for a process that delivers. It also disables webhooks whose filters
// are too long, and ends those of accounts that are gone.
func (r *Registry) Maintain(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(func() { retry.Every(ctx, refuseInterval, r.refuseFilters) })
	loops.Go(func() { retry.Every(ctx, accountsInterval, r.endGone) })
	return r.follower.Run(ctx)
}

// apply adds records to the known webhooks.
func (r *Registry) apply(ctx context.Context, u follow.Update) {
	next := r.known.Load().update(u)
	for _, record := range u.Records {
		next.Revision = record.Revision
		delete(next.Hooks, record.ID)
		r.removed.set(record.ID, record.Body == "")
		if record.Body == "" {
			continue
		}
		w, err := readRecord(record)
		if err != nil {
			r.log.ErrorContext(ctx, "cannot read a webhook: it gets no deliveries", "webhook", record.ID, "err", err)
			continue
		}
		next.Hooks[record.ID] = r.compile(ctx, w)
	}
	next.indexAccounts()
	r.known.Store(next)
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// compile returns a webhook with its compiled filter and its decrypted secrets.
func (r *Registry) compile(ctx context.Context, w Webhook) *Hook {
	h := &Hook{Webhook: w}
	if h.filterError = events.FilterError(w.Filter).String(); h.filterError == "" {
		h.selector = w.Selection().Compile(r.o.Lists)
	}
	var err error
	if h.signing, err = openSecrets(&w, r.o.Sealer); err != nil {
		r.log.ErrorContext(ctx, "cannot decrypt a secret of a webhook: it does not sign", "webhook", w.ID, "err", err)
	}
	return h
}

// Removed returns the webhooks that were removed and may still have deliveries.
func (r *Registry) Removed() []string { return r.removed.list() }

// Cleared records that removed webhooks have no deliveries any more.
func (r *Registry) Cleared(ids ...string) {
	for _, id := range ids {
		r.removed.set(id, false)
	}
}

// removed is a set of the webhooks that were removed and may still have deliveries. They
// are added by the goroutine that follows the store, and taken by the one that removes
// deliveries.
type removed struct {
	// mu guards ids. It is held for one operation on the map, never during a call of the
	// store, so that neither goroutine delays the other.
	mu  sync.Mutex
	ids map[string]struct{}
}

// set adds a webhook, or removes it: it has no deliveries any more, or is present again
// after a backup was restored.
func (s *removed) set(id string, removed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !removed {
		delete(s.ids, id)
		return
	}
	if s.ids == nil {
		s.ids = map[string]struct{}{}
	}
	s.ids[id] = struct{}{}
}

func (s *removed) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.ids))
}
