package delivery

import (
	"context"
	"iter"
	"time"

	"pregon/internal/push/queue"
	"pregon/internal/push/webhook/subscription"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	claimBatch   = 100              // deliveries of one claim
	maxReadTime  = 30 * time.Second // for changes that the catalogue does not have yet
	tidyInterval = time.Hour
)

// Run delivers until the context ends. Then it waits a while for requests in
// flight, writes their results and releases its claims.
func (s *Service) Run(ctx context.Context) error {
	d := &dispatcher{Service: s}
	d.texts = d.newTexts()
	d.queue = queue.New(queue.Options{
		Store:     s.store,
		Logger:    s.log,
		Noun:      "webhooks",
		Timing:    s.Timing,
		Each:      claimBatch,
		Endpoints: d.endpoints,
		Serves:    d.serves,
		Work:      d.serve,
		Wake:      s.wake,
		Changed:   s.hooks.Changed(),
	})
	err := d.queue.Run(ctx,
		func(ctx context.Context) { _ = s.hooks.Maintain(ctx) },
		s.fan.Run,
		func(ctx context.Context) { retry.Every(ctx, tidyInterval, s.tidy) },
	)
	s.sender.client.CloseIdleConnections()
	return err
}

// dispatcher sends due deliveries, during one Run.
type dispatcher struct {
	*Service
	queue *queue.Queue
	texts *queue.Texts
}

// endpoints yields all webhooks, and textQueue if some of them search in documents.
func (d *dispatcher) endpoints() iter.Seq[queue.Endpoint] {
	return func(yield func(queue.Endpoint) bool) {
		texts := false
		for _, h := range d.hooks.Known().Hooks {
			texts = texts || h.Enabled && h.InDocument()
			if !yield(endpoint(h)) {
				return
			}
		}
		if texts {
			yield(queue.Endpoint{ID: textQueue})
		}
	}
}

// endpoint returns a webhook in the words of the queue.
func endpoint(h *subscription.Hook) queue.Endpoint {
	return queue.Endpoint{
		ID:       h.ID,
		Account:  h.Account,
		Revision: h.Revision(),
	}
}

func (d *dispatcher) serves(id string) bool {
	if id == textQueue {
		return true
	}
	_, served := d.hooks.Serves(d.hooks.Known().Hooks[id])
	return served
}

func (d *dispatcher) serve(held *queue.Claim, c store.Claimed) {
	if c.Webhook == textQueue {
		d.texts.Serve(held, c.Deliveries)
	} else {
		d.work(held, c)
	}
}

// tidy removes the deliveries of deleted webhooks.
func (s *Service) tidy(ctx context.Context) {
	if err := s.dropRemoved(ctx); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "cannot remove the deliveries of deleted webhooks", "err", err)
	}
}

func (s *Service) dropRemoved(ctx context.Context) error {
	removed := s.hooks.Removed()
	if len(removed) == 0 {
		return nil
	}
	left, err := s.store.Endpoints(ctx, removed...)
	if err != nil {
		return err
	}
	for id := range left {
		if err := s.store.DropDeliveries(ctx, id); err != nil {
			return err
		}
	}
	s.hooks.Cleared(removed...)
	return nil
}
