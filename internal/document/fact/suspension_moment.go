package fact

import (
	"slices"
	"time"

	"pregon/internal/document/value"
)

// The moment of a decision is its day, perhaps with the hour: in its sentence, in one behind
// it, in the rows of a form, or on the day on which it is signed.

// setMoment sets the day and hour of a decision, if all places agree.
func (r *reading) setMoment(d *draft, action string, measures []measure) {
	moments := slices.Concat(measures, r.tabledMoments(action, measures), r.linedMoments(action, measures))
	unknown := func() bool {
		return !slices.ContainsFunc(moments, func(m measure) bool { return m.at != "" || m.vague })
	}
	if unknown() {
		moments = r.effectBehind(measures)
	}
	if unknown() {
		moments = r.immediateMoment(measures)
	}
	var found measure
	for _, m := range moments {
		switch {
		case m.vague:
			return
		case m.at == "":
		case found.at == "", len(m.at) > len(found.at) && m.at[:len(found.at)] == found.at:
			found = m
		case m.at != found.at && (len(m.at) >= len(found.at) || m.at != found.at[:len(m.at)]):
			return
		}
	}
	if found.at != "" {
		d.set("at", found.at, found.atAt)
	}
}

// effectBehind returns the moments in sentences behind a decision: "La exclusión surtirá efectos
// el 24 de abril de 2026".
func (r *reading) effectBehind(measures []measure) (found []measure) {
	const reach = 4 // sentences
	for _, m := range measures {
		for i := m.proof.part + 1; i < min(m.proof.part+1+reach, len(r.parts)); i++ {
			p := &r.parts[i]
			if p.aside || p.cells != nil || !p.has("takes effect") || len(p.cues) > mostCues ||
				len(p.values) > mostCues {
				continue
			}
			if len(clausesOf(p).doubts) > 0 || p.isNoMeasure(cue{}) {
				found = append(found, measure{vague: true})
				continue
			}
			moment := measure{action: m.action, proof: place{i, 0, 1}}
			r.setSentenceMoment(&moment, i)
			found = append(found, moment)
		}
	}
	return found
}

// immediateMoment returns the moment of a decision with immediate effect: the day on which it
// is signed, with the hour at which it is signed or made public. The day must be given.
func (r *reading) immediateMoment(measures []measure) []measure {
	if !slices.ContainsFunc(measures, func(m measure) bool { return r.parts[m.proof.part].has("immediate effect") }) {
		return nil
	}
	var found measure
	clock := ""
	if day, at, ok := r.introducedDay(measures[0]); ok && len(measures) == 1 {
		p := &r.parts[measures[0].proof.part]
		hour, _, _, vague := p.hour(0, len(p.tokens))
		if vague {
			return nil
		}
		clock = hour
		found.at = day
		found.atAt = at
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || len(p.cues) > mostCues {
			continue
		}
		if p.has("made public") {
			hour, _, _, vague := p.hour(0, len(p.tokens))
			if vague || clock != "" && hour != "" && hour != clock {
				return nil
			}
			clock = max(clock, hour)
		}
		if day, at, ok := r.signedOn(i); ok {
			hour, _, _, vague := p.hour(0, len(p.tokens))
			if vague || clock != "" && hour != "" && hour != clock {
				return nil
			}
			clock = max(clock, hour)
			if found.at != "" && found.at != day {
				return nil
			}
			found.at = day
			found.atAt = at
		}
	}
	if found.at != "" && clock != "" {
		found.at += "T" + clock
	}
	return []measure{found}
}

// signedOn returns the day of a signature, if it is that of the report: "Madrid, 15 de junio
// de 2026".
func (r *reading) signedOn(i int) (day string, at place, ok bool) {
	const longest = 14 // tokens
	p := &r.parts[i]
	if len(p.tokens) > longest || len(p.values) == 0 || r.Published.IsZero() {
		return "", place{}, false
	}
	day, ok = date(&p.values[0])
	_, hourAt, _, _ := p.hour(p.values[0].To, len(p.tokens))
	for _, v := range p.values[1:] {
		ok = ok && hourAt > 0 && v.From >= hourAt // of the hour
	}
	return day, r.placeOf(i, &p.values[0]), ok && day == r.Published.Format(time.DateOnly)
}

// linedMoments returns the days and hours in the lines of a form that are those of an
// action: "Fecha de efectos: 12/03/2026, 10:42 horas".
func (r *reading) linedMoments(action string, measures []measure) (found []measure) {
	for _, m := range measures {
		first := m.proof.part
		if r.parts[first].cells == nil && (r.parts[first].isDecisionLine() || r.isBelowDecision(first)) {
			for i := first + 1; i < min(first+longestMeasureForm, len(r.parts)); i++ {
				p := &r.parts[i]
				if moment, ok := r.momentBelowLabel(i); ok {
					found = append(found, moment)
					continue
				}
				if p.cells != nil || !p.heading && !isLabelLine(p.text) && !p.isEffectLine() || p.aside ||
					p.nextDate(0) == len(p.tokens) || len(p.cues) > mostCues {
					continue
				}
				if moment, ok := r.momentBeside(p, i, action); ok {
					if len(moment.at) == len(time.DateOnly) && i+1 < len(r.parts) && isLabelLine(r.parts[i+1].text) {
						r.addHourOfRow(&moment, i+1)
					}
					found = append(found, moment)
				}
			}
		}
	}
	return found
}

