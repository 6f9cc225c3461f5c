package fact

import (
	"fmt"

	"pregon/internal/document/value"
)

// callsOfTable returns the calls of a table or a form: in rows that name them, or below
// columns that do.
func (r *reading) callsOfTable(t *table) (calls []meetingCall) {
	var heads []callName
	cells := 0
	last := 0 // the calls of the row before
	for _, row := range t.rows {
		p := &r.parts[row]
		if !r.mayCall(p) {
			last = 0
			continue
		}
		if last > 0 && p.has("hour label") {
			r.setHourOfRows(p, calls[len(calls)-last:])
		}
		found := r.callsOfRow(row)
		if names := p.callNames(0, "first call", "second call"); len(found) == 0 && len(names) == 2 {
			heads = names
			cells = len(p.cells)
			last = 0
			continue
		}
		if dates := r.laterDates(p, 0); len(found) == 0 && len(heads) == 2 && len(dates) == 2 &&
			(len(p.cells) == cells || len(p.cells) == cells+1) {
			for n, v := range dates {
				found = append(found, r.callAt(row, v, heads[n].second))
			}
			r.setHours(p, 0, dates, found)
		}
		heads = nil
		last = r.lastCalls(calls, found, last)
		calls = append(calls, found...)
	}
	return calls
}

// lastCalls returns how many calls at the end of a list a row with the hour is about: the
// calls of the row before it, and of the rows before that one.
func (r *reading) lastCalls(calls, found []meetingCall, last int) int {
	if len(found) == 0 {
		return 0
	}
	return min(last, len(calls)) + len(found)
}

// setHourOfRows sets the hour that has a row of its own, or the hours of both calls in it.
func (r *reading) setHourOfRows(p *part, calls []meetingCall) {
	var clocks []string
	for i := 0; i < len(p.tokens); i++ {
		hour, minute, end, ok := p.hourAt(i)
		if !ok && p.cellOf(i) > 0 {
			hour, minute, end, ok = p.plainHour(i)
		}
		if !ok {
			continue
		}
		clocks = append(clocks, fmt.Sprintf("%02d:%02d", hour, minute))
		i = max(i, end-1)
	}
	for n := range calls {
		c := &calls[n]
		switch {
		case len(clocks) == 0 || c.clock != "" || c.same:
		case len(clocks) == len(calls):
			c.clock = clocks[n]
		case len(clocks) == 1:
			c.clock = clocks[0]
		default:
			c.vague = true
		}
	}
}

// callsOfRow returns the calls of a row: the name of each stands before its date.
func (r *reading) callsOfRow(row int) (calls []meetingCall) {
	p := &r.parts[row]
	names := p.callNames(0, "first call", "second call")
	if len(names) == 0 && len(p.cells) > 1 {
		first := part{tokens: p.tokens[:p.cells[0].to], cues: p.cues}
		if first.has("first row", "second row") && p.cells[0].to-p.cells[0].from <= 3 {
			names = p.callNames(0, "first row", "second row")
		}
	}
	if later := r.laterDates(p, 0); len(names) > 0 && len(later) > 0 && names[0].from > later[0].From {
		return r.callsNamedBehind(row, later, names)
	}
	last := 0
	var dates []*value.Value
	for _, v := range r.laterDates(p, 0) {
		if len(calls) > 0 && r.unnamed(p, last, v.From) {
			return nil // two dates for a call: one of them is no longer valid
		}
		for _, n := range names {
			if n.from >= last && n.to <= v.From && !p.hasBetween(n.to, v.From, "attendance") &&
				!p.labelledBefore(last, n.from) {
				calls = append(calls, r.callAt(row, v, n.second))
				dates = append(dates, v)
				break
			}
		}
		last = v.To
	}
	if len(calls) > 2 {
		return nil
	}
	r.setHours(p, 0, dates, calls)
	for n := range calls {
		if calls[n].clock == "" && len(calls) == 1 {
			calls[n].clock = r.hourCell(p, dates[n])
		}
	}
	return calls
}

// callsNamedBehind returns the calls of a row in which each date has its name behind it: "1 de julio de
// 2026, 11:00 horas (primera convocatoria)".
func (r *reading) callsNamedBehind(row int, dates []*value.Value, names []callName) (calls []meetingCall) {
	p := &r.parts[row]
	if len(names) != len(dates) || len(names) > 2 || p.hasBetween(0, dates[0].From, "attendance") {
		return nil
	}
	for n, v := range dates {
		if names[n].from < v.To || p.nextDate(v.To) < names[n].from || p.hasBetween(v.To, names[n].from, "attendance") {
			return nil
		}
		calls = append(calls, r.callAt(row, v, names[n].second))
	}
	if len(calls) == 2 && calls[0].second == calls[1].second {
		return nil
	}
	r.setHours(p, 0, dates, calls)
	return calls
}

// labelledBefore reports whether the label of a row is about attendance or votes, and
// only mentions the call: "Voto a distancia, primera convocatoria".
func (p *part) labelledBefore(from, to int) bool {
	k := p.cellOf(to)
	return p.hasBetween(max(from, p.cells[k].from), to, "attendance")
}

// hourCell returns the hour in a cell of its own behind a date.
func (r *reading) hourCell(p *part, v *value.Value) string {
	k := p.cellOf(v.From)
	if k+1 >= len(p.cells) || p.cells[k+1].to-p.cells[k+1].from > 2 {
		return ""
	}
	hour, minute, _, ok := p.plainHour(p.cells[k+1].from)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%02d:%02d", hour, minute)
}
