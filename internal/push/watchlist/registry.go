package watchlist

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/retry"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// Sealer encrypts secrets in the store.
type Sealer interface {
	Seal(name, text string) string
	Open(name, sealed string) (string, error)
}

// Options are the parameters of a Registry.
type Options struct {
	Store  store.Records
	Sealer Sealer
	// Epoch returns the epoch of the catalogue: after a restored backup, all lists are
	// read again. Nil: see follow.Options.
	Epoch func() string
	// Reach returns the part of its account that a caller may see. Nil: all of it.
	Reach func(access.Principal) access.Reach
	// Serves reports whether an account has access, and the key with which a link was made,
	// if there is one. Links are not served otherwise. Nil: all have.
	Serves func(account, key string) bool
	// Ended reports whether an account ended for good, so that its lists are removed. Nil:
	// none did.
	Ended      func(account string) bool
	MaxLists   int // of an account; 0 for DefaultLists
	MaxEntries int // of a list; 0 for DefaultEntries
	Logger     *slog.Logger
	Audit      func(ctx context.Context, event string, attrs ...slog.Attr)
}

// Registry has the watchlists of all accounts.
type Registry struct {
	o        Options
	log      *slog.Logger
	known    atomic.Pointer[snapshot]
	follower *follow.Follower
}

// New returns a registry without lists. Refresh loads them.
func New(o Options) *Registry {
	if o.Reach == nil {
		o.Reach = func(by access.Principal) access.Reach { return access.WholeAccount(by.ID) }
	}
	if o.Serves == nil {
		o.Serves = func(string, string) bool { return true }
	}
	if o.Ended == nil {
		o.Ended = func(string) bool { return false }
	}
	if o.Audit == nil {
		o.Audit = func(context.Context, string, ...slog.Attr) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.MaxLists = cmp.Or(o.MaxLists, DefaultLists)
	o.MaxEntries = cmp.Or(o.MaxEntries, DefaultEntries)
	r := &Registry{o: o, log: o.Logger}
	r.known.Store(newSnapshot())
	r.follower = follow.New(follow.Options{
		Kind:   kind,
		Noun:   "watchlists",
		Store:  o.Store,
		Apply:  r.apply,
		Epoch:  o.Epoch,
		Logger: o.Logger,
	})
	return r
}

// Limits returns how many lists an account may have, and how many entries a list.
func (r *Registry) Limits() (lists, entries int) { return r.o.MaxLists, r.o.MaxEntries }

// Revision returns the revision of the newest record of a list that this process knows.
func (r *Registry) Revision() int64 { return r.known.Load().revision }

// Refresh loads the lists that were written since the last call.
func (r *Registry) Refresh(ctx context.Context) error { return r.follower.Poll(ctx) }

// Follow keeps the lists up to date until the context ends.
func (r *Registry) Follow(ctx context.Context) error { return r.follower.Run(ctx) }

const (
	endInterval  = time.Minute // how often the lists of accounts that ended are removed
	storeTimeout = 5 * time.Second
)

// Maintain is Follow for the process that also removes the lists of accounts that ended.
func (r *Registry) Maintain(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(func() { retry.Every(ctx, endInterval, r.removeEnded) })
	return r.follower.Run(ctx)
}

// removeEnded removes the lists of accounts that ended for good.
func (r *Registry) removeEnded(ctx context.Context) {
	for account := range r.known.Load().accounts {
		if ctx.Err() != nil || !r.o.Ended(account) {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, storeTimeout)
		err := r.DropAccount(limited, account)
		cancel()
		if err != nil {
			r.log.WarnContext(ctx, "cannot remove the watchlists of a deleted account; will retry", "err", err)
			return
		}
	}
}

// apply adds records to the known lists.
func (r *Registry) apply(ctx context.Context, u follow.Update) {
	next := newSnapshot()
	if !u.Reload {
		next = r.known.Load().clone()
	}
	for _, stored := range u.Records {
		next.revision = stored.Revision
		next.remove(stored.ID)
		if stored.Body == "" {
			continue
		}
		l, err := readRecord(stored)
		if err != nil {
			r.log.ErrorContext(ctx, "cannot read a watchlist: it selects nothing", "watchlist", stored.ID, "err", err)
			continue
		}
		r.open(ctx, l.ID, SharePrefix, l.Share)
		r.open(ctx, l.ID, FeedPrefix, l.Feed)
		next.set(&entry{l, l.entries()})
	}
	r.known.Store(next)
}

// open decrypts the secret of a link. A link whose secret cannot be opened works, but is
// not shown any more.
func (r *Registry) open(ctx context.Context, id, prefix string, l *Link) {
	if l == nil {
		return
	}
	var err error
	if l.Secret, err = r.o.Sealer.Open(sealName(id, prefix), l.sealed); err != nil {
		r.log.ErrorContext(ctx, "cannot decrypt the secret of a link of a watchlist: it is not shown", "watchlist", id,
			"err", err)
	}
}
