package delivery

import (
	"context"
	"maps"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/store"
)

// countedAs is the operation as which messages are counted, and countedFor what precedes
// the account: they are not uses of the API.
const (
	countedAs  = "message"
	countedFor = "alerts of "
)

// mayGet reports whether an account may get another message today.
func (s *Service) mayGet(ctx context.Context, account string, now time.Time) (bool, error) {
	today := disclosure.DayOf(now)
	n, err := s.messagesOf(ctx, account, today)
	if err != nil {
		return false, err
	}
	if n < int64(s.o.Messages) {
		return true, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := (today + 1).Start(); !s.full[account].Equal(until) {
		s.full[account] = until
		s.counts.limited.Add(1)
	}
	return false, nil
}

// messagesOf returns how many messages an account had on a day.
func (s *Service) messagesOf(ctx context.Context, account string, day disclosure.Day) (n int64, err error) {
	counts, err := s.store.Counts(ctx, countedFor+account, day, day)
	for _, c := range counts {
		n += c.N
	}
	return n, err
}

// count counts a message. If that fails, the account may get one more today.
func (s *Service) count(ctx context.Context, account, message string, at time.Time) {
	err := s.store.AddCounts(ctx, "alert "+message, store.Count{
		Account:   countedFor + account,
		Day:       disclosure.DayOf(at),
		Operation: countedAs,
		N:         1,
	})
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "cannot count a message of an alert: its account may get one more today", "err", err)
	}
}

// waits reports whether a channel gets nothing now, because its account had all messages of
// the day, or because more events are expected.
func (s *Service) waits(account, channel string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return isAhead(now, s.full[account], longestDay) || isAhead(now, s.bursts[channel], s.reading)
}

// longestDay is the longest day in Madrid, on which the clock is set back.
const longestDay = 25 * time.Hour

// isAhead reports whether an instant is still to come. One that is further away than it
// was when it was set is of a clock that was set back since, and counts no more.
func isAhead(now, at time.Time, longest time.Duration) bool {
	return now.Before(at) && at.Sub(now) <= longest
}

// forget drops what is over.
func (s *Service) forget(now time.Time) {
	over := func(_ string, until time.Time) bool { return now.Sub(until).Abs() > longestDay }
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.full, over)
	maps.DeleteFunc(s.bursts, over)
}
