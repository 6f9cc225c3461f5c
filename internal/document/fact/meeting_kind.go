package fact

import (
	"slices"
	"strings"
)

// callsByKind divides the calls of a document that calls two meetings, an ordinary and an extraordinary
// one, each in sentences that name it. It returns nil if a call is not certainly that of one of them.
func (r *reading) callsByKind(calls []meetingCall) [][]meetingCall {
	groups := map[class][]meetingCall{}
	for _, c := range calls {
		p := &r.parts[c.at.part]
		kinds := p.longest(meetingKinds...)
		if p.cells != nil || len(kinds) == 0 || p.has("both meetings") {
			return nil
		}
		if slices.ContainsFunc(kinds, func(k cue) bool { return k.class != kinds[0].class }) {
			return nil
		}
		groups[kinds[0].class] = append(groups[kinds[0].class], c)
	}
	if len(groups) < 2 {
		return nil
	}
	var found [][]meetingCall
	for _, kind := range meetingKinds {
		if len(groups[kind]) > 0 {
			found = append(found, groups[kind])
		}
	}
	return found
}

var meetingKinds = []class{"ordinary meeting", "extraordinary meeting", "bondholders meeting"}

// setMeetingKind sets the kind of a meeting: that of the sentence with its dates, or else
// that of the title and the headings, or else that of the whole document.
func (r *reading) setMeetingKind(d *draft, calls []meetingCall) {
	if r.setLabelledKind(d) {
		return
	}
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
	r.setTitleKind(d)
}

// setTitleKind sets the kind of a meeting that only the title of the report names. Its proof is the
// place of the call.
func (r *reading) setTitleKind(d *draft) {
	kinds := r.title.longest(meetingKinds...)
	if len(kinds) == 0 || r.title.has("both meetings") {
		return
	}
	if slices.ContainsFunc(kinds, func(c cue) bool { return c.class != kinds[0].class }) {
		return
	}
	call, ok := d.proof["first_call"]
	if !ok {
		return
	}
	kind, _, _ := strings.Cut(string(kinds[0].class), " ")
	d.set("meeting_kind", kind, call)
}

// setLabelledKind sets the kind of a meeting that a form gives behind a label, "Tipo de Junta:
// Ordinaria", and reports whether there is such a label.
func (r *reading) setLabelledKind(d *draft) bool {
	for i := range r.parts {
		p := &r.parts[i]
		label, ok := firstCue(p.longest("meeting kind label"), 0, len(p.tokens))
		if !ok || p.aside {
			continue
		}
		from := label.to
		for p.mark(from) == ":" {
			from++
		}
		if from >= len(p.tokens) {
			if r.setKindBelow(d, i+1) {
				return true
			}
			continue
		}
		kind := kindWords[p.word(from)]
		if kind == "" || p.has("both meetings") {
			continue
		}
		d.set("meeting_kind", kind, place{i, from, from + 1})
		return true
	}
	return false
}

// setKindBelow sets the kind of a meeting that a form gives in the line below the label, and reports
// whether the line has one kind only.
func (r *reading) setKindBelow(d *draft, i int) bool {
	const longest = 10 // tokens
	if i >= len(r.parts) {
		return false
	}
	p := &r.parts[i]
	if p.cells != nil || len(p.tokens) > longest || p.has("both meetings") {
		return false
	}
	kinds := p.longest(meetingKinds...)
	if len(kinds) == 1 {
		kind, _, _ := strings.Cut(string(kinds[0].class), " ")
		d.set("meeting_kind", kind, place{i, kinds[0].from, kinds[0].to})
		return true
	}
	kind := kindWords[p.word(0)]
	if kind == "" || len(p.tokens) > 1 {
		return false
	}
	d.set("meeting_kind", kind, place{i, 0, 1})
	return true
}

// kindWords are the kinds of meetings as forms write them.
var kindWords = map[string]string{
	"ordinaria": "ordinary", "ordinary": "ordinary", "annual": "ordinary",
	"extraordinaria": "extraordinary", "extraordinary": "extraordinary",
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
