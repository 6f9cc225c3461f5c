package question

import (
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
)

// units are folded names of units.
var units = map[string]span{
	"hour": hour, "hours": hour, "hora": hour, "horas": hour,
	"day": day, "days": day, "dia": day, "dias": day,
	"week": week, "weeks": week, "semana": week, "semanas": week,
	"month": month, "months": month, "mes": month, "meses": month,
	"quarter": quarter, "quarters": quarter, "trimestre": quarter, "trimestres": quarter,
	"year": year, "years": year, "ano": year, "anos": year,
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
	case quarter:
		first := m - (m-1)%3 - time.Month(3*back)
		return days{date(y, first, 1), date(y, first+3, 0)}
	}
	return yearOf(y - back)
}
