package question

import (
	"slices"
	"strconv"
	"time"

	"pregon/internal/disclosure"
)

// impossible is a period that does not exist: 31 June, or from 9 to 3 October. Its words have a number, so
// that no part of them is read as another period.
var impossible days

// reader reads expressions of time in the words of a question.
type reader struct {
	words  []word
	today  disclosure.Day
	latest disclosure.Day // a date without a year is the last one that has begun on this day
}

// readDays recognizes the first period of the question, as Madrid days.
func (q *Question) readDays(words []word, today disclosure.Day) []word {
	r := reader{words: words, today: today, latest: today}
	for at := 0; at < len(words); {
		found, n := r.bounded(at)
		if found != impossible {
			use(words, at, n)
			q.From, q.To = found.from, found.to
			return words
		}
		at += max(n, 1)
	}
	return words
}

// text returns a word, "" behind the last and for words that are used.
func (r *reader) text(at int) string {
	if at < 0 || at >= len(r.words) || r.words[at].used {
		return ""
	}
	return r.words[at].text
}

// skip returns the index behind a word, if it is one of some words.
func (r *reader) skip(at int, some ...string) int {
	if slices.Contains(some, r.text(at)) {
		return at + 1
	}
	return at
}

// bounded reads a period with one end or two: since Monday, from 3 to 9 October, until
// yesterday, last week. It returns the number of its words, 0 if there is none.
func (r *reader) bounded(at int) (days, int) {
	switch r.text(at) {
	case "since", "desde", "after", "from", "between", "entre", "del":
		return r.since(at)
	case "until", "till", "hasta", "before":
		return r.until(at)
	}
	return r.within(at)
}

// since reads a period that has a first day, and perhaps a last one.
func (r *reader) since(at int) (days, int) {
	read := r.periodOrYear
	if r.text(at) == "del" { // the year of the subject: resultados del 2025
		read = r.period
	}
	start := r.skip(at+1, "el", "the")
	first, n := read(start)
	if n == 0 {
		return r.between(at)
	}
	end := start + n
	if after := r.skip(end, "to", "until", "till", "hasta", "al", "a", "and", "y", "through"); after > end {
		after = r.skip(after, "el", "the")
		if _, n := r.periodOrYear(after); n > 0 {
			return r.join(start, after, first), after + n - at
		}
	}
	if first == impossible {
		return impossible, end - at
	}
	switch r.text(at) {
	case "since", "desde", "from":
		return days{from: first.from}, end - at
	case "after":
		return days{from: first.to + 1}, end - at
	}
	return first, end - at
}

// maxAhead is how many days the last day of a range without years may be ahead: of from 16 to
// 20 November, the range of this year is meant also on 18 November.
const maxAhead = 60

// as returns a reader for which a date without a year is the last one that has begun on
// another day.
func (r *reader) as(latest disclosure.Day) *reader {
	return &reader{
		words:  r.words,
		today:  r.today,
		latest: latest,
	}
}

// join returns the period from a first to a last one, which are read at two indexes. Without years it is the
// latest that has begun, and ends soon if it has not ended.
func (r *reader) join(start, end int, first days) days {
	var found days
	for _, latest := range []disclosure.Day{r.today + maxAhead, r.today} {
		begin := first
		last, _ := r.as(latest).periodOrYear(end)
		if last == impossible || begin == impossible {
			return impossible
		}
		if last.to < begin.from || last.from > r.today {
			begin, _ = r.as(last.to).periodOrYear(start) // the latest before the last one ends
		}
		if last.to < begin.from {
			return impossible
		}
		found = days{begin.from, last.to}
		if found.from <= r.today {
			break
		}
	}
	return found
}

// until reads a period that has only a last day.
func (r *reader) until(at int) (days, int) {
	start := r.skip(at+1, "el", "the")
	last, n := r.periodOrYear(start)
	if n == 0 {
		return days{}, 0
	}
	switch {
	case last == impossible:
		return impossible, start + n - at
	case r.text(at) == "before":
		return days{to: last.from - 1}, start + n - at
	}
	return days{to: last.to}, start + n - at
}

