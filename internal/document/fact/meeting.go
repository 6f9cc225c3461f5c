package fact

import (
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
	if d, ok := r.meetingOf(calls); ok {
		return []draft{d}
	}
	var drafts []draft
	for _, group := range r.callsByKind(calls) {
		d, ok := r.meetingOf(group)
		if !ok {
			return nil
		}
		drafts = append(drafts, d)
	}
	return drafts
}

// meetingOf makes a fact of the calls of a meeting, if all places agree on them.
func (r *reading) meetingOf(calls []meetingCall) (draft, bool) {
	first, okFirst := r.agreedCall(calls, false)
	second, okSecond := r.agreedCall(calls, true)
	if okFirst && okSecond && second.text() <= first.text() || hasCall(calls, false) && !okFirst {
		return draft{}, false
	}
	if r.isAbroad() {
		first.vague = first.vague || first.clock != "" && !r.parts[first.at.part].namesZone()
		second.vague = second.vague || second.clock != "" && !r.parts[second.at.part].namesZone()
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
	if len(d.fields) == 0 || !r.hasGeneralMeeting() {
		return draft{}, false
	}
	r.setMeetingKind(&d, calls)
	return d, true
}

// hasGeneralMeeting reports whether the document speaks of a meeting of shareholders or of
// holders of bonds: boards have calls too.
func (r *reading) hasGeneralMeeting() bool {
	return r.title.has("general body") || anyPart(r.parts, func(p *part) bool { return p.has("general body") })
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
	revoked := r.revokedCall()
	for i := range r.parts {
		p := &r.parts[i]
		if p.cells == nil && r.mayCall(p) && (revoked < 0 || i > revoked && p.has("called anew", "called later")) {
			calls = append(calls, r.callsOfSentence(i, 0)...)
		}
	}
	if revoked >= 0 {
		return r.withCommonHour(append(calls, r.callsAnew(revoked)...))
	}
	if !r.isTopic("yearly calendar") {
		for n := range r.tables {
			calls = append(calls, r.callsOfTable(&r.tables[n])...)
		}
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
	if p.aside || len(p.cues) > mostCues || len(p.values) > mostCues || p.has("other company", "example") {
		return false
	}
	return !p.isNotCalled() && !p.isOnlyPlanned() && !p.isQuestion() && (!r.namesOther(p) || p.has("meeting agent"))
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
func (r *reading) callsOfSentence(i, from int) []meetingCall {
	p := &r.parts[i]
	if corrected, ok := lastCue(p.all("corrected"), 0, len(p.tokens)); ok {
		from = corrected.to
	} else if p.has("wrong") {
		return nil
	}
	dates := slices.DeleteFunc(r.laterDates(p, from), p.isFormerDate)
	dates = p.withoutEchoes(dates)
	if len(dates) == 0 || len(dates) > 4 {
		return nil
	}
	if p.isOnAttendance(from, dates[0].From) || p.callsBoard(from, dates[0].From) {
		return nil
	}
	names := p.withImpliedFirst(p.callNames(from, "first call", "second call"), dates, from)
	ofThisPart := len(names) > 0
	if calls, ok := r.secondCallOnly(i, dates, names); ok {
		return calls
	}
	if slices.ContainsFunc(names, p.isHeldMeeting) {
		return nil
	}
	if !ofThisPart {
		if len(dates) == 1 {
			names = r.callNamesAbove(i)
		}
	}
	if calls, ok := r.nextDay(i, dates, names); ok {
		return calls
	}
	if calls, ok := r.callsOfOneDay(i, dates, names); ok {
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
	for n := range calls {
		calls[n].vague = calls[n].vague || calls[n].clock == "" && !calls[n].same && r.isCut(p)
	}
	return calls
}

// withoutEchoes drops a date in words that has the same one in brackets directly behind it: "el
// veintitrés de abril de dos mil veintiséis (23 de abril de 2026)".
func (p *part) withoutEchoes(dates []*value.Value) (kept []*value.Value) {
	for n, v := range dates {
		if n > 0 && p.mark(v.From-1) == "(" && v.From == dates[n-1].To+1 && daysBetween(dates[n-1], v) == 0 {
			kept[len(kept)-1] = v
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

// isCut reports whether a part is a line of a column whose sentence goes on in the next line, which
// is not read with it.
func (r *reading) isCut(p *part) bool {
	if !r.inColumns || len(p.tokens) == 0 {
		return false
	}
	switch p.mark(len(p.tokens) - 1) {
	case ".", ":", ";", ")":
		return false
	}
	return true
}

// withImpliedFirst adds the name of the first call, if a sentence only names the second one:
// "se celebrará el 5 de mayo o, en segunda convocatoria, el 6 de mayo".
func (p *part) withImpliedFirst(names []callName, dates []*value.Value, from int) []callName {
	const apart = 40 // days
	if adjourned, ok := firstCue(p.all("adjourned meeting"), from, len(p.tokens)); ok && len(names) == 0 {
		names = []callName{{second: true, from: adjourned.from, to: adjourned.to}}
	}
	if len(names) == 1 && !names[0].second && len(dates) == 2 {
		return p.withShortSecond(names)
	}
	if len(names) != 1 || !names[0].second {
		return names
	}
	if len(dates) != 2 {
		return p.callNames(from, "first call", "second call")
	}
	called, ok := lastCue(p.all("called"), from, dates[0].From)
	if !ok || names[0].from < dates[0].To || p.hasBetween(called.to, dates[0].From, "attendance", "payment") {
		return names
	}
	if days := daysBetween(dates[0], dates[1]); days <= 0 || days > apart {
		return names
	}
	return []callName{{second: false, from: called.from, to: called.to}, names[0]}
}

// withShortSecond adds the name of the second call that leaves out the noun of the first one:
// "28 de mayo, primera convocatoria; 29 de mayo, segunda".
func (p *part) withShortSecond(names []callName) []callName {
	for i := names[0].to; i < len(p.tokens); i++ {
		switch p.word(i) {
		case "segunda", "segona", "second":
			return append(names, callName{second: true, from: i, to: i + 1})
		}
	}
	return names
}

// daysBetween returns how many days a date is behind another.
func daysBetween(a, b *value.Value) int {
	from := time.Date(a.Year, time.Month(a.Month), a.Day, 0, 0, 0, 0, time.UTC)
	to := time.Date(b.Year, time.Month(b.Month), b.Day, 0, 0, 0, 0, time.UTC)
	return int(to.Sub(from).Hours() / 24)
}

// isHeldMeeting reports whether a call is that of a meeting that took place: "the meeting held
// today on first call approved a dividend, payable on 3 June".
func (p *part) isHeldMeeting(n callName) bool {
	const near = 14
	held, ok := lastCue(p.all("meeting took place"), max(0, n.from-near), n.from)
	return ok && !p.isToBeHeld(held)
}

// isToBeHeld reports whether "held" is that of a meeting to come: "to be held on".
func (p *part) isToBeHeld(held cue) bool {
	switch p.word(held.from - 1) {
	case "be", "ser", "sera", "a":
		return true
	}
	return false
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

// callsOfOneDay reads two calls of the same day, as cooperatives have them: "el 12 de junio de 2026, a las
// 18:30 horas en primera convocatoria y a las 19:00 horas en segunda".
func (r *reading) callsOfOneDay(i int, dates []*value.Value, names []callName) ([]meetingCall, bool) {
	p := &r.parts[i]
	if len(dates) != 1 || len(names) != 2 || names[0].second || !names[1].second || names[0].from < dates[0].To {
		return nil, false
	}
	if p.nextDate(dates[0].To) < len(p.tokens) || p.has("next day", "same month", "same hour", "doors") {
		return nil, false
	}
	calls := []meetingCall{r.callAt(i, dates[0], false), r.callAt(i, dates[0], true)}
	var unsure [2]bool
	calls[0].clock, _, _, unsure[0] = p.hour(dates[0].To, names[0].from)
	calls[1].clock, _, _, unsure[1] = p.hour(names[0].to, names[1].from)
	if unsure[0] || unsure[1] || calls[0].clock == "" || calls[1].clock <= calls[0].clock {
		return nil, false
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
