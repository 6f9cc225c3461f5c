package question

import (
	"slices"
	"time"

	"pregon/internal/disclosure"
)

// span is a unit of time.
type span int

const (
	noSpan span = iota
	hour
	day
	week
	month
	quarter
	year
	fortnight
)

// units are folded names of units.
var units = map[string]span{
	"hour": hour, "hours": hour, "hora": hour, "horas": hour,
	"day": day, "days": day, "dia": day, "dias": day,
	"week": week, "weeks": week, "semana": week, "semanas": week,
	"month": month, "months": month, "mes": month, "meses": month,
	"quarter": quarter, "quarters": quarter, "trimestre": quarter, "trimestres": quarter,
	"year": year, "years": year, "ano": year, "anos": year,
	"fortnight": fortnight, "fortnights": fortnight, "quincena": fortnight, "quincenas": fortnight,
}

// counted reads the last 30 days, las dos últimas semanas, the past week: so many units
// that end today.
func (r *reader) counted(at int) (days, int) {
	if n, ok := readCount(r.text(at)); ok && r.skip(at+1, "ultimos", "ultimas", "pasados", "pasadas") > at+1 {
		if unit := units[r.text(at+2)]; unit != noSpan {
			return r.before(n, unit), 3
		}
	}
	next := r.skip(at, "last", "past", "previous", "ultimo", "ultimos", "ultima", "ultimas", "pasados", "pasadas")
	if next == at {
		return days{}, 0
	}
	n, ok := readCount(r.text(next))
	unit := units[r.text(next+1)]
	if ok && unit != noSpan {
		return r.before(n, unit), next + 2 - at
	}
	unit = units[r.text(next)]
	switch r.text(at) {
	case "past", "ultimo", "ultima", "ultimos", "ultimas":
		if unit != noSpan {
			return r.before(1, unit), next + 1 - at
		}
	}
	return days{}, 0
}

// before returns so many units that end today.
func (r *reader) before(n int, unit span) days {
	from := r.today
	switch unit {
	case hour:
		from -= disclosure.Day((n + 23) / 24)
	case day:
		from -= disclosure.Day(n - 1)
	case week:
		from -= disclosure.Day(7*n - 1)
	case fortnight:
		from -= disclosure.Day(14*n - 1)
	case month:
		from = monthsBefore(r.today, n) + 1
	case quarter:
		from = monthsBefore(r.today, 3*n) + 1
	case year:
		from = monthsBefore(r.today, 12*n) + 1
	}
	return days{from, r.today}
}

// monthsBefore returns the same day of the month n months earlier, or the last day of
// that month if it is shorter.
func monthsBefore(today disclosure.Day, n int) disclosure.Day {
	y, m, d := onDate(today)
	earlier := monthOf(y, m-time.Month(n))
	return min(earlier.from+disclosure.Day(d-1), earlier.to)
}

// ago reads two days ago, hace dos días, a month ago: that day, or the whole week or month in
// which it was.
func (r *reader) ago(at int) (days, int) {
	count := r.skip(at, "hace")
	n, ok := readCount(r.text(count))
	if a := r.text(count); a == "a" || a == "an" {
		n, ok = 1, true
	}
	unit := units[r.text(count+1)]
	end := count + 2
	if !ok || unit == noSpan || count == at && r.text(end) != "ago" {
		return days{}, 0
	}
	if count == at {
		end++
	}
	switch unit {
	case hour:
		return r.before(n, hour), end - at
	case fortnight:
		return weekOf(r.today - disclosure.Day(14*n)), end - at
	}
	found := r.whole(unit, n)
	if found.from <= 0 { // before all days
		return days{}, 0
	}
	return found, end - at
}

// start reads the beginning of the year, principios de mes: from then until today.
func (r *reader) start(at int) (days, int) {
	name := r.skip(at, "beginning", "start", "principio", "principios", "inicio", "inicios", "comienzo", "comienzos")
	of := r.skip(name, "of", "de", "del")
	if name == at || of == name {
		return days{}, 0
	}
	of = r.skip(of, "the", "this", "este", "esta", "el", "la")
	if unit := units[r.text(of)]; unit >= week && unit <= year {
		return days{r.whole(unit, 0).from, r.today}, of + 1 - at
	}
	return days{}, 0
}

