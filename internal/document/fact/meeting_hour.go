package fact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/document/value"
)

// setHours sets the hours of the calls of a sentence or a row. An hour belongs to the
// date before it, or to the date that follows it directly: "a las 12:00 horas del día 5
// de mayo". Two dates that are given together share the hour.
func (r *reading) setHours(p *part, from int, dates []*value.Value, calls []meetingCall) {
	for n := range calls {
		start, end := from, len(p.tokens)
		if n > 0 {
			start = dates[n-1].To
		}
		if n+1 < len(dates) {
			end = dates[n+1].From
		}
		if later := p.nextDate(dates[n].To); later < end {
			end = later
		}
		clock, at, to, vague := p.hour(dates[n].To, end)
		if at > 0 && n+1 < len(dates) && p.leadsTo(to, dates[n+1].From) {
			clock = ""
		}
		if clock == "" && !vague {
			before, _, behind, unclear := p.hour(max(start, dates[n].From-14), dates[n].From)
			if before != "" && p.leadsTo(behind, dates[n].From) {
				clock = before
			}
			vague = unclear && p.leadsTo(dates[n].From-4, dates[n].From)
		}
		calls[n].clock = clock
		calls[n].vague = vague
		calls[n].same = clock == "" && (p.sameHourBehind(dates[n].To, end) || p.sameHourBefore(start, dates[n].From))
	}
	r.doubtOtherHour(p, from, calls)
	if len(calls) != 2 {
		return
	}
	first, second := &calls[0], &calls[1]
	if second.clock == "" && !second.vague && !first.same && p.hasBetween(dates[0].To, len(p.tokens), "same hour") {
		second.same = true // "a la misma hora y en el mismo lugar del día 17 de junio"
	}
	isFirstOpen := first.clock == "" && !first.same && !first.vague
	switch {
	case isFirstOpen && second.clock != "" &&
		(dates[1].From-dates[0].To <= 3 || p.hasBetween(dates[1].To, len(p.tokens), "both calls")):
		first.clock = second.clock
	case isFirstOpen && second.clock != "":
		first.vague = true // its hour is given in a way that is not read
	}
}

// doubtOtherHour marks the calls of a sentence as vague if none has an hour, but the sentence gives
// one: "será a las 17:00 horas, en lugar de a las 12:00 horas, del 28 de mayo".
func (r *reading) doubtOtherHour(p *part, from int, calls []meetingCall) {
	hasHour := func(c meetingCall) bool { return c.clock != "" || c.same || c.vague }
	if p.cells != nil || p.has("doors", "attendance") || slices.ContainsFunc(calls, hasHour) {
		return
	}
	clock, _, _, vague := p.hour(from, len(p.tokens))
	if clock == "" && !vague {
		return
	}
	for n := range calls {
		calls[n].vague = true
	}
}

// sameHourBehind reports whether "a la misma hora" stands between two tokens, and is not
// said of the date at the second.
func (p *part) sameHourBehind(from, to int) bool {
	return p.hasBetween(from, to, "same hour") && (to == len(p.tokens) || !p.sameHourBefore(from, to))
}

// sameHourBefore reports whether "a la misma hora" leads to a date: "a la misma hora del
// día 6 de mayo".
func (p *part) sameHourBefore(from, date int) bool {
	words, ok := lastCue(p.all("same hour"), from, date)
	return ok && p.leadsTo(words.to, date) && date > words.to
}

// nextDate returns the first token of the next complete date behind a token, or the end.
func (p *part) nextDate(from int) int {
	for k := range p.values {
		if v := &p.values[k]; v.From >= from && v.Kind == value.Date && v.Day > 0 {
			return v.From
		}
	}
	return len(p.tokens)
}

