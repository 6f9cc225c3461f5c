package watchlist

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"pregon/internal/auth/access"
	"pregon/internal/auth/secret"
	"pregon/internal/fault"
	"pregon/internal/store"
)

const (
	idPrefix = "wl_"
	idLength = 16
)

func newID() string { return idPrefix + secret.RandomText(idLength) }

// orderStep is the distance between the orders of lists that follow each other, so that a
// list can be moved between two others without changing them.
const orderStep = 1 << 16

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// Create adds a list after all others of the account.
func (r *Registry) Create(ctx context.Context, by access.Reach, d Draft) (List, error) {
	account := by.Account()
	d = d.clone()
	if err := r.check(&d, 0); err != nil {
		return List{}, err
	}
	if err := r.Refresh(ctx); err != nil {
		return List{}, err
	}
	if len(r.known.Load().accounts[account]) >= r.o.MaxLists {
		return List{}, r.tooMany()
	}
	if err := r.checkSearchesOf(account, "", &d, 0); err != nil {
		return List{}, err
	}
	at := now()
	l := List{
		ID:        newID(),
		Account:   account,
		Key:       by.Maker(),
		Draft:     d,
		Order:     r.lastOrder(account) + orderStep,
		CreatedAt: at,
		UpdatedAt: at,
	}
	l, err := r.put(ctx, l)
	if err != nil {
		return List{}, err
	}
	if len(r.known.Load().accounts[account]) > r.o.MaxLists { // others were created at the same time
		if err := r.remove(ctx, l); err != nil {
			return List{}, err
		}
		return List{}, r.tooMany()
	}
	r.audit(ctx, "watchlist.created", &l)
	return l, nil
}

// lastOrder returns the order of the last list of an account.
func (r *Registry) lastOrder(account string) (last int64) {
	for _, e := range r.known.Load().accounts[account] {
		last = max(last, e.Order)
	}
	return last
}

// put writes a list.
func (r *Registry) put(ctx context.Context, l List) (List, error) {
	body, err := l.body()
	if err != nil {
		return List{}, err
	}
	written, err := store.PutRecord(ctx, r.o.Store, store.Record{
		Kind:     kind,
		ID:       l.ID,
		Body:     body,
		Revision: l.revision,
	})
	if err != nil {
		return List{}, err
	}
	l.revision = written.Revision
	_ = r.Refresh(ctx) // the list is written in any case
	return l, nil
}

// List returns the lists within a reach, in their order.
func (r *Registry) List(ctx context.Context, by access.Reach) ([]List, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	return r.within(by), nil
}

// ListOf is List for a caller.
func (r *Registry) ListOf(ctx context.Context, by access.Principal) ([]List, error) {
	return r.List(ctx, r.o.Reach(by))
}

// Place returns the place of a list among those within a reach, from 1; 0 if it is beyond.
func (r *Registry) Place(by access.Reach, id string) int {
	return 1 + slices.IndexFunc(r.within(by), func(l List) bool { return l.ID == id })
}

func (r *Registry) within(by access.Reach) []List {
	return r.known.Load().within(by)
}

// Find returns a list within a reach. It does not reveal that there is one beyond.
func (r *Registry) Find(ctx context.Context, by access.Reach, id string) (List, error) {
	if err := r.Refresh(ctx); err != nil {
		return List{}, err
	}
	e := r.known.Load().byID[id]
	if e == nil || !by.Has(e.Account, e.Key) {
		return List{}, unknown(id)
	}
	return e.List, nil
}

func unknown(id string) error { return fault.New(fault.NotFound, "You have no watchlist %q.", id) }

// change updates a list unless the function reports no change. It starts over if the list
// was changed concurrently. An empty event is not audited.
func (r *Registry) change(
	ctx context.Context, by access.Reach, id, event string, change func(*List, time.Time) (bool, error),
) (List, error) {
	for {
		l, err := r.Find(ctx, by, id)
		if err != nil {
			return List{}, err
		}
		at := now()
		if changed, err := change(&l, at); err != nil || !changed {
			return l, err
		}
		l.UpdatedAt = at
		written, err := r.put(ctx, l)
		if err == nil {
			if event != "" {
				r.audit(ctx, event, &written)
			}
			return written, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return List{}, err
		}
	}
}

