package delivery

import (
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
	"pregon/internal/push/alert/subscription"
	"pregon/internal/store"
)

// maxSingles is how many reports that are due at once are a message each.
const maxSingles = 5

const atOnce = string(alert.AtOnce)

// isDelayed reports whether a delivery in the lane at_once waited for the end of quiet
// hours, or for the next day.
func isDelayed(c *subscription.Channel, d *store.Delivery, now time.Time) bool {
	return isQuiet(c.Quiet, d.DueAt) || disclosure.DayOf(d.DueAt) < disclosure.DayOf(now)
}

// plan returns the messages that are made of claimed deliveries now. The deliveries are in
// order of seq, and so are the events of a message. Nothing is sent if more than a few
// events are due at once: until the first of them has waited for its document as long as
// it may, more may come.
func (s *Service) plan(c *subscription.Channel, claimed []store.Delivery, now time.Time) (messages [][]store.Delivery) {
	var due []store.Delivery
	alone := true
	immediate := 0
	oldest := now
	for _, d := range claimed {
		if d.Lane == atOnce && !isDelayed(c, &d, now) {
			immediate++
			if d.CreatedAt.Before(oldest) {
				oldest = d.CreatedAt
			}
		} else {
			alone = false
		}
	}
	if immediate > maxSingles {
		if s.waitForBurst(c.ID, oldest, now) {
			return nil
		}
		return [][]store.Delivery{claimed} // also those whose documents were not read
	}
	for _, d := range claimed {
		if !d.Early || d.Lane != atOnce {
			due = append(due, d)
		}
	}
	if !alone && len(due) > 0 {
		return [][]store.Delivery{due}
	}
	for _, d := range due {
		messages = append(messages, []store.Delivery{d})
	}
	return messages
}

// waitForBurst reports whether more events than a few are still expected to join. The
// channel is not claimed until then.
func (s *Service) waitForBurst(id string, oldest, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, waiting := s.bursts[id]
	if !waiting || now.Sub(until).Abs() > s.reading { // or it is of an earlier burst, or an earlier clock
		until = oldest.Add(s.reading)
		if latest := now.Add(s.reading); until.After(latest) { // the clock of the store is ahead
			until = latest
		}
		s.bursts[id] = until
	}
	if now.Before(until) {
		return true
	}
	delete(s.bursts, id)
	return false
}
