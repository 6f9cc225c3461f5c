package fact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// A meeting is found by its calls: dates to come that a sentence or a row names first or
// second call. Words such as "previsiblemente" or "de no alcanzarse el quórum" are usual
// in such notices, and raise no doubt; the meeting must not be only planned, or that of
// another company.

// meetingCall is a date of a document that is a call of the meeting.
type meetingCall struct {
	second bool
	day    string
	clock  string // "12:30", or "" if none is given
	same   bool   // at the hour of the other call
	vague  bool   // an hour is given, but not read
	at     place
}

// meetings finds the meeting that a document calls.
func meetings(r *reading) []draft {
	calls := r.meetingCalls()
	first, okFirst := r.agreedCall(calls, false)
	second, okSecond := r.agreedCall(calls, true)
	if okFirst && okSecond && second.day <= first.day || hasCall(calls, false) && !okFirst {
		return nil
	}
	if first.same {
		first.clock = second.clock
		first.vague = !okSecond || second.same || second.clock == ""
	}
	if second.same {
		second.clock = first.clock
		second.vague = !okFirst || first.same || first.clock == ""
	}
	d := newDraft()
	if okFirst && !first.vague {
		d.set("first_call", first.text(), first.at)
	}
	if okSecond && !second.vague {
		d.set("second_call", second.text(), second.at)
	}
	if len(d.fields) == 0 {
		return nil
	}
	r.setMeetingKind(&d, calls)
	return []draft{d}
}

func (c *meetingCall) text() string {
	if c.clock == "" {
		return c.day
	}
	return c.day + "T" + c.clock
}

func hasCall(calls []meetingCall, second bool) bool {
	return slices.ContainsFunc(calls, func(c meetingCall) bool { return c.second == second })
}

// agreedCall returns the first or second call, if all places agree on its day and those
// that give the hour agree on it.
func (r *reading) agreedCall(calls []meetingCall, second bool) (found meetingCall, ok bool) {
	for _, c := range calls {
		if c.second != second {
			continue
		}
		switch {
		case !ok:
			found = c
			ok = true
		case c.day != found.day, c.clock != "" && found.clock != "" && c.clock != found.clock:
			return meetingCall{}, false
		case found.clock == "" && c.clock != "" || !found.same && found.clock == "" && c.same:
			found = c
		}
	}
	return found, ok
}

// meetingCalls returns the calls of all sentences and tables.
func (r *reading) meetingCalls() (calls []meetingCall) {
	for i := range r.parts {
		if p := &r.parts[i]; p.cells == nil && r.mayCall(p) {
			calls = append(calls, r.callsOfSentence(i)...)
		}
	}
	for n := range r.tables {
		calls = append(calls, r.callsOfTable(&r.tables[n])...)
	}
	if len(calls) == 0 {
		calls = r.callWithoutName()
	}
	if len(calls) == 0 {
		calls = r.callOfForm()
	}
	return r.withCommonHour(calls)
}

// mayCall reports whether a part may tell the date of the meeting.
func (r *reading) mayCall(p *part) bool {
	return !p.aside && len(p.cues) <= mostCues && len(p.values) <= mostCues && !p.isNotCalled() && !p.has("other company", "example") &&
		!r.namesOther(p)
}

// isNotCalled reports whether a sentence says that the meeting is not called yet, or no
// more. A supplement is published "a solicitud de" a shareholder when it is called.
func (p *part) isNotCalled() bool {
	return slices.ContainsFunc(p.all("not called"), func(c cue) bool {
		before, behind := p.word(c.from-1), p.word(c.to)
		asked := (before == "a" || before == "the") && (behind == "de" || behind == "del" || behind == "of") && p.has("called", "supplement")
		return !asked
	})
}

// callName is a place that names the first or the second call.
type callName struct {
	second bool
	from   int
	to     int
}

// callNames returns the names of calls behind a token, in their order.
func (p *part) callNames(from int, first, second class) (names []callName) {
	for _, c := range p.longest(first, second) {
		if c.from < from {
			continue
		}
		if n := len(names) - 1; n >= 0 && c.from < names[n].to {
			continue // two phrases for the same words
		}
		names = append(names, callName{c.class == second, c.from, c.to})
	}
	for i := from; i < len(p.tokens); i++ {
		if end, ok := p.numberedCall(i); ok {
			names = append(names, callName{strings.HasPrefix(p.mark(i), "2"), i, end})
		}
	}
	slices.SortStableFunc(names, func(a, b callName) int { return a.from - b.from })
	return names
}