// within reads a period behind a preposition, or without one.
func (r *reader) within(at int) (days, int) {
	start := r.skip(at, "in", "during", "on", "over", "within", "for", "en", "durante",
		"el", "la", "los", "las", "del", "de")
	for {
		again := r.skip(start, "the", "el", "la", "los", "las")
		if again <= start {
			break
		}
		start = again
	}
	preposition := start > at && slices.Contains([]string{"in", "during", "over", "en", "durante", "for"}, r.text(at))
	read := r.period
	if preposition {
		read = r.periodOrYear
	}
	found, n := read(start)
	if n == 0 {
		return days{}, 0
	}
	return found, start + n - at
}

// between reads two days of one month: from 3 to 9 October, del 3 al 9 de octubre.
func (r *reader) between(at int) (found days, length int) {
	start := r.skip(at+1, "el", "the")
	first, ok := readDayOfMonth(r.text(start))
	if !ok {
		return days{}, 0
	}
	next := r.skip(start+1, "to", "until", "hasta", "al", "a", "and", "y")
	if next == start+1 {
		return days{}, 0
	}
	end := r.skip(next, "el", "the")
	for _, latest := range []disclosure.Day{r.today + maxAhead, r.today} {
		last, n := r.as(latest).dayOfMonth(end)
		if n == 0 {
			return days{}, 0
		}
		year, month, day := onDate(last.from)
		if last == impossible || first > day {
			return impossible, end + n - at
		}
		found = days{date(year, month, first), last.to}
		length = end + n - at
		if found.from <= r.today {
			break
		}
	}
	return found, length
}

// period reads a period without its preposition.
func (r *reader) period(at int) (days, int) {
	for _, read := range []func(int) (days, int){
		r.numeric, r.weekOfDay, r.dayOfMonth, r.month, r.relativeDay, r.weekend, r.counted, r.ago, r.start, r.unit, r.weekday,
	} {
		if found, n := read(at); n > 0 {
			return found, n
		}
	}
	return days{}, 0
}

// periodOrYear reads a period, a part of a year or a year, behind a preposition of time.
// Without one, a year or a part of it is mostly that of the subject: results 2025.
func (r *reader) periodOrYear(at int) (days, int) {
	if found, n := r.period(at); n > 0 {
		return found, n
	}
	if found, n := r.partOfYear(at); n > 0 {
		return found, n
	}
	if year, ok := readYear(r.text(at)); ok {
		return yearOf(year), 1
	}
	return days{}, 0
}

// numeric reads 2026-10-05 and 05/10/2026, which are three words.
func (r *reader) numeric(at int) (days, int) {
	parts := [3]string{r.text(at), r.text(at + 1), r.text(at + 2)}
	if len(parts[0]) <= 2 {
		parts[0], parts[2] = parts[2], parts[0]
	}
	year, ok := readYear(parts[0])
	month, isMonth := readTwoDigits(parts[1])
	day, isDay := readTwoDigits(parts[2])
	if !ok || !isMonth || !isDay {
		return days{}, 0
	}
	if month < 1 || month > 12 || !valid(year, time.Month(month), day) {
		return impossible, 3
	}
	d := date(year, time.Month(month), day)
	return days{d, d}, 3
}

// readTwoDigits reads a number of one digit or two.
func readTwoDigits(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) <= 2
}

// dayOfMonth reads 5 October, October 5, 5 de octubre, each with a year or without.
func (r *reader) dayOfMonth(at int) (days, int) {
	next := at
	day, ok := readDayOfMonth(r.text(at))
	name := r.skip(at+1, "of", "de")
	if !ok {
		name = at
		if day, ok = readDayOfMonth(r.text(at + 1)); !ok {
			return days{}, 0
		}
		next = at + 2
	} else {
		next = name + 1
	}
	found := months[r.text(name)]
	if len(found) == 0 {
		return days{}, 0
	}
	year, after := r.yearAfter(next, func(year int) bool {
		return valid(year, found[0], day) && date(year, found[0], day) <= r.latest
	})
	if !valid(year, found[0], day) {
		return impossible, after - at
	}
	d := date(year, found[0], day)
	return days{d, d}, after - at
}

