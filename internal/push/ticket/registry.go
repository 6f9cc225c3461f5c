package ticket

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"pregon/internal/store"
	"pregon/internal/store/follow"
)

// Options are the parameters of a Registry.
type Options struct {
	Store  store.Records
	Epoch  func() string    // see follow.Options
	Now    func() time.Time // the clock; nil: that of the machine
	Logger *slog.Logger
}

// Registry has the tickets of all accounts.
type Registry struct {
	o        Options
	log      *slog.Logger
	follower *follow.Follower

	mu       sync.Mutex
	byID     map[string]*Ticket         // guarded by mu
	byDigest map[string]*Ticket         // guarded by mu
	removed  map[string]int64           // guarded by mu: the revisions of removed records, by id
	open     map[string][]*Connection   // guarded by mu: of this process, by digest
	accounts map[string]map[string]bool // guarded by mu: the ids of the tickets of each account
}

// New returns a registry without tickets. Refresh loads them.
func New(o Options) *Registry {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{
		o:    o,
		log:  o.Logger,
		open: map[string][]*Connection{},
	}
	r.forget()
	r.follower = follow.New(follow.Options{
		Kind:   kind,
		Noun:   "stream tickets",
		Store:  o.Store,
		Apply:  r.apply,
		Epoch:  o.Epoch,
		Logger: o.Logger,
	})
	return r
}

// forget empties the maps of tickets. The caller holds mu, or is New.
func (r *Registry) forget() {
	r.byID = map[string]*Ticket{}
	r.byDigest = map[string]*Ticket{}
	r.removed = map[string]int64{}
	r.accounts = map[string]map[string]bool{}
}

// Refresh loads the tickets that were written since the last call.
func (r *Registry) Refresh(ctx context.Context) error { return r.follower.Poll(ctx) }

// Follow keeps the tickets up to date until the context ends.
func (r *Registry) Follow(ctx context.Context) error { return r.follower.Run(ctx) }

// apply adds records to the known tickets.
func (r *Registry) apply(ctx context.Context, u follow.Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if u.Reload {
		r.forget()
	}
	for _, stored := range u.Records {
		if err := r.set(stored); err != nil {
			r.log.ErrorContext(ctx, "cannot read a stream ticket: it opens nothing", "ticket", stored.ID, "err", err)
		}
	}
}

// set replaces the state of a record, unless the present one is newer. The caller holds mu.
func (r *Registry) set(stored store.Record) error {
	known := r.byID[stored.ID]
	if known != nil && known.revision >= stored.Revision || r.removed[stored.ID] >= stored.Revision {
		return nil
	}
	r.drop(known)
	delete(r.removed, stored.ID)
	if stored.Body == "" {
		r.removed[stored.ID] = stored.Revision
		return nil
	}
	t, err := readRecord(stored)
	if err != nil {
		return err
	}
	r.byID[t.id], r.byDigest[t.digest] = t, t
	if r.accounts[t.Caller.ID] == nil {
		r.accounts[t.Caller.ID] = map[string]bool{}
	}
	r.accounts[t.Caller.ID][t.id] = true
	for _, c := range r.open[t.digest] {
		if c.id != t.connection && c.revision < t.revision {
			c.end()
		}
	}
	return nil
}

// drop removes a ticket from the maps. Its connection stays. The caller holds mu.
func (r *Registry) drop(t *Ticket) {
	if t == nil {
		return
	}
	delete(r.byID, t.id)
	delete(r.byDigest, t.digest)
	delete(r.accounts[t.Caller.ID], t.id)
	if len(r.accounts[t.Caller.ID]) == 0 {
		delete(r.accounts, t.Caller.ID)
	}
}

const (
	removeInterval = time.Minute // how often expired tickets are removed
	removeTimeout  = 5 * time.Second
	maxRemoved     = 500 // tickets in one write
	// removeGrace is how long an expired ticket is kept, since the clocks of processes differ.
	removeGrace = time.Minute
)

// Maintain is Follow for the process that also removes expired tickets.
func (r *Registry) Maintain(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(func() {
		tick := time.NewTicker(removeInterval)
		defer tick.Stop()
		for {
			limited, cancel := context.WithTimeout(ctx, removeTimeout)
			err := r.RemoveExpired(limited)
			cancel()
			if err != nil && ctx.Err() == nil {
				r.log.WarnContext(ctx, "cannot remove expired stream tickets; will retry", "err", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return r.follower.Run(ctx)
}

// RemoveExpired removes the records of tickets that expired a while ago.
func (r *Registry) RemoveExpired(ctx context.Context) error {
	for expired := range slices.Chunk(r.expired(), maxRemoved) {
		written, err := r.o.Store.PutRecords(ctx, nil, expired...)
		if err != nil {
			return err
		}
		r.apply(ctx, follow.Update{Records: written})
	}
	return nil
}

// expired returns the records that remove expired tickets.
func (r *Registry) expired() (out []store.Record) {
	before := r.o.Now().Add(-removeGrace)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byID {
		if t.Expires().Before(before) {
			out = append(out, store.Record{Kind: kind, ID: t.id, Revision: t.revision})
		}
	}
	return out
}