// numberedCall reads "1.ª convocatoria", as scanners read it too: "1.* convocatoria".
func (p *part) numberedCall(i int) (end int, ok bool) {
	number := p.mark(i)
	switch number {
	case "1", "2", "1ª", "2ª", "1º", "2º":
	default:
		return 0, false
	}
	for k := i + 1; k < min(i+4, len(p.tokens)); k++ {
		switch w := p.word(k); {
		case w == "convocatoria" || w == "call":
			return k + 1, k > i+1 || len(number) > 1
		case len(w) > 1:
			return 0, false
		}
	}
	return 0, false
}

// isLater reports whether a date is after the report was published.
func (r *reading) isLater(date string) bool { return r.isWithin(date, 0, 400) }

// laterDates returns the values that are dates after the report, behind a token.
func (r *reading) laterDates(p *part, from int) (dates []*value.Value) {
	for k := range p.values {
		if text, ok := date(&p.values[k]); ok && p.values[k].From >= from && r.isLater(text) {
			dates = append(dates, &p.values[k])
		}
	}
	return dates
}

// callsOfSentence returns the calls of a sentence. Dates and names are in the same
// order, in whatever way they are mixed: "el 5, en primera convocatoria, y el 6 en
// segunda"; "en primera convocatoria el 5 y en segunda el 6"; "los días 5 y 6, en primera
// y segunda convocatoria".
func (r *reading) callsOfSentence(i int) []meetingCall {
	p := &r.parts[i]
	from := 0
	if corrected, ok := lastCue(p.all("corrected"), 0, len(p.tokens)); ok {
		from = corrected.to
	} else if p.has("wrong") {
		return nil
	}
	dates := r.laterDates(p, from)
	if len(dates) == 0 || len(dates) > 4 {
		return nil
	}
	if p.hasBetween(from, dates[0].From, "attendance") {
		return nil
	}
	names := p.callNames(from, "first call", "second call")
	ofThisPart := len(names) > 0
	if !ofThisPart {
		if label := r.labelLine(i); label != nil && len(dates) == 1 {
			names = label.callNames(0, "first call", "second call")
		}
	}
	if calls, ok := r.nextDay(i, dates, names); ok {
		return calls
	}
	names = p.withoutRepeats(p.withoutExpectation(names, dates), dates)
	if slices.ContainsFunc(names, func(n callName) bool { return ofThisPart && p.deniesCall(n) }) {
		return nil
	}
	if len(names) != len(dates) || len(names) > 2 || len(names) == 2 && names[0].second == names[1].second {
		return nil
	}
	var calls []meetingCall
	for n, v := range dates {
		if ofThisPart && !p.isNamedBy(v, names[n], dates) {
			return nil
		}
		calls = append(calls, r.callAt(i, v, names[n].second))
	}
	r.setHours(p, from, dates, calls)
	return calls
}

// deniesCall reports whether a sentence says "no en primera convocatoria".
func (p *part) deniesCall(n callName) bool {
	for i := n.from - 2; i < n.from; i++ {
		if w := p.word(i); w == "no" || w == "not" {
			return true
		}
	}
	return false
}

// isNamedBy reports whether a name is that of a date: no date of something else stands
// between them, and no word about a payment.
func (p *part) isNamedBy(v *value.Value, name callName, dates []*value.Value) bool {
	from, to := min(v.To, name.to), max(v.From, name.from)
	if p.hasBetween(from, to, "payment", "ex date", "record date") {
		return false
	}
	for _, other := range p.valuesIn(from, to) {
		if other.Kind == value.Date && other.Day > 0 && !slices.Contains(dates, other) {
			return false
		}
	}
	return true
}

// nextDay reads a second call that is not given as a date: "al día siguiente", "el día 29
// del mismo mes".
func (r *reading) nextDay(i int, dates []*value.Value, names []callName) ([]meetingCall, bool) {
	p := &r.parts[i]
	if len(dates) != 1 || len(names) != 2 || names[0].second || !names[1].second {
		return nil, false
	}
	words, ok := firstCue(p.longest("next day", "same month"), dates[0].To, len(p.tokens))
	if !ok || p.nextDate(dates[0].To) < len(p.tokens) || p.has("called off") || p.word(words.to) == "habil" {
		return nil, false
	}
	calls := []meetingCall{r.callAt(i, dates[0], false), {second: true, at: place{i, words.from, words.to}}}
	first, err := time.Parse(time.DateOnly, calls[0].day)
	day := first.AddDate(0, 0, 1)
	if words.class == "same month" {
		n, wrong := strconv.Atoi(p.mark(words.from - 1))
		day = time.Date(first.Year(), first.Month(), n, 0, 0, 0, 0, time.UTC)
		if wrong != nil || day.Month() != first.Month() || !day.After(first) {
			return nil, true
		}
		calls[1].at.from--
	}
	if err != nil {
		return nil, true
	}
	calls[1].day = day.Format(time.DateOnly)
	calls[0].clock, _, _, calls[0].vague = p.hour(dates[0].To, words.from)
	calls[1].clock, _, _, calls[1].vague = p.hour(words.to, len(p.tokens))
	calls[1].same = calls[1].clock == "" && p.hasBetween(dates[0].To, len(p.tokens), "same hour")
	if calls[0].clock == "" {
		before, _, behind, _ := p.hour(dates[0].From-14, dates[0].From)
		if before != "" && p.leadsTo(behind, dates[0].From) {
			calls[0].clock = before
		}
	}
	return calls, true
}

