package render

import (
	"strconv"
	"strings"
	"time"

	"pregon/internal/disclosure"
)

// Clock returns the time of day in Madrid.
func (e Edition) Clock(t time.Time) string { return t.In(disclosure.Madrid).Format("15:04") }

// Exact returns a time as machines read it, in Madrid time.
func (e Edition) Exact(t time.Time) string { return t.In(disclosure.Madrid).Format(time.RFC3339) }

// Moment returns a complete time in Madrid, with its zone.
func (e Edition) Moment(t time.Time) string {
	t = t.In(disclosure.Madrid)
	return e.Date(t) + ", " + t.Format("15:04:05 MST")
}

// Minute returns a time in Madrid, with its zone and without seconds, for times of which
// seconds are not known.
func (e Edition) Minute(t time.Time) string {
	t = t.In(disclosure.Madrid)
	return e.Date(t) + ", " + t.Format("15:04 MST")
}

// Date returns the date in Madrid.
func (e Edition) Date(t time.Time) string {
	t = t.In(disclosure.Madrid)
	month := e.months[t.Month()-1]
	if e.Language == English {
		return strconv.Itoa(t.Day()) + " " + month + " " + strconv.Itoa(t.Year())
	}
	return strconv.Itoa(t.Day()) + " de " + month + " de " + strconv.Itoa(t.Year())
}

// ShortDate returns the date in Madrid with an abbreviated month.
func (e Edition) ShortDate(t time.Time) string {
	t = t.In(disclosure.Madrid)
	return strconv.Itoa(t.Day()) + " " + e.ShortMonth(t.Month()) + " " + strconv.Itoa(t.Year())
}

// Day returns the weekday and date of a day.
func (e Edition) Day(d disclosure.Day) string {
	return e.weekdays[d.Weekday()] + ", " + e.Date(d.Start().Add(12*time.Hour))
}

// Ago returns how long ago a time was if that is less than an hour, else "".
func (e Edition) Ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < -time.Minute || d >= time.Hour:
		return ""
	case d < time.Minute:
		return e.Text("ago.now")
	default:
		return e.Text("ago.minutes", strconv.Itoa(int(d.Minutes())))
	}
}

// Number returns a number with separators of thousands.
func (e Edition) Number(n int) string {
	s := strconv.Itoa(n)
	separator := "."
	if e.Language == English {
		separator = ","
	}
	if e.Language == Spanish && n > -10000 && n < 10000 {
		return s // four digits have none in Spanish
	}
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + separator + s[i:]
	}
	return s
}

// Decimal returns a number with some decimals.
func (e Edition) Decimal(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if e.Language == Spanish {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s
}

// Percent returns a ratio in per cent.
func (e Edition) Percent(x float64) string {
	if e.Language == English {
		return e.Decimal(100*x, 0) + "%"
	}
	return e.Decimal(100*x, 0) + " %"
}

// Duration returns a duration with the unit that suits it.
func (e Edition) Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return strconv.Itoa(int(d.Milliseconds())) + " ms"
	case d < 10*time.Second:
		return e.Decimal(d.Seconds(), 1) + " s"
	case d < 2*time.Minute:
		return e.Decimal(d.Seconds(), 0) + " s"
	case d < 2*time.Hour:
		return e.Decimal(d.Minutes(), 0) + " min"
	case d < 48*time.Hour:
		return e.Decimal(d.Hours(), 0) + " h"
	}
	return e.Text("days", e.Decimal(d.Hours()/24, 0))
}

// Month returns the name of a month.
func (e Edition) Month(m time.Month) string { return e.months[m-1] }

// ShortMonth returns the first letters of a month.
func (e Edition) ShortMonth(m time.Month) string { return firstLetters(e.Month(m), 3) }

// Weekday returns the name of a weekday.
func (e Edition) Weekday(d time.Weekday) string { return e.weekdays[d] }

// ShortWeekday returns the first letters of a weekday.
func (e Edition) ShortWeekday(d time.Weekday) string { return firstLetters(e.Weekday(d), 3) }

// DayAndMonth returns a day without its year.
func (e Edition) DayAndMonth(d disclosure.Day) string {
	t := d.Start()
	return strconv.Itoa(t.Day()) + " " + e.ShortMonth(t.Month())
}

// firstLetters returns the beginning of a word.
func firstLetters(word string, n int) string {
	letters := []rune(word)
	return string(letters[:min(n, len(letters))])
}
