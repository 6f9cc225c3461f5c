package delivery

import (
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/push/alert"
)

// dayMinutes is the number of minutes of a day on a clock.
const dayMinutes = 24 * 60

// committing is how long it may take until a delivery of the last moment before a time of
// day is in the store. What is due at that time is sent after it, so that it is one message.
const committing = 2 * time.Second

// wait returns how long a change waits for the rhythm of an alert, and when it is due if
// that is at a time of day: then all that is due at it must be due at the same instant.
func (t *timing) wait(a *alert.Alert, c *disclosure.Change, now time.Time) (time.Duration, time.Time) {
	var at time.Time
	switch a.Rhythm {
	case alert.Grouped:
		return t.group, at
	case alert.Daily:
		at = nextDay(now, a.At)
	case alert.Weekly:
		at = nextWeek(now, a.Weekday, a.At)
	default:
		return t.readingTime(c, now), at
	}
	at = at.Add(committing)
	return at.Sub(now), at
}

// readingTime returns how long a report waits for its document: until it was read, and not
// longer than that takes usually.
func (t *timing) readingTime(c *disclosure.Change, now time.Time) time.Duration {
	if c.Report == nil || c.Event == disclosure.Corrected || isRead(c.Report) {
		return 0
	}
	since := c.Report.AvailableAt
	if c.Event == disclosure.Published || since.IsZero() {
		since = c.OccurredAt
	}
	return min(max(0, since.Add(t.reading).Sub(now)), t.reading) // the clocks of processes may differ
}

// isRead reports whether all facts of a report are known that will be known soon.
func isRead(r *disclosure.Report) bool {
	switch r.DocumentNow().Status {
	case disclosure.DocumentReady:
		return r.FactsRules != 0
	case disclosure.DocumentPending:
		return false
	}
	return true
}

// nextDay returns the first time after now at which clocks in Madrid show a time of day. A
// time that does not exist on a day, since the clock was set forward, is the one that the
// clock shows instead. Of one that comes twice, one is meant.
func nextDay(now time.Time, at alert.Minute) time.Time {
	today := now.In(disclosure.Madrid)
	for day := 0; ; day++ {
		if next := clock(today, day, at); next.After(now) {
			return next
		}
	}
}

// nextWeek is nextDay on a day of the week.
func nextWeek(now time.Time, weekday time.Weekday, at alert.Minute) time.Time {
	today := now.In(disclosure.Madrid)
	for day := (int(weekday) - int(today.Weekday()) + 7) % 7; ; day += 7 {
		if next := clock(today, day, at); next.After(now) {
			return next
		}
	}
}

// clock returns a time of day in Madrid, some days after today.
func clock(today time.Time, days int, at alert.Minute) time.Time {
	y, m, d := today.Date()
	return time.Date(y, m, d+days, int(at)/60, int(at)%60, 0, 0, disclosure.Madrid)
}

// isQuiet reports whether an instant is in the quiet hours of a channel.
func isQuiet(q alert.Quiet, at time.Time) bool {
	local := at.In(disclosure.Madrid)
	m := alert.Minute(local.Hour()*60 + local.Minute())
	if q.From <= q.To {
		return q.From <= m && m < q.To
	}
	return q.From <= m && m < dayMinutes || m < q.To
}
