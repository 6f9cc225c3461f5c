package delivery

import (
	"context"
	"time"

	"pregon/internal/push/alert/subscription"
	"pregon/internal/push/queue"
	"pregon/internal/store"
)

// Tidy runs the hourly cleanup.
func (s *Service) Tidy(ctx context.Context) error { return s.dropEnded(ctx) }

// SetTiming replaces the durations of the queue.
func (s *Service) SetTiming(t queue.Timing) { s.Timing = t }

// Batch fans out one batch of changes.
func (s *Service) Batch(ctx context.Context) error { return s.fan.Batch(ctx) }

var (
	NextDay  = nextDay
	NextWeek = nextWeek
	IsQuiet  = isQuiet
	IsNews   = isNews
)

// SetWaits replaces how long reports wait for their documents, and groups for more.
func (s *Service) SetWaits(reading, group time.Duration) {
	s.reading = reading
	s.group = group
}

// Plan returns the messages that are made of deliveries.
func (s *Service) Plan(c *subscription.Channel, claimed []store.Delivery, now time.Time) [][]store.Delivery {
	return s.plan(c, claimed, now)
}

// Waits reports whether a channel of an account gets nothing at a time.
func (s *Service) Waits(account, channel string, now time.Time) bool {
	return s.waits(account, channel, now)
}

// MarkFull notes until when an account gets nothing.
func (s *Service) MarkFull(account string, until time.Time) { s.full[account] = until }

// IsOver reports whether nothing that waits for a channel will be sent.
func IsOver(c *subscription.Channel, now time.Time) bool { return isOver(c, now) }