// leadsTo reports whether only short words stand between two tokens: "horas del día".
func (p *part) leadsTo(from, to int) bool {
	if to-from > 4 {
		return false
	}
	for i := from; i < to; i++ {
		switch p.word(i) {
		case "del", "de", "dia", "el", "of", "on", "the", "h", "horas", "hours", "d", "lunes", "martes", "miercoles", "jueves",
			"viernes", "sabado", "proximo", "siguiente", "next", "":
		default:
			if !weekdays[p.word(i)] {
				return false
			}
		}
	}
	return p.mark(from) != ","
}

// hour returns the time of day in a range of tokens. It is vague if there are several,
// or if one is announced that is not read.
func (p *part) hour(from, to int) (clock string, at, end int, vague bool) {
	for i := max(0, from); i < min(to, len(p.tokens)); i++ {
		h, m, behind, ok := p.hourAt(i)
		if !ok {
			if clock == "" && p.announcesHour(i) {
				if _, _, _, next := p.hourAt(i + 1); !next {
					vague = true
				}
			}
			continue
		}
		shift, behind, known := p.zone(behind)
		if !known || h+shift > 23 {
			vague = true
			clock = ""
			i = behind - 1
			continue
		}
		text := fmt.Sprintf("%02d:%02d", h+shift, m)
		if clock != "" && clock != text {
			return "", 0, 0, true
		}
		clock = text
		at = i
		end = behind
		i = behind - 1
	}
	return clock, at, end, vague
}

// announcesHour reports whether an hour must follow a word: "a las", "at half past".
func (p *part) announcesHour(i int) bool {
	switch p.word(i) {
	case "las", "les":
		return p.word(i-1) == "a"
	case "at":
		return p.word(i+1) == "half" || p.word(i+1) == "quarter" || hours[p.word(i+1)] > 0 || p.word(i+2) == "o"
	}
	return false
}

// hourAt reads a time of day at a token: as clock does, and also behind "a las" without
// "horas".
func (p *part) hourAt(i int) (hour, minute, end int, ok bool) {
	if hour, minute, end, ok = p.clock(i); ok {
		return hour, minute, end, true
	}
	switch p.word(i - 1) {
	case "las", "les", "at":
		if hour, minute, end, ok = p.spelledHour(i); ok {
			return hour, minute, end, true
		}
		return p.plainHour(i)
	case "from":
		if p.word(i+1) == "on" {
			return p.plainHour(i)
		}
	}
	named := p.word(i-1) == "hora" || p.word(i-1) == "time" || p.mark(i-1) == "," || p.mark(i-1) == ":"
	if p.cells != nil && named {
		return p.plainHour(i)
	}
	return 0, 0, 0, false
}

// spelledHour reads "doce y cuarto" or "doce del mediodía", of the hours at which meetings
// begin in the morning.
func (p *part) spelledHour(i int) (hour, minute, end int, ok bool) {
	hour = hours[p.word(i)]
	if hour < 9 || hour > 13 {
		return 0, 0, 0, false
	}
	if p.word(i+1) == "del" && p.word(i+2) == "mediodia" {
		return hour, 0, i + 3, hour == 12
	}
	minute, end, ok = p.minutes(i + 1)
	return hour, minute, end, ok
}

// isMoney reports whether the figure at a token has a unit.
func (p *part) isMoney(i int) bool {
	return slices.ContainsFunc(p.values, func(v value.Value) bool {
		return v.From == i && v.Kind == value.Figure && v.Unit != "" && v.Unit != "hour"
	})
}

// plainHour reads 12.30, 12,30 or 12:30.
func (p *part) plainHour(i int) (hour, minute, end int, ok bool) {
	h, m, found := strings.Cut(strings.NewReplacer(".", ":", ",", ":").Replace(p.mark(i)), ":")
	hour, err := strconv.Atoi(h)
	if err != nil || !found || len(m) != 2 || hour > 23 || p.isMoney(i) {
		return 0, 0, 0, false
	}
	minute, err = strconv.Atoi(m)
	return hour, minute, i + 1, err == nil && minute < 60
}