// maxLeap is the largest number of years from one 29 February to the next.
const maxLeap = 8

// yearAfter reads the year that follows a date. Without one it is the latest in which
// the date has begun: 29 February is in a leap year.
func (r *reader) yearAfter(at int, begun func(year int) bool) (year, after int) {
	if year, ok := readYear(r.text(r.skip(at, "of", "de", "del"))); ok {
		return year, r.skip(at, "of", "de", "del") + 1
	}
	latest, _, _ := onDate(r.latest)
	year = latest
	for year > latest-maxLeap && !begun(year) {
		year--
	}
	return year, at
}

// month reads October, last October, octubre de 2025, octubre pasado. May is a month
// only beside a year, as it is a verb too, or behind a preposition.
func (r *reader) month(at int) (days, int) {
	name := r.skip(at, "last", "past", "this", "este", "mes")
	name = r.skip(name, "de")
	found := months[r.text(name)]
	if len(found) == 0 {
		return days{}, 0
	}
	year, after := r.yearAfter(name+1, func(year int) bool { return date(year, found[0], 1) <= r.latest })
	if name == at && after == name+1 && isVerb[r.text(name)] && !isPreposition[r.text(name-1)] {
		return days{}, 0
	}
	return monthOf(year, found[0]), r.skip(after, "pasado", "last") - at
}

// isVerb has the months that are English verbs too.
var isVerb = map[string]bool{"may": true, "march": true}

// isPreposition has the words before a month.
var isPreposition = map[string]bool{
	"in": true, "during": true, "since": true, "until": true, "from": true, "to": true, "of": true,
	"before": true, "after": true, "between": true, "and": true, "till": true, "through": true,
}

// relativeDay reads today, yesterday and the day before it, and this morning.
func (r *reader) relativeDay(at int) (days, int) {
	one := func(back disclosure.Day, n int) (days, int) {
		return days{r.today - back, r.today - back}, r.partOfDay(at+n) - at
	}
	if slices.Contains([]string{"this", "esta"}, r.text(at)) && r.skip(at+1, partsOfDay...) > at+1 {
		return one(0, 2)
	}
	switch r.text(at) {
	case "today", "hoy", "tonight":
		return one(0, 1)
	case "yesterday", "ayer":
		return one(1, 1)
	case "anteayer":
		return one(2, 1)
	case "antes":
		if r.text(at+1) == "de" && r.text(at+2) == "ayer" {
			return one(2, 3)
		}
	case "day":
		if r.text(at+1) == "before" && r.text(at+2) == "yesterday" {
			return one(2, 3)
		}
	}
	return days{}, 0
}

// partsOfDay are parts of a day. Lists have whole days.
var partsOfDay = []string{"morning", "afternoon", "evening", "night", "manana", "tarde", "noche"}

// partOfDay returns the index behind the part of a day, if there is one: yesterday afternoon,
// ayer por la tarde.
func (r *reader) partOfDay(at int) int {
	name := r.skip(r.skip(at, "por", "in"), "la", "the")
	if after := r.skip(name, partsOfDay...); after > name {
		return after
	}
	return at
}

// weekday reads Monday, last Monday, el lunes pasado: the latest such day before today,
// or today. The Monday of from Monday to Friday is the one before that Friday.
func (r *reader) weekday(at int) (days, int) {
	name := r.skip(at, "last", "past", "this", "este", "pasado")
	wanted, ok := weekdays[r.text(name)]
	if !ok {
		return days{}, 0
	}
	after := r.skip(name+1, "pasado")
	end := r.today
	if r.latest < r.today && r.latest > r.today-7 {
		end = r.latest
	}
	back := (int(end.Weekday()) - int(wanted) + 7) % 7
	if back == 0 && (r.text(at) == "last" || after > name+1) {
		back = 7
	}
	d := end - disclosure.Day(back)
	return days{d, d}, r.partOfDay(after) - at
}