// isRecent reports whether a decision with effect from a day may be that of the report:
// it is published at once, or some time before an exclusion.
func (r *reading) isRecent(day string) bool { return r.isWithin(day, 4, 120) }

// setSentenceMoment sets the day and hour that a sentence gives to its decision.
func (r *reading) setSentenceMoment(m *measure, i int) {
	p := &r.parts[i]
	names := p.longest("effect date", "other measure date", suspensionDates[m.action])
	last := 0
	days := 0
	for k := range p.values {
		v := &p.values[k]
		day, ok := date(v)
		if !ok {
			continue
		}
		name, named := lastCue(names, last, v.From)
		start := last
		last = v.To
		if !named || name.class == "other measure date" || !r.isRecent(day) {
			continue
		}
		days++
		clock, vague := p.hourAround(v, start, min(p.nextDate(v.To), p.endOfHours(v.To)))
		m.at = day
		m.atAt = r.placeOf(i, v)
		m.vague = m.vague || vague || days > 1
		if clock != "" {
			m.at += "T" + clock
		}
	}
	if days == 0 && last > 0 && r.setTodayAmongDays(m, i) {
		return
	}
	r.settleHour(m, p)
	if days == 0 && last == 0 && p.has("today") && !r.Published.IsZero() {
		r.setToday(m, i)
	}
}

// settleHour gives the only hour of a sentence to its only day. An hour that cannot be
// given to a day makes the day vague.
func (r *reading) settleHour(m *measure, p *part) {
	if len(m.at) > len(time.DateOnly) {
		return
	}
	clock, _, _, vague := p.hour(0, len(p.tokens))
	if clock == "" && !vague {
		return
	}
	day := m.at
	for k := range p.values {
		text, ok := date(&p.values[k])
		if !ok {
			continue
		}
		if day != "" && text != day || !r.isRecent(text) {
			vague = true
		}
		day = text
		m.atAt = r.placeOf(m.proof.part, &p.values[k])
	}
	if day != "" {
		m.at = day + "T" + clock
		m.vague = m.vague || vague
	}
}

// setToday sets the day of the report: "desde las 12:30 horas de hoy".
func (r *reading) setToday(m *measure, i int) {
	p := &r.parts[i]
	clock, _, _, vague := p.hour(0, len(p.tokens))
	today := p.all("today")[0]
	m.at = r.Published.Format(time.DateOnly)
	m.atAt = place{i, today.from, today.to}
	m.vague = vague
	if clock != "" {
		m.at += "T" + clock
	}
}

// setTodayAmongDays sets the day of the report in a sentence that has other days too, if an
// hour stands before it: "a partir de las 10:30 horas del día de hoy, la suspensión acordada
// el 5 de octubre".
func (r *reading) setTodayAmongDays(m *measure, i int) bool {
	const reach = 10
	p := &r.parts[i]
	all := p.all("today")
	if len(all) == 0 || all[0].from != all[len(all)-1].from || r.Published.IsZero() {
		return false
	}
	today := all[0]
	clock, _, to, vague := p.hour(max(0, today.from-reach), today.from)
	if clock == "" || vague || !p.leadsToDay(to, today.from) || p.hasBetween(0, today.from, "other measure date") {
		return false
	}
	m.at = r.Published.Format(time.DateOnly) + "T" + clock
	m.atAt = place{i, today.from, today.to}
	return true
}

// endOfHours returns the token up to which an hour belongs to a day before it.
func (p *part) endOfHours(from int) int {
	const reach = 8
	return min(len(p.tokens), from+reach)
}

// hourAround returns the hour before or behind a day: "a las 12:30 horas del 5 de mayo",
// "el 5 de mayo, a las 12:30 horas".
func (p *part) hourAround(v *value.Value, start, end int) (clock string, vague bool) {
	const reach = 10
	before, _, to, unclear := p.hour(max(start, v.From-reach), v.From)
	if before != "" && !p.leadsToDay(to, v.From) {
		before = ""
	}
	behind, at, _, unsure := p.hour(v.To, end)
	if before != "" && p.hasBetween(v.To, max(at, end), "other measure date", "suspension") {
		return before, false // "de las 16:00 horas de hoy, 15 de junio, la suspensión acordada a las 11:42"
	}
	if before != "" && behind != "" && before != behind {
		return "", true
	}
	return max(before, behind), before == "" && behind == "" && (unclear || unsure || p.hasFigure(v.From-4, v.From))
}

// hasFigure reports whether a range of tokens has a figure without a unit, which may be an
// hour.
func (p *part) hasFigure(from, to int) bool {
	return slices.ContainsFunc(p.valuesIn(from, to), func(v *value.Value) bool {
		return v.Kind == value.Figure && (v.Unit == "" || v.Unit == "hour")
	})
}

