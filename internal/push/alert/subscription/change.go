package subscription

import (
	"context"
	"log/slog"

	"pregon/internal/auth/access"
	"pregon/internal/fault"
	"pregon/internal/store"
)

// FindChannel returns a channel within a reach. It does not reveal that there is one beyond.
func (r *Registry) FindChannel(ctx context.Context, by access.Reach, id string) (*Channel, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	c := r.Known().Channels[id]
	if c == nil || !by.Has(c.Account, c.Key) {
		return nil, fault.New(fault.NotFound, "You have no channel %q.", id)
	}
	return c, nil
}

// FindAlert returns an alert within a reach. It does not reveal that there is one beyond.
func (r *Registry) FindAlert(ctx context.Context, by access.Reach, id string) (*Alert, error) {
	if err := r.Refresh(ctx); err != nil {
		return nil, err
	}
	a := r.Known().Alerts[id]
	if a == nil || !by.Has(a.Account, a.Key) {
		return nil, fault.New(fault.NotFound, "You have no alert %q.", id)
	}
	return a, nil
}

// putChannel writes a channel. It fails, Conflict, if the channel was changed meanwhile.
func (r *Registry) putChannel(ctx context.Context, c Channel) (*Channel, error) {
	body, err := c.body(r.o.Sealer)
	if err != nil {
		return nil, err
	}
	if c.revision, err = r.write(ctx, c.ID, body, c.revision); err != nil {
		return nil, err
	}
	return &c, nil
}

// putAlert writes an alert. If it starts, its first change is the one after the newest
// change, and after those that were matched before the record was written.
func (r *Registry) putAlert(ctx context.Context, a Alert, starts bool) (*Alert, error) {
	var err error
	if starts {
		if a.StartsAfter, err = r.o.Store.Newest(ctx); err != nil {
			return nil, err
		}
	}
	write := func() error {
		body, err := a.body()
		if err != nil {
			return err
		}
		a.revision, err = r.write(ctx, a.ID, body, a.revision)
		return err
	}
	if err := write(); err != nil || !starts {
		return &a, err
	}
	fanned, err := r.o.Store.Fanned(ctx, store.ForAlerts)
	if err != nil {
		return nil, err
	}
	if fanned <= a.StartsAfter {
		return &a, nil
	}
	written := a
	a.StartsAfter = fanned
	if err := write(); fault.KindOf(err) == fault.Conflict { // a later change has its own start
		return &written, nil
	} else if err != nil {
		return nil, err
	}
	return &a, nil
}

// write writes a record to the store and to the copy in memory. An empty body removes it.
func (r *Registry) write(ctx context.Context, id, body string, revision int64) (int64, error) {
	written, err := store.PutRecord(ctx, r.o.Store, store.Record{
		Kind:     Kind,
		ID:       id,
		Body:     body,
		Revision: revision,
	})
	if err != nil {
		return 0, err
	}
	_ = r.Refresh(ctx) // it is written in any case
	return written.Revision, nil
}

func (r *Registry) auditChannel(ctx context.Context, event string, c *Channel) {
	attrs := []slog.Attr{
		slog.String("channel", c.ID),
		slog.String("owner", c.Account),
		slog.String("kind", string(c.Kind)),
		slog.String("state", string(c.State)),
	}
	if c.Key != "" {
		attrs = append(attrs, slog.String("key", c.Key))
	}
	if c.Reason != "" {
		attrs = append(attrs, slog.String("reason", c.Reason))
	}
	r.o.Audit(ctx, event, attrs...)
}

func (r *Registry) auditAlert(ctx context.Context, event string, a *Alert) {
	r.o.Audit(ctx, event,
		slog.String("alert", a.ID),
		slog.String("owner", a.Account),
		slog.String("channel", a.Channel),
		slog.Bool("enabled", a.Enabled))
}
