package question

import (
	"strconv"
	"time"

	"pregon/internal/disclosure"
)

// days is a period, inclusive.
type days struct{ from, to disclosure.Day }

// months are the folded names of months.
var months = map[string][]time.Month{}

// weekdays are the folded names of days of the week.
var weekdays = map[string]time.Weekday{}

// numbers are folded words for small numbers.
var numbers = map[string]int{}

func init() { // the names in both languages, in the order of their numbers
	for i, names := range [][]string{
		{"january", "enero"},
		{"february", "febrero"},
		{"march", "marzo"},
		{"april", "abril"},
		{"may", "mayo"},
		{"june", "junio"},
		{"july", "julio"},
		{"august", "agosto"},
		{"september", "septiembre", "setiembre"},
		{"october", "octubre"},
		{"november", "noviembre"},
		{"december", "diciembre"},
	} {
		for _, name := range names {
			months[name] = []time.Month{time.Month(i + 1)}
		}
	}
	for i, names := range [][]string{
		{"sunday", "domingo"},
		{"monday", "lunes"},
		{"tuesday", "martes"},
		{"wednesday", "miercoles"},
		{"thursday", "jueves"},
		{"friday", "viernes"},
		{"saturday", "sabado"},
	} {
		for _, name := range names {
			weekdays[name] = time.Weekday(i)
		}
	}
	for i, names := range [][]string{
		{"one", "un", "una"},
		{"two", "dos"},
		{"three", "tres"},
		{"four", "cuatro"},
		{"five", "cinco"},
		{"six", "seis"},
		{"seven", "siete"},
		{"eight", "ocho"},
		{"nine", "nueve"},
		{"ten", "diez"},
		{"eleven", "once"},
		{"twelve", "doce"},
	} {
		for _, name := range names {
			numbers[name] = i + 1
		}
	}
}

// date returns the day of a date, in the proleptic calendar: day 0 of March is the last
// of February.
func date(year int, month time.Month, day int) disclosure.Day {
	d, _ := disclosure.ParseDay(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
	return d
}

// monthOf returns a month of a year.
func monthOf(year int, month time.Month) days {
	return days{date(year, month, 1), date(year, month+1, 0)}
}

func yearOf(year int) days { return days{date(year, time.January, 1), date(year, time.December, 31)} }

// weekOf returns the week of a day, from Monday to Sunday.
func weekOf(day disclosure.Day) days {
	monday := day - disclosure.Day((int(day.Weekday())+6)%7)
	return days{monday, monday + 6}
}

// onDate returns the parts of a day.
func onDate(day disclosure.Day) (int, time.Month, int) {
	return day.Start().In(disclosure.Madrid).Date()
}

// The years that questions may name.
const (
	firstYear = 1988
	lastYear  = 2099
)

// readYear reads a year in digits.
func readYear(s string) (int, bool) {
	if len(s) != 4 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= firstYear && n <= lastYear
}

// maxCount is the largest number of days, weeks, months or years of a period.
const maxCount = 400

// readCount reads a number of days, weeks, months or years.
func readCount(s string) (int, bool) {
	if n, ok := numbers[s]; ok {
		return n, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n <= maxCount
}

// readDayOfMonth reads a day of a month: 5, 5th, first.
func readDayOfMonth(s string) (int, bool) {
	for _, ordinal := range []string{"st", "nd", "rd", "th"} {
		if len(s) > len(ordinal) && s[len(s)-2:] == ordinal {
			s = s[:len(s)-2]
			break
		}
	}
	if s == "primero" {
		return 1, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) <= 2 && n >= 1 && n <= 31
}

// valid reports whether a month has a day.
func valid(year int, month time.Month, day int) bool {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day() == day
}
