package fact

import (
	"fmt"
	"slices"

	"pregon/internal/document/value"
)

// callWithoutName returns the date of a meeting in a document without names of calls:
// "The Annual General Meeting will be held on 28 May 2026".
func (r *reading) callWithoutName() (calls []meetingCall) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.has("first call", "second call") {
			return nil
		}
		if p.cells != nil || !r.mayCall(p) || p.has("wrong", "corrected") {
			continue
		}
		dates := r.laterDates(p, 0)
		if len(dates) != 1 || !p.callsFor(dates[0]) || p.doubtsCall(dates[0]) {
			continue
		}
		call := []meetingCall{r.callAt(i, dates[0], false)}
		r.setHours(p, 0, dates, call)
		calls = append(calls, call...)
	}
	return calls
}

// doubtsCall reports whether the words of a sentence leave open whether the meeting takes place on a
// day. What may be resolved there is said behind it: "on 28 May, to consider the proposed merger".
func (p *part) doubtsCall(day *value.Value) bool {
	return slices.ContainsFunc(clausesOf(p).doubts, func(c cue) bool {
		switch c.class {
		case "planned", "conditional":
			return true
		case "possible", "proposal", "denied":
			return c.from < day.To
		}
		return false
	})
}

// callsFor reports whether a sentence says that the meeting is called for a day: it names the
// meeting, and nothing else that has a date.
func (p *part) callsFor(v *value.Value) bool {
	kinds := p.all(meetingKinds...)
	if len(kinds) == 0 || !p.has("called") {
		return false
	}
	if slices.ContainsFunc(p.all("meeting took place"), func(c cue) bool { return !p.isToBeHeld(c) }) {
		return false
	}
	from, to := kinds[0].to, v.From
	if v.To <= kinds[0].from {
		from, to = v.To, kinds[0].from
	}
	return !p.hasBetween(from, to, "attendance", "payment", "ex date", "record date")
}

// callOfForm returns the date of a meeting in a form that has a label for it, in a
// document about one meeting without a second call: "Fecha: 28 de mayo de 2026".
func (r *reading) callOfForm() (calls []meetingCall) {
	if !r.isTopic(meetingKinds...) {
		return nil
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.has("first call", "second call", "wrong", "corrected") ||
			p.has(meetingKinds...) && p.has("dividend decided") {
			return nil // also what a meeting decided
		}
		dates := r.laterDates(p, 0)
		if len(dates) != 1 || !r.mayCall(p) || !p.isMeetingDate(dates[0]) {
			continue
		}
		call := []meetingCall{r.callAt(i, dates[0], false)}
		if r.isWithin(call[0].day, 0, shortestNotice) {
			continue // the date of the document
		}
		r.setHours(p, 0, dates, call)
		calls = append(calls, call...)
	}
	return calls
}

// shortestNotice is the number of days before which no meeting is called.
const shortestNotice = 5

// isMeetingDate reports whether the words before a date are the label of the date of a
// meeting, and nothing else.
func (p *part) isMeetingDate(v *value.Value) bool {
	end := v.From
	for end > 0 && (p.word(end-1) == "" || weekdays[p.word(end-1)] || p.word(end-1) == "el") {
		end--
	}
	label, ok := firstCue(p.longest("meeting date"), 0, end)
	bullet := label.from == 1 && p.word(0) == ""
	return ok && (label.from == 0 || bullet) && label.to == end && !p.has("planned", "possible", "attendance")
}

var weekdays = map[string]bool{
	"lunes": true, "martes": true, "miercoles": true, "jueves": true, "viernes": true, "sabado": true, "domingo": true,
	"monday": true, "tuesday": true, "wednesday": true, "thursday": true, "friday": true, "saturday": true,
	"dilluns": true, "dimarts": true, "dimecres": true, "dijous": true, "divendres": true, "dissabte": true,
}

// hourBelowLabel returns the hour in a line below the label "Hora", or "" if it is not read, and reports
// whether a line has that label above it.
func (r *reading) hourBelowLabel(i int) (clock string, ok bool) {
	const longest = 6 // tokens: "12:30 horas"
	p := &r.parts[i]
	if i == 0 || p.cells != nil || len(p.tokens) > longest || r.parts[i-1].page != p.page {
		return "", false
	}
	label := &r.parts[i-1]
	from := len(label.tokens) - 1
	for from > 0 && !label.beginsLine(from) {
		from--
	}
	hour, found := firstCue(label.longest("hour label"), max(0, from), len(label.tokens))
	if !found || hour.from != from || label.cells != nil || hour.to < len(label.tokens)-1 || p.has("hour label") {
		return "", false
	}
	clock, _, _, vague := p.hour(0, len(p.tokens))
	if clock == "" && !vague && len(p.tokens) > 0 {
		if h, m, _, plain := p.plainHour(0); plain {
			clock = fmt.Sprintf("%02d:%02d", h, m)
		}
	}
	if vague {
		clock = ""
	}
	return clock, true
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
		if clock, ok := r.hourBelowLabel(i); ok {
			if clock == "" || common != "" && clock != common {
				return nil // the hour is given, but not certain
			}
			common = clock
			continue
		}
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