// withoutExpectation drops a third name: it says at which call the meeting is expected
// to be held.
func (p *part) withoutExpectation(names []callName, dates []*value.Value) []callName {
	if len(names) <= len(dates) || len(dates) == 0 {
		return names
	}
	last := dates[len(dates)-1].To
	return slices.DeleteFunc(names, func(n callName) bool {
		return n.from > last && p.hasBetween(last, n.from, "planned", "possible", "meeting expected")
	})
}

// withoutRepeats drops a name that is given again before the next date: "el 5 de mayo en
// primera convocatoria y, si no pudiera celebrarse en primera convocatoria, el 6 en
// segunda".
func (p *part) withoutRepeats(names []callName, dates []*value.Value) []callName {
	if len(names) <= len(dates) {
		return names
	}
	var kept []callName
	for _, name := range names {
		n := len(kept) - 1
		repeated := n >= 0 && kept[n].second == name.second &&
			!slices.ContainsFunc(dates, func(v *value.Value) bool { return v.From >= kept[n].to && v.From < name.from })
		if !repeated {
			kept = append(kept, name)
		}
	}
	return kept
}

func (r *reading) callAt(i int, v *value.Value, second bool) meetingCall {
	day, _ := date(v)
	return meetingCall{second: second, day: day, at: r.placeOf(i, v)}
}

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
	if len(calls) != 2 {
		return
	}
	first, second := &calls[0], &calls[1]
	isFirstOpen := first.clock == "" && !first.same && !first.vague
	switch {
	case isFirstOpen && second.clock != "" &&
		(dates[1].From-dates[0].To <= 3 || p.hasBetween(dates[1].To, len(p.tokens), "both calls")):
		first.clock = second.clock
	case isFirstOpen && second.clock != "":
		first.vague = true // its hour is given in a way that is not read
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
			return false
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
			if (p.word(i) == "las" || p.word(i) == "les") && (p.word(i-1) == "a") && clock == "" {
				if _, _, _, next := p.hourAt(i + 1); !next {
					vague = true
				}
			}
			continue
		}
		text := fmt.Sprintf("%02d:%02d", h, m)
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

