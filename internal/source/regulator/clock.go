package regulator

import (
	"regexp"
	"strconv"
	"time"

	"pregon/internal/disclosure"
)

var (
	dateForm = regexp.MustCompile(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`)
	timeForm = regexp.MustCompile(`\b(\d{1,2}):(\d{2})\b`)
)

// wall is a time on Madrid's clocks. An hour of October comes twice, so a wall
// time may name two moments; an hour of March does not come at all.
type wallTime struct {
	year            int
	month           time.Month
	day             int
	hour, min, secs int
}

// moments returns the moment, and the other one when there are two. A time
// that never was is taken for the one an hour later.
func (w wallTime) instants() (at, later time.Time) {
	t := time.Date(w.year, w.month, w.day, w.hour, w.min, w.secs, 0, time.UTC)
	summer, winter := t.Add(-2*time.Hour), t.Add(-time.Hour)
	isSummer, isWinter := offset(summer) == 2*time.Hour, offset(winter) == time.Hour
	switch {
	case isSummer && isWinter:
		return summer, winter
	case isSummer:
		return summer, time.Time{}
	}
	return winter, time.Time{}
}

func offset(t time.Time) time.Duration {
	_, seconds := t.In(disclosure.Madrid).Zone()
	return time.Duration(seconds) * time.Second
}

// parseWall reads a day and an hour, padded or not.
func parseWallTime(date, clock string) (wallTime, bool) {
	d, t := dateForm.FindStringSubmatch(date), timeForm.FindStringSubmatch(clock)
	if d == nil || t == nil {
		return wallTime{}, false
	}
	w := wallTime{year: atoi(d[3]), month: time.Month(atoi(d[2])), day: atoi(d[1]), hour: atoi(t[1]), min: atoi(t[2])}
	return w, w.exists()
}

// exists reports whether the calendar has such a day, and a day such a time.
func (w wallTime) exists() bool {
	day := time.Date(w.year, w.month, w.day, 0, 0, 0, 0, time.UTC)
	return day.Day() == w.day && day.Month() == w.month && w.hour < 24 && w.min < 60 && w.secs < 60
}

// parseDay reads a day.
func parseDay(date string) disclosure.Day {
	d := dateForm.FindStringSubmatch(date)
	if d == nil {
		return 0
	}
	w := wallTime{year: atoi(d[3]), month: time.Month(atoi(d[2])), day: atoi(d[1])}
	if !w.exists() || w.year < 1900 {
		return 0
	}
	return disclosure.DayOf(time.Date(w.year, w.month, w.day, 12, 0, 0, 0, disclosure.Madrid))
}

// number reads digits that an expression has found; they are few.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