// Update changes the draft of a list. The function may be called again.
func (r *Registry) Update(ctx context.Context, by access.Reach, id string, change func(*Draft) error) (List, error) {
	return r.change(ctx, by, id, "watchlist.changed", func(l *List, _ time.Time) (bool, error) {
		d := l.clone()
		if err := change(&d); err != nil {
			return false, err
		}
		if err := r.check(&d, l.Len()); err != nil {
			return false, err
		}
		if err := r.checkSearchesOf(l.Account, id, &d, searchLength(&l.Draft)); err != nil {
			return false, err
		}
		same := d.equal(l.Draft)
		l.Draft = d
		return !same, nil
	})
}

// Move puts a list at a place among those within the reach, from 1. A place after the last
// is the last.
func (r *Registry) Move(ctx context.Context, by access.Reach, id string, place int) (List, error) {
	moved, err := r.Find(ctx, by, id)
	if err != nil {
		return List{}, err
	}
	lists := slices.DeleteFunc(r.within(by), func(l List) bool { return l.ID == id })
	place = min(max(place, 1), len(lists)+1) - 1
	order, free := between(lists, place)
	if !free { // all are spread out
		lists = slices.Insert(lists, place, moved)
		for i, l := range lists {
			if _, err := r.reorder(ctx, by, l.ID, int64(i+1)*orderStep); err != nil {
				return List{}, err
			}
		}
		return r.Find(ctx, by, id)
	}
	afterLast := place == 0 || moved.Order > lists[place-1].Order
	beforeNext := place == len(lists) || moved.Order < lists[place].Order
	if afterLast && beforeNext {
		return moved, nil // it is there
	}
	return r.reorder(ctx, by, id, order)
}

// between returns an order for a list at a place, and whether there is one between those
// of its neighbours.
func between(lists []List, place int) (order int64, free bool) {
	if place == len(lists) {
		if place == 0 {
			return orderStep, true
		}
		return lists[place-1].Order + orderStep, true
	}
	before, after := int64(0), lists[place].Order
	if place > 0 {
		before = lists[place-1].Order
	}
	order = before + (after-before)/2
	return order, before < order && order < after
}

func (r *Registry) reorder(ctx context.Context, by access.Reach, id string, order int64) (List, error) {
	return r.change(ctx, by, id, "", func(l *List, _ time.Time) (bool, error) {
		same := l.Order == order
		l.Order = order
		return !same, nil
	})
}

// Delete removes a list and its links.
func (r *Registry) Delete(ctx context.Context, by access.Reach, id string) error {
	for {
		l, err := r.Find(ctx, by, id)
		if err != nil {
			return err
		}
		if err = r.remove(ctx, l); err == nil {
			r.audit(ctx, "watchlist.deleted", &l)
			return nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}

func (r *Registry) remove(ctx context.Context, l List) error {
	_, err := store.PutRecord(ctx, r.o.Store, store.Record{Kind: kind, ID: l.ID, Revision: l.revision})
	if err != nil {
		return err
	}
	_ = r.Refresh(ctx) // the list is removed in any case
	return nil
}

// DropAccount removes all lists of an account.
func (r *Registry) DropAccount(ctx context.Context, account string) error {
	by := access.WholeAccount(account)
	lists, err := r.List(ctx, by)
	if err != nil {
		return err
	}
	for _, l := range lists {
		err := r.Delete(ctx, by, l.ID)
		if err != nil && fault.KindOf(err) != fault.NotFound { // another process may have removed it
			return err
		}
	}
	return nil
}

func (r *Registry) audit(ctx context.Context, event string, l *List) {
	attrs := []slog.Attr{
		slog.String("watchlist", l.ID),
		slog.String("owner", l.Account),
		slog.Int("entries", l.Len()),
	}
	if l.Key != "" {
		attrs = append(attrs, slog.String("key", l.Key))
	}
	r.o.Audit(ctx, event, attrs...)
}