// leadsToDay reports whether only words such as "horas de hoy" stand between an hour and
// its day.
func (p *part) leadsToDay(from, to int) bool {
	for i := from; i < to; i++ {
		switch p.word(i) {
		case "del", "de", "dia", "el", "of", "on", "the", "h", "horas", "hores", "hours", "hoy", "today", "d", "", "lunes", "martes",
			"miercoles", "jueves", "viernes", "cet", "cest", "avui":
		default:
			return false
		}
	}
	return true
}

// tabledMoments returns the days and hours in tables and forms that are those of an
// action.
func (r *reading) tabledMoments(action string, measures []measure) (found []measure) {
	listed := r.listedMeasures()
	isMeasure := func(row int) bool {
		return slices.ContainsFunc(measures, func(m measure) bool { return m.proof.part == row })
	}
	for n := range r.tables {
		t := &r.tables[n]
		var head *part
		for k, row := range t.rows {
			p := &r.parts[row]
			if p.aside || len(p.cues) > mostCues || len(p.values) > mostCues || !r.isOfAuthority() && r.namesOther(p) {
				continue
			}
			if listed[row] && len(p.cells) > 2 && !isMeasure(row) {
				continue // about another security
			}
			if p.nextDate(0) == len(p.tokens) {
				if len(p.cells) > 1 && p.has("effect date", suspensionDates[action]) {
					head = p
				}
				continue
			}
			m, ok := r.momentBeside(p, row, action)
			if !ok && head != nil &&
				!p.has("effect date", "other measure date", "lift date", "exclude date", "suspend date") {
				m, ok = r.momentBelow(head, row, action)
			}
			if !ok {
				continue
			}
			if len(m.at) == len(time.DateOnly) && k+1 < len(t.rows) {
				r.addHourOfRow(&m, t.rows[k+1])
			}
			found = append(found, m)
		}
	}
	return found
}

// momentBeside reads a row that names its day.
func (r *reading) momentBeside(p *part, row int, action string) (m measure, ok bool) {
	names := p.longest("effect date", "other measure date", suspensionDates[action])
	last := 0
	for k := range p.values {
		v := &p.values[k]
		day, isDay := date(v)
		if !isDay {
			continue
		}
		name, named := r.dayName(names, last, v.From)
		start := last
		last = v.To
		if !named || name == "other measure date" || !r.isRecent(day) {
			continue
		}
		clock, vague := p.hourAround(v, start, min(p.nextDate(v.To), p.endOfHours(v.To)))
		if ok && day != m.at[:len(time.DateOnly)] {
			m.vague = true
		}
		ok = true
		m.at = day
		m.vague = m.vague || vague
		m.atAt = r.placeOf(row, v)
		if clock != "" {
			m.at += "T" + clock
		}
	}
	return m, ok
}

// dayName returns the name of a day: "fecha de la suspensión" is not that of a decision
// to lift it, although it has the word "fecha".
func (r *reading) dayName(names []cue, from, to int) (class, bool) {
	var found class
	for _, c := range names {
		if c.from < from || c.to > to {
			continue
		}
		if found == "" || found == "effect date" {
			found = c.class
		}
	}
	return found, found != ""
}

// momentBelow reads a row below the names of its columns. If the columns are lost, names
// and days are matched in their order.
func (r *reading) momentBelow(head *part, row int, action string) (m measure, ok bool) {
	p := &r.parts[row]
	names := oneForEach(head, []class{"effect date", "other measure date", suspensionDates[action]})
	var days []*value.Value
	for k := range p.values {
		if _, isDay := date(&p.values[k]); isDay {
			days = append(days, &p.values[k])
		}
	}
	for n, v := range days {
		var name class
		if k := p.cellOf(v.From); len(head.cells) == len(p.cells) {
			name, _ = r.dayName(names, head.cells[k].from, head.cells[k].to)
		} else if len(days) == 1 {
			name, _ = r.dayName(names, 0, len(head.tokens))
		} else if len(days) == len(names) {
			name = names[n].class
		}
		day, _ := date(v)
		if name == "" || name == "other measure date" || !r.isRecent(day) {
			continue
		}
		if ok {
			m.vague = true
		}
		ok = true
		m.at = day
		m.atAt = r.placeOf(row, v)
		clock, _, _, vague := p.hour(v.To, len(p.tokens))
		if clock == "" && head.has("hour label") {
			clock = r.hourCell(p, v)
		}
		m.vague = m.vague || vague
		if clock != "" {
			m.at += "T" + clock
		}
	}
	return m, ok
}

// addHourOfRow adds the hour that has the next row for itself.
func (r *reading) addHourOfRow(m *measure, row int) {
	p := &r.parts[row]
	if !p.has("hour label") || p.nextDate(0) < len(p.tokens) {
		return
	}
	call := []meetingCall{{}}
	r.setHourOfRows(p, call)
	if call[0].clock != "" {
		m.at += "T" + call[0].clock
	}
}