// hourAt reads a time of day at a token: as clock does, and also behind "a las" without
// "horas".
func (p *part) hourAt(i int) (hour, minute, end int, ok bool) {
	if hour, minute, end, ok = p.clock(i); ok {
		return hour, minute, end, true
	}
	switch p.word(i - 1) {
	case "las", "les", "at":
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

// isMoney reports whether the figure at a token has a unit.
func (p *part) isMoney(i int) bool {
	return slices.ContainsFunc(p.values, func(v value.Value) bool {
		return v.From == i && v.Kind == value.Figure && v.Unit != "" && v.Unit != "hour"
	})
}

// plainHour reads 12.30 or 12:30.
func (p *part) plainHour(i int) (hour, minute, end int, ok bool) {
	h, m, found := strings.Cut(strings.Replace(p.mark(i), ".", ":", 1), ":")
	hour, err := strconv.Atoi(h)
	if err != nil || !found || len(m) != 2 || hour > 23 || p.isMoney(i) {
		return 0, 0, 0, false
	}
	minute, err = strconv.Atoi(m)
	return hour, minute, i + 1, err == nil && minute < 60
}

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
		if dates := r.laterDates(p, 0); len(found) == 0 && len(heads) == 2 && len(dates) == 2 && len(p.cells) == cells {
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

// setHourOfRows sets the hour that has a row of its own.
func (r *reading) setHourOfRows(p *part, calls []meetingCall) {
	for i := range p.tokens {
		hour, minute, _, ok := p.hourAt(i)
		if !ok && p.cellOf(i) > 0 {
			hour, minute, _, ok = p.plainHour(i)
		}
		if !ok {
			continue
		}
		for n := range calls {
			if calls[n].clock == "" && !calls[n].same {
				calls[n].clock = fmt.Sprintf("%02d:%02d", hour, minute)
			}
		}
		return
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
	last := 0
	var dates []*value.Value
	for _, v := range r.laterDates(p, 0) {
		for _, n := range names {
			if n.from >= last && n.to <= v.From && !p.hasBetween(n.to, v.From, "attendance") && !p.labelledBefore(last, n.from) {
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

// callWithoutName returns the date of a meeting in a document without names of calls:
// "The Annual General Meeting will be held on 28 May 2026".
func (r *reading) callWithoutName() (calls []meetingCall) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.has("first call", "second call") {
			return nil
		}
		if p.cells != nil || !r.mayCall(p) || !p.has(meetingKinds...) || !p.has("called") || p.has("wrong", "corrected") ||
			p.has("possible", "planned", "conditional", "proposal", "denied") {
			continue
		}
		dates := r.laterDates(p, 0)
		if len(dates) != 1 {
			continue
		}
		call := []meetingCall{r.callAt(i, dates[0], false)}
		r.setHours(p, 0, dates, call)
		calls = append(calls, call...)
	}
	return calls
}

// callOfForm returns the date of a meeting in a form that has a label for it, in a
// document about one meeting without a second call: "Fecha: 28 de mayo de 2026".
func (r *reading) callOfForm() (calls []meetingCall) {
	if !r.isTopic(meetingKinds...) {
		return nil
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.has("second call", "wrong", "corrected") {
			return nil
		}
		dates := r.laterDates(p, 0)
		if len(dates) != 1 || !r.mayCall(p) || !p.isMeetingDate(dates[0]) {
			continue
		}
		call := []meetingCall{r.callAt(i, dates[0], false)}
		r.setHours(p, 0, dates, call)
		calls = append(calls, call...)
	}
	return calls
}

// isMeetingDate reports whether the words before a date are the label of the date of a
// meeting, and nothing else.
func (p *part) isMeetingDate(v *value.Value) bool {
	end := v.From
	for end > 0 && (p.word(end-1) == "" || weekdays[p.word(end-1)] || p.word(end-1) == "el") {
		end--
	}
	label, ok := firstCue(p.longest("meeting date"), 0, end)
	return ok && label.from <= 1 && label.to == end && !p.has("planned", "possible", "attendance")
}

var weekdays = map[string]bool{
	"lunes": true, "martes": true, "miercoles": true, "jueves": true, "viernes": true, "sabado": true, "domingo": true,
	"monday": true, "tuesday": true, "wednesday": true, "thursday": true, "friday": true, "saturday": true,
}

// withCommonHour sets the hour that a sentence of its own gives.
func (r *reading) withCommonHour(calls []meetingCall) []meetingCall {
	if len(calls) == 0 || slices.ContainsFunc(calls, func(c meetingCall) bool { return c.clock != "" }) {
		return calls
	}
	besideCalls := map[int]bool{} // paragraphs
	for _, c := range calls {
		besideCalls[r.parts[c.at.part].paragraph] = true
	}
	common := ""
	for i := range r.parts {
		p := &r.parts[i]
		label := p.has("hour label") && len(p.tokens) <= 10 || p.has("meeting starts") || besideCalls[p.paragraph]
		if p.cells != nil || !r.mayCall(p) || !label || p.nextDate(0) < len(p.tokens) || p.has("doors", "attendance") {
			continue
		}
		clock, _, _, vague := p.hour(0, len(p.tokens))
		if vague || clock != "" && common != "" && clock != common {
			return nil // the hour is given, but not certain
		}
		common = max(common, clock)
	}
	for n := range calls {
		calls[n].clock = common
	}
	return calls
}

var meetingKinds = []class{"ordinary meeting", "extraordinary meeting", "bondholders meeting"}

// setMeetingKind sets the kind of a meeting: that of the sentence with its dates, or else
// that of the title and the headings, or else that of the whole document.
func (r *reading) setMeetingKind(d *draft, calls []meetingCall) {
	var near, titles, all []int
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.has("other company") || !p.has(meetingKinds...) && !p.has("both meetings") {
			continue
		}
		all = append(all, i)
		if p.heading || p.has("called") {
			titles = append(titles, i)
		}
		if slices.ContainsFunc(calls, func(c meetingCall) bool { return c.at.part == i }) {
			near = append(near, i)
		}
	}
	for _, parts := range [][]int{near, titles, all} {
		if len(parts) == 0 {
			continue
		}
		r.setAgreedKind(d, parts)
		return
	}
}

// setAgreedKind sets the kind of a meeting if some parts agree on it.
func (r *reading) setAgreedKind(d *draft, parts []int) {
	var found cue
	at := -1
	for _, i := range parts {
		p := &r.parts[i]
		if p.has("both meetings") {
			return
		}
		for _, c := range p.all(meetingKinds...) {
			if at >= 0 && c.class != found.class {
				return
			}
			found = c
			at = i
		}
	}
	kind, _, _ := strings.Cut(string(found.class), " ")
	d.set("meeting_kind", kind, place{at, found.from, found.to})
}
