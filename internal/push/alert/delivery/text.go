package delivery

import (
	"context"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/push/queue"
	"pregon/internal/store"
)

// textQueue is the id under which the store keeps the changes whose documents are
// still to be compared with alerts. It is not the id of a channel.
const textQueue = "alert-documents"

// newTexts returns what compares the documents of queued changes with the alerts.
func (s *Service) newTexts() *queue.Texts {
	return &queue.Texts{
		ID:      textQueue,
		Fan:     s.fan,
		Logger:  s.log,
		Changes: s.store.ChangesAt,
		Backoff: s.Backoff,
		Match:   s.matchText,
	}
}

// matchText returns the deliveries of a change to the channels of alerts that search in
// documents and match. Those that another alert selected already have one.
func (s *Service) matchText(ctx context.Context, c *disclosure.Change, _ time.Time) (store.FanOut, error) {
	f, known := s.newFanOut()
	e := s.o.Encoder.Encode(c)
	content, err := s.o.Encoder.Text(ctx, e)
	if err != nil {
		return f, err
	}
	f.Deliveries = s.deliveries(known, s.selections(known).all, c, func(sel *events.Selector) bool {
		return sel.Match(e) && (!sel.NeedsText(e) || sel.MatchText(e, content))
	})
	return f, nil
}
