package delivery

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/queue"
	"pregon/internal/retry"
	"pregon/internal/store"
)

const (
	claimBatch    = 1000 // deliveries of one claim, and events of one message
	tidyInterval  = time.Hour
	countInterval = time.Minute
)

// Run sends until the context ends. Then it waits a while for messages that are being
// sent, writes their results and releases its claims. The registry must be followed
// meanwhile, and the lists.
func (s *Service) Run(ctx context.Context) error {
	d := &dispatcher{Service: s, texts: s.newTexts()}
	d.queue = queue.New(queue.Options{
		Store:     s.store,
		Logger:    s.log,
		Noun:      "channels of alerts",
		Timing:    s.Timing,
		Each:      claimBatch,
		Together:  []string{atOnce, string(alert.Grouped)},
		Endpoints: d.endpoints,
		Serves:    d.serves,
		Work:      d.serve,
		Wake:      s.wake,
		Changed:   s.o.Alerts.Changed(),
	})
	return d.queue.Run(ctx,
		s.fan.Run,
		func(ctx context.Context) { retry.Every(ctx, tidyInterval, s.tidy) },
		func(ctx context.Context) { retry.Every(ctx, countInterval, s.countPending) },
	)
}

// dispatcher sends due messages, during one Run.
type dispatcher struct {
	*Service
	queue *queue.Queue
	texts *queue.Texts
}

// endpoints yields all channels, and textQueue.
func (d *dispatcher) endpoints() iter.Seq[queue.Endpoint] {
	return func(yield func(queue.Endpoint) bool) {
		for _, c := range d.o.Alerts.Known().Channels {
			if !yield(endpoint(c)) {
				return
			}
		}
		yield(queue.Endpoint{ID: textQueue})
	}
}

// endpoint returns a channel in the words of the queue.
func endpoint(c *subscription.Channel) queue.Endpoint {
	return queue.Endpoint{
		ID:       c.ID,
		Account:  c.Account,
		Group:    string(c.Kind), // a kind may have a pace that is slow
		Revision: c.Revision(),
	}
}

func (d *dispatcher) serves(id string) bool {
	return id == textQueue || d.channel(id, time.Now()) != nil
}

// channel returns a channel if messages may be sent to it now, else nil.
func (s *Service) channel(id string, now time.Time) *subscription.Channel {
	c := s.o.Alerts.Known().Channels[id]
	if c == nil || c.State != alert.Active || isQuiet(c.Quiet, now) || s.waits(c.Account, id, now) {
		return nil
	}
	if !s.o.Alerts.Serves(c.Account, c.Key) {
		return nil
	}
	return c
}

func (d *dispatcher) serve(held *queue.Claim, c store.Claimed) {
	if c.Webhook == textQueue {
		d.texts.Serve(held, c.Deliveries)
	} else {
		d.work(held, c)
	}
}

// tidy removes the deliveries of channels that were deleted or have ended. They are removed
// at once, unless the store failed then.
func (s *Service) tidy(ctx context.Context) {
	s.forget(time.Now())
	if err := s.dropEnded(ctx); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "cannot remove what waits for channels that ended", "err", err)
	}
}

// isOver reports whether nothing that waits for a channel will be sent: it has ended, or it
// was paused for so long that all that came in its first days is too old.
func isOver(c *subscription.Channel, now time.Time) bool {
	return c.State == alert.Ended || c.State == alert.Paused && now.Sub(c.Since) > 2*queue.MaxDelay
}

func (s *Service) dropEnded(ctx context.Context) error {
	records, err := s.store.RecordsSince(ctx, subscription.Kind, 0)
	if err != nil {
		return err
	}
	known := s.o.Alerts.Known()
	var ended []string
	for _, r := range records {
		over := r.Body == "" || known.HasRemoved(r.ID)
		if c := known.Channels[r.ID]; c != nil {
			over = isOver(c, time.Now())
		}
		if over {
			ended = append(ended, r.ID)
		}
	}
	for some := range slices.Chunk(ended, pageSize) {
		left, err := s.store.Endpoints(ctx, some...)
		if err != nil {
			return err
		}
		for id := range left {
			if err := s.store.DropDeliveries(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// countPending counts the deliveries that wait.
func (s *Service) countPending(ctx context.Context) {
	known := s.o.Alerts.Known()
	ids := make([]string, 0, len(known.Channels))
	for id := range known.Channels {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, strings.Compare)
	pending := int64(0)
	for some := range slices.Chunk(ids, pageSize) {
		endpoints, err := s.store.Endpoints(ctx, some...)
		if err != nil {
			return // the last count stays
		}
		for _, e := range endpoints {
			pending += int64(e.Pending)
		}
	}
	s.counts.pending.Store(pending)
}