// weekOfDay reads the week of 9 November, la semana del 9 de noviembre.
func (r *reader) weekOfDay(at int) (days, int) {
	name := r.skip(at, "week", "semana")
	of := r.skip(name, "of", "del", "de", "beginning", "starting", "commencing")
	if name == at || of == name {
		return days{}, 0
	}
	of = r.skip(of, "the", "el")
	for _, read := range []func(int) (days, int){r.numeric, r.dayOfMonth} {
		switch found, n := read(of); {
		case n == 0:
			continue
		case found == impossible:
			return impossible, of + n - at
		default:
			return weekOf(found.from), of + n - at
		}
	}
	return days{}, 0
}

// weekend reads the weekend, last weekend, el fin de semana pasado: the latest that has begun.
func (r *reader) weekend(at int) (days, int) {
	name := r.skip(at, "this", "last", "past", "este", "pasado", "ultimo")
	after := r.skip(name, "weekend")
	if r.text(name) == "fin" && r.text(name+1) == "de" && r.text(name+2) == "semana" {
		after = name + 3
	}
	if after == name {
		return days{}, 0
	}
	end := r.skip(after, "pasado")
	saturday := weekOf(r.today).from + 5
	if saturday > r.today || end > after || slices.Contains([]string{"last", "past", "pasado"}, r.text(at)) {
		saturday -= 7
	}
	return days{saturday, saturday + 1}, end - at
}

// ordinals are folded words for the first parts of a year.
var ordinals = map[string]int{
	"first": 1, "1st": 1, "primer": 1, "primero": 1,
	"second": 2, "2nd": 2, "segundo": 2,
	"third": 3, "3rd": 3, "tercer": 3, "tercero": 3,
	"fourth": 4, "4th": 4, "cuarto": 4,
}

// partOfYear reads the third quarter, Q3 2025, el primer semestre de 2026, H1, 3T.
func (r *reader) partOfYear(at int) (days, int) {
	n, months := 0, 0
	next := at + 1
	switch word := r.text(at); word {
	case "q1", "q2", "q3", "q4":
		n, months = int(word[1]-'0'), 3
	case "1q", "2q", "3q", "4q", "1t", "2t", "3t", "4t":
		n, months = int(word[0]-'0'), 3
	case "h1", "h2":
		n, months = int(word[1]-'0'), 6
	case "1h", "2h", "1s", "2s":
		n, months = int(word[0]-'0'), 6
	default:
		n = ordinals[word]
		next++
		switch r.text(at + 1) {
		case "quarter", "trimestre":
			months = 3
		case "half", "semestre":
			months = 6
		}
	}
	if n == 0 || months == 0 || n*months > 12 {
		return days{}, 0
	}
	first := time.Month(1 + (n-1)*months)
	begun := func(year int) bool { return date(year, first, 1) <= r.latest }
	year, after := r.yearAfter(next, begun)
	return days{date(year, first, 1), date(year, first+time.Month(months), 0)}, after - at
}

// unit reads this week, last month, la semana pasada, el año anterior, and the ways of
// saying the year until now.
func (r *reader) unit(at int) (days, int) {
	switch first := r.text(at); first {
	case "this", "current", "esta", "este", "presente":
		if unit := units[r.text(at+1)]; unit > hour {
			return r.whole(unit, 0), 2
		}
	case "last", "previous":
		if unit := units[r.text(at+1)]; unit > hour {
			return r.whole(unit, 1), 2
		}
	case "so":
		if r.text(at+1) == "far" && (r.text(at+2) == "this" || r.text(at+2) == "in") {
			if unit := units[r.text(at+3)]; unit > hour {
				return r.whole(unit, 0), 4
			}
		}
	case "lo":
		if r.text(at+1) == "que" && (r.text(at+2) == "va" || r.text(at+2) == "llevamos") && r.text(at+3) == "de" {
			if unit := units[r.text(at+4)]; unit > hour {
				return r.whole(unit, 0), 5
			}
		}
	default:
		unit := units[first]
		switch r.text(at + 1) {
		case "pasado", "pasada", "anterior":
			if unit > hour {
				return r.whole(unit, 1), 2
			}
		case "to":
			if unit > hour && r.text(at+2) == "date" {
				return r.whole(unit, 0), 3
			}
		}
	}
	return days{}, 0
}

// whole returns the unit of today, or one before it.
func (r *reader) whole(unit span, back int) days {
	y, m, _ := onDate(r.today)
	switch unit {
	case day:
		return days{r.today - disclosure.Day(back), r.today - disclosure.Day(back)}
	case week:
		return weekOf(r.today - disclosure.Day(7*back))
	case month:
		return monthOf(y, m-time.Month(back))
	case fortnight:
		return r.before(1, fortnight)
	case quarter:
		first := m - (m-1)%3 - time.Month(3*back)
		return days{date(y, first, 1), date(y, first+3, 0)}
	}
	return yearOf(y - back)
}
