package ticket

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/push/events"
	"pregon/internal/store"
	"pregon/internal/store/follow"
)

const (
	idLength = 16
	// attempts is how often a write is tried while other processes write the same record.
	attempts = 5
)

func (r *Registry) now() time.Time { return r.o.Now().UTC().Truncate(time.Microsecond) }

// Create returns a new ticket of a caller for a selection, and its text, which cannot be read
// again.
func (r *Registry) Create(
	ctx context.Context,
	by access.Principal,
	selection events.Selection,
) (*Ticket, string, error) {
	text := newText()
	t := &Ticket{
		Caller:    by,
		Selection: selection,
		CreatedAt: r.now(),
		digest:    digestOf(text),
	}
	for range attempts {
		if err := r.Refresh(ctx); err != nil {
			return nil, "", err
		}
		if r.openOf(by.ID) >= MaxOpen {
			return nil, "", &fault.Error{
				Kind: fault.RateLimited,
				Message: fmt.Sprintf("The account has %d stream tickets that have not expired. A ticket ends a minute "+
					"after its creation, or 15 minutes after its first use: try again in a minute.", MaxOpen),
				RetryAfter: FirstUse,
			}
		}
		t.id, t.revision = r.freeID()
		err := r.put(ctx, t)
		if err == nil {
			return t, text, nil
		}
		if fault.KindOf(err) != fault.Conflict { // otherwise another process has used the id
			return nil, "", err
		}
	}
	return nil, "", busy()
}

// busy is the error of a write that other processes were faster with, again and again.
func busy() error {
	return fault.New(fault.Unavailable, "The stream ticket cannot be written now. Try again in a few seconds.")
}

// openOf returns how many tickets of an account have not expired.
func (r *Registry) openOf(account string) (n int) {
	now := r.o.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.accounts[account] {
		if now.Before(r.byID[id].Expires()) {
			n++
		}
	}
	return n
}

// freeID returns the id of a removed record and its revision, or else a new id.
func (r *Registry) freeID() (id string, revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, revision := range r.removed {
		return id, revision
	}
	return secret.RandomText(idLength), 0
}

// put writes a ticket.
func (r *Registry) put(ctx context.Context, t *Ticket) error {
	asked, err := t.record()
	if err != nil {
		return err
	}
	written, err := store.PutRecord(ctx, r.o.Store, asked)
	if err != nil {
		return err
	}
	t.revision = written.Revision
	r.apply(ctx, follow.Update{Records: []store.Record{written}})
	return nil
}

// Find returns the ticket with a text. The error says why there is none that can be used; it is
// Unavailable if that is not known now.
func (r *Registry) Find(ctx context.Context, text string) (*Ticket, error) {
	if !wellFormed(text) {
		return nil, errors.New("this is not a stream ticket, or it was not copied whole")
	}
	digest := digestOf(text)
	t := r.known(digest)
	if t == nil {
		err := r.follower.Wake(ctx) // it may be new
		if t = r.known(digest); t == nil && err != nil {
			return nil, fault.Wrap(fault.Unavailable, err,
				"The stream ticket cannot be looked up now. Try again in a few seconds.")
		}
	}
	switch {
	case t == nil:
		return nil, errors.New("there is no such stream ticket, or it has expired: create another one")
	case r.o.Now().Before(t.Expires()):
		return t, nil
	case t.UsedAt.IsZero():
		return nil, errors.New("this stream ticket has expired, since it was not used within a minute of its " +
			"creation: create another one")
	}
	return nil, errors.New("this stream ticket has expired, since it was used first more than 15 minutes ago: " +
		"create another one")
}

func (r *Registry) known(digest string) *Ticket {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byDigest[digest]
}

// Connection is the stream that a ticket has opened.
type Connection struct {
	registry *Registry
	digest   string
	id       string
	revision int64
	ended    chan struct{}
	end      func() // closes ended, once
	release  func() // leaves the place among the open streams, once
}

// Ended is closed when a newer connection was opened with the ticket. The connection then has
// left its place.
func (c *Connection) Ended() <-chan struct{} { return c.ended }

// Close leaves the place of the connection. The ticket stays as it is.
func (c *Connection) Close() {
	c.release()
	r := c.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.open[c.digest], func(other *Connection) bool { return other == c })
	if len(left) == 0 {
		delete(r.open, c.digest)
	} else {
		r.open[c.digest] = left
	}
}

// Connect ends the connection of a ticket that was found, and opens another one. It ends that in
// this process before it calls acquire, so that there is a place for the new one; that of
// another process ends within a second. The caller closes the connection. The functions must
// not call the registry.
func (r *Registry) Connect(ctx context.Context, t *Ticket, acquire func() (release func(), err error)) (
	*Connection, error,
) {
	c := &Connection{
		registry: r,
		digest:   t.digest,
		id:       secret.RandomText(idLength),
		ended:    make(chan struct{}),
	}
	if err := r.use(ctx, t, c); err != nil {
		return nil, err
	}
	release, err := acquire()
	if err != nil {
		return nil, err
	}
	c.release = sync.OnceFunc(release)
	c.end = sync.OnceFunc(func() {
		c.release()
		close(c.ended)
	})
	r.add(c)
	return c, nil
}

// use records that a connection is the newest one of a ticket.
func (r *Registry) use(ctx context.Context, t *Ticket, c *Connection) error {
	for range attempts {
		next := *t
		next.connection = c.id
		if next.UsedAt.IsZero() {
			next.UsedAt = r.now()
		}
		err := r.put(ctx, &next)
		if err == nil {
			c.revision = next.revision
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
		if err := r.Refresh(ctx); err != nil { // another connection was opened
			return err
		}
		if t = r.known(c.digest); t == nil {
			return fault.New(fault.Unauthorized, "The stream ticket has expired. Create another one.")
		}
	}
	return busy()
}

// add makes a connection the one that a newer one ends. It ends at once if there is a newer one.
func (r *Registry) add(c *Connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c.digest] = append(r.open[c.digest], c)
	if t := r.byDigest[c.digest]; t != nil && t.connection != c.id && t.revision > c.revision {
		c.end()
	}
}
