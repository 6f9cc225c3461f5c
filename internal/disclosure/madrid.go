package disclosure

import (
	"time"
	_ "time/tzdata" // a small machine may have no zone files; Madrid time is not optional
)

// Madrid is the regulator's clock. Times are stored in UTC and shown in it.
var Madrid = mustMadrid()

func mustMadrid() *time.Location {
	loc, err := time.LoadLocation("Europe/Madrid")
	if err != nil {
		panic(err) // cannot happen: the zone database is embedded
	}
	return loc
}

// Day is a calendar day in Madrid; 1 January 1900 is day 1, and zero is no day.
// Days can be compared and subtracted; a day of 23 or 25 hours counts as one.
type Day int32

const (
	dayLayout = "2006-01-02"
	dayZero   = -25568 // 31 December 1899, in days from 1970
)

// DayOf returns the Madrid day of an instant.
func DayOf(t time.Time) Day {
	y, m, d := t.In(Madrid).Date()
	return dayOfDate(y, m, d)
}

func dayOfDate(y int, m time.Month, d int) Day {
	return Day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()/86400 - dayZero)
}

// ParseDay reads YYYY-MM-DD, from 1900 on.
func ParseDay(s string) (Day, bool) {
	t, err := time.Parse(dayLayout, s)
	if err != nil || t.Year() < 1900 {
		return 0, false
	}
	return dayOfDate(t.Date()), true
}

// Start returns the first instant of the day.
func (d Day) Start() time.Time {
	y, m, day := d.utc().Date()
	return time.Date(y, m, day, 0, 0, 0, 0, Madrid)
}

// Weekday returns the day of the week.
func (d Day) Weekday() time.Weekday { return d.utc().Weekday() }

func (d Day) String() string { return d.utc().Format(dayLayout) }

func (d Day) utc() time.Time { return time.Unix((int64(d)+dayZero)*86400, 0).UTC() }
