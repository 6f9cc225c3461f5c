package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// The forms of the words that state a change.
const (
	finite     = iota // nombra: the person follows
	infinitive        // nombrar: the person follows; needs a decision
	participle        // nombrado: the person follows, or is before it in the passive
	noun              // nombramiento: the person follows; needs a decision
	subject           // dimite: the person is before it
)

// boardVerbs are the classes of words that state a change.
var boardVerbs = []struct {
	class  class
	action string
	form   int
}{
	{"board appoints", "appointed", finite},
	{"board to appoint", "appointed", infinitive},
	{"board appointed", "appointed", participle},
	{"board appointment", "appointed", noun},
	{"board new holder", "appointed", subject},
	{"board reelects", "reelected", finite},
	{"board to reelect", "reelected", infinitive},
	{"board reelected", "reelected", participle},
	{"board reelection", "reelected", noun},
	{"board resigns", "resigned", subject},
	{"board resigned", "resigned", subject},
	{"board resignation", "resigned", noun},
	{"board removes", "removed", finite},
	{"board to remove", "removed", infinitive},
	{"board removed", "removed", participle},
	{"board removal", "removed", noun},
}

var boardClasses = func() (classes []class) {
	for _, verb := range boardVerbs {
		classes = append(classes, verb.class)
	}
	return classes
}()

// actionOf returns the change that a class of words states.
func actionOf(c class) string {
	return boardVerbs[slices.Index(boardClasses, c)].action
}

var boardLabels = []class{
	"board person label",
	"board role label",
	"board action label",
	"board effective label",
	"board other label",
}

// change is a word that states a change, with its part.
type change struct {
	cue
	action string
	form   int
}

// boardFact is a change of the board as it is found in one place.
type boardFact struct {
	draft
	part int
	from int // first token of its clause
	to   int
}

// boardChanges finds appointments, re-elections, resignations and removals.
func boardChanges(r *reading) []draft {
	var all []boardFact
	listed := false // the parts are resolutions that were adopted
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() || r.isRecalled(p) {
			continue
		}
		if p.isProse() {
			listed = r.adopts(i, listed)
			found := r.boardSentence(i, listed)
			if len(found) == 0 {
				r.setLaterEffective(i, all)
			}
			all = append(all, found...)
		}
		if len(all) > mostChanges {
			return nil
		}
	}
	all = append(all, r.boardForms()...)
	for n := range r.tables {
		all = append(all, r.boardTable(&r.tables[n])...)
	}
	if len(all) > mostChanges {
		return nil
	}
	return r.mergeBoard(all)
}

// mostChanges is the number of places with changes that are compared with one another. A
// text with more is no report of changes.
const mostChanges = 200

// adopts reports whether the resolutions in the parts behind a part were adopted.
func (r *reading) adopts(i int, before bool) bool {
	p := &r.parts[i]
	if p.has("board proposal") && !p.has("board on proposal") && !(before && p.has("board rejects")) {
		return false
	}
	last := p.mark(len(p.tokens) - 1)
	return before || p.has("board decided") && last == ":"
}

// mostInSentence is the number of changes that a sentence may state.
const mostInSentence = 30

// boardSentence finds the changes that a sentence states.
func (r *reading) boardSentence(i int, listed bool) (found []boardFact) {
	p := &r.parts[i]
	changes := p.changes()
	if len(changes) > mostInSentence {
		return nil
	}
	start := 0
	for n, c := range changes {
		end := len(p.tokens)
		if n+1 < len(changes) {
			end = changes[n+1].from
		}
		if r.isStated(p, c, start, end, listed) {
			for _, f := range r.boardClause(i, c, start, end) {
				found = append(found, f)
				start = max(start, f.from)
			}
		}
		start = max(start, c.to)
	}
	return found
}

// changes returns the words of a part that state a change, in their order.
func (p *part) changes() (found []change) {
	for _, verb := range boardVerbs {
		for _, c := range p.all(verb.class) {
			if verb.form == noun && !p.isDeed(c) || verb.form == participle && !p.hasAuxiliary(c) {
				continue
			}
			if verb.class == "board resigned" && !p.hasAuxiliary(c) || p.isReplaced(c.from) {
				continue
			}
			if verb.class == "board new holder" && p.word(c.from-1) == "que" {
				continue // "cargo que asumirá"
			}
			found = append(found, change{c, verb.action, verb.form})
		}
	}
	slices.SortStableFunc(found, func(a, b change) int { return a.from - b.from })
	kept := found[:0]
	end := 0
	for _, c := range found { // without "elected" in "re-elected"
		if c.from >= end {
			kept = append(kept, c)
			end = c.to
		}
	}
	return kept
}

// isReplaced reports whether a token is in the words that a correction replaces.
func (p *part) isReplaced(token int) bool {
	wrong := false
	for _, c := range p.all("wrong", "corrected") {
		if c.from < token {
			wrong = c.class == "wrong"
		}
	}
	return wrong
}

// deedLinks are the words between a noun and the person or role.
var deedLinks = lexicon.NewSet("de del d of presentada presentado presentadas formulada efectuada a al como as tendered " +
	"submitted")

// isDeed reports whether a noun states a change: "la renuncia de", "su renuncia". In "un
// nombramiento que será efectivo" it only refers to one.
func (p *part) isDeed(c cue) bool {
	return deedLinks.Has(p.word(c.to)) || isPossessive(p.word(c.from-1))
}

func isPossessive(w string) bool {
	switch w {
	case "su", "sus", "his", "her", "seva", "seu", "sendas", "their":
		return true
	}
	return false
}

// hasAuxiliary reports whether a participle is part of a verb: "ha nombrado". Without
// one it is often part of the life of a person: "nombrado consejero en 2015".
func (p *part) hasAuxiliary(c cue) bool {
	for k := c.from - 1; k >= max(0, c.from-3); k-- {
		switch p.word(k) {
		case "ha", "han", "has", "have", "haber", "habiendo", "sido", "been", "estat", "ser", "be":
			return true
		case "fue", "was", "were", "fueron":
			return false
		}
	}
	switch p.word(c.from) {
	case "appointed", "elected", "resigned", "removed", "dismissed", "reelected", "re":
		_, person := p.person(c.to)
		listed := p.word(c.to) == "the" && p.word(c.to+1) == "following"
		if w := p.word(c.from - 1); w == "newly" || w == "who" {
			return false
		}
		return person || listed || p.word(c.from) == "resigned"
	}
	return false
}

// isPassive reports whether a participle states what happened to the person before it.
func (p *part) isPassive(c change) bool {
	switch p.word(c.from - 1) {
	case "sido", "been", "estat", "ser", "be":
		return c.form == participle
	}
	return false
}

// isStated reports whether a clause states a change as a fact of this report, not as a
// proposal, a possibility, or something that happened long ago.
func (r *reading) isStated(p *part, c change, start, end int, listed bool) bool {
	before := max(start, c.from-20, p.relativeBefore(start, c))
	decided := p.hasBetween(0, c.from, "board decided")
	listed = listed && (c.form == infinitive || c.form == noun && c.from < 5)
	if (c.form == infinitive || c.form == noun) && !decided && !listed {
		return false
	}
	if p.isProposed(before, c.from) || p.isDenied(before, c.from) || p.isConditional(start, end) {
		return false
	}
	if p.hasBetween(before, c.from, "possible", "planned", "example", "board older") {
		return false
	}
	if p.hasBetween(max(before, c.from-6), c.from, "past") || p.has("board biography") && c.action != "resigned" {
		return false
	}
	if p.hasBetween(before, c.from, "board future") || c.action == "appointed" && p.hasBetween(before, c.to+2, "board ratified") {
		return false
	}
	leaves := c.action == "removed" || c.action == "resigned"
	if leaves && p.has("board unsure") || c.action == "removed" && p.has("board voluntary") {
		return false
	}
	if c.class == "board new holder" && p.hasBetween(c.to, c.to+5, "board duties") {
		return false // "asumirá interinamente las funciones de Presidente"
	}
	if p.hasBetween(c.to, end, "board elsewhere") && !p.hasBetween(c.to, end, "board on proposal", "board replaced") {
		return false
	}
	if p.hasBetween(start, end, "board subsidiary") || !p.isAboutRole() {
		return false
	}
	return !r.isOld(p, c, end) && !r.isTold(p) && !r.isOfOther(p, c, start, end)
}

// relativeBefore returns the first token of the relative clause whose verb states that a
// person has left: the words before it are about somebody else, as in "She will succeed
// Mr …, who has tendered his resignation". It returns 0 if there is none.
func (p *part) relativeBefore(start int, c change) int {
	if c.form != subject {
		return 0
	}
	for k := c.from - 1; k > max(start, c.from-8); k-- {
		if isRelative(p.word(k)) && p.mark(k-1) == "," {
			return k
		}
	}
	return 0
}

// isAboutRole reports whether a sentence names a role or a board, so that its change is
// not that of an auditor, or an honour.
func (p *part) isAboutRole() bool {
	return p.has("board body") || slices.ContainsFunc(p.tokens, func(t value.Token) bool {
		return roleHeads.Has(t.Folded) || rolePlurals.Has(t.Folded)
	})
}

// isProposed reports whether words before a change make it a proposal. "A propuesta de"
// says who proposed what was decided.
func (p *part) isProposed(from, to int) bool {
	for _, c := range p.all("board proposal") {
		if c.from < from || c.from >= to {
			continue
		}
		who := slices.ContainsFunc(p.all("board on proposal"), func(o cue) bool {
			return o.from <= c.from && c.from < o.to
		})
		if !who {
			return true
		}
	}
	return false
}

// isDenied reports whether a change is denied. The "no" of a non-executive role denies
// nothing.
func (p *part) isDenied(from, to int) bool {
	for _, c := range p.all("denied") {
		if c.from < from || c.from >= to {
			continue
		}
		if p.word(c.from) == "no" && roleAdjectives.Has(p.word(c.to)) {
			continue
		}
		return true
	}
	return false
}

// isConditional reports whether a change needs something that is still open. The
// ratification of an appointment is no such condition: it has effect before.
func (p *part) isConditional(from, to int) bool {
	for _, c := range p.all("board subject to") {
		if c.from >= from && c.from < to && !p.hasBetween(c.to, c.to+8, "board ratified") {
			return true
		}
	}
	return false
}

// isTold reports whether a sentence tells of something long ago: it begins with an old
// date, or names who held a role then.
func (r *reading) isTold(p *part) bool {
	then := slices.ContainsFunc(p.tokens, func(t value.Token) bool { return t.Folded == "entonces" || t.Folded == "aleshores" })
	if then || len(p.values) == 0 || r.Published.IsZero() {
		return then
	}
	const opening = 6 // "c) Con fecha 9 de febrero de 2024"
	v := &p.values[0]
	if v.Kind != value.Date || v.Year == 0 || v.From > opening || p.word(v.From-1) == "desde" || p.word(v.From-1) == "since" {
		return false
	}
	if v.Month == 0 {
		return v.Year < r.Published.Year()
	}
	day := max(v.Day, 1)
	text := time.Date(v.Year, time.Month(v.Month), day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	return !r.isWithin(text, 150, 1200)
}

// isOld reports whether a clause has a date that makes it history.
func (r *reading) isOld(p *part, c change, end int) bool {
	for _, v := range p.valuesIn(c.to, min(end, c.to+30)) {
		if v.Kind != value.Date || v.Year == 0 || r.Published.IsZero() {
			continue
		}
		since := p.word(v.From-1) == "desde" || p.word(v.From-2) == "desde" || p.word(v.From-1) == "since"
		if c.action == "resigned" && since {
			continue
		}
		if v.Month == 0 && v.Year < r.Published.Year() {
			return true
		}
		if t, ok := date(v); ok && !r.isWithin(t, 120, 1200) {
			return true
		}
	}
	return false
}

// isOfOther reports whether a change is that of another company.
func (r *reading) isOfOther(p *part, c change, start, end int) bool {
	for _, n := range p.companies() {
		if r.isCompany(n.text) || r.Company == "" {
			continue
		}
		proposer := p.hasBetween(max(0, n.from-8), n.from, "board replaced", "board on proposal")
		if n.to <= c.from && n.from >= start && !proposer {
			return true
		}
		link := p.word(n.from - 1)
		reason := c.action == "resigned" && p.hasReason(c.to, n.from)
		if n.from >= c.to && n.from < end && !proposer && !reason && (link == "de" || link == "of" || link == "en" || link == "at") {
			return true
		}
	}
	return false
}

// hasReason reports whether a role and then the words for a reason stand in a range of
// tokens: "como consejero, por haber asumido un cargo en …".
func (p *part) hasReason(from, to int) bool {
	role := false
	for k := from; k < to; k++ {
		w := p.word(k)
		if role && (w == "por" || w == "para" || w == "because" || w == "due") {
			return true
		}
		role = role || roleHeads.Has(w)
	}
	return false
}

// boardClause returns the people whose change a clause states.
func (r *reading) boardClause(i int, c change, start, end int) (found []boardFact) {
	p := &r.parts[i]
	behind := p.named(c, c.to, end)
	before := p.lastNamed(start, c.from)
	backwards := c.form == subject || p.isPassive(c) || c.form == noun && isPossessive(p.word(c.from-1))
	switch {
	case backwards && before.to > 0:
		f := r.newBoardFact(i, c, before, start, end)
		p.setRole(&f, c, before, c.to, end, start)
		r.setEffective(&f, i, c.to, end)
		return []boardFact{f}
	case c.action == "removed" && c.form == participle && !p.isPassive(c) && len(behind) > 0 && !p.isObject(behind[0]):
		return nil // "ha cesado D. …" does not say why
	}
	for n, person := range behind {
		to := end
		if n+1 < len(behind) {
			to = behind[n+1].from
		}
		f := r.newBoardFact(i, c, person, c.from, to)
		first := c.to
		if n > 0 {
			first = person.from
		}
		p.setRole(&f, c, person, max(person.to, c.to), to, first)
		r.setEffective(&f, i, person.to, to)
		found = append(found, f)
	}
	if len(found) > 1 && found[len(found)-1].fields["effective"] != "" {
		for n := range found {
			if found[n].fields["effective"] == "" { // perhaps that of all
				delete(found[len(found)-1].fields, "effective")
				delete(found[len(found)-1].proof, "effective")
			}
		}
	}
	return found
}

func (r *reading) newBoardFact(i int, c change, person name, from, to int) boardFact {
	f := boardFact{
		draft: newDraft(),
		part:  i,
		from:  max(from, person.to),
		to:    to,
	}
	f.set("action", c.action, place{i, c.from, c.to})
	f.set("person", person.text, place{i, person.from, person.to})
	return f
}

// isObject reports whether a person is the object of a verb: "a D. …".
func (p *part) isObject(n name) bool {
	for k := n.from - 1; k >= max(0, n.from-5); k-- {
		if p.word(k) == "a" {
			return true
		}
	}
	return false
}

// farthestPerson is the most tokens between a change and its person.
const farthestPerson = 24

// named returns the people behind a change: the first, and those in a list with them.
func (p *part) named(c change, from, to int) (found []name) {
	last := from
	for _, n := range p.people(from, to) {
		if p.hasBetween(max(from, n.from-7), n.from, "board replaced") || p.endsBetween(last, n.from) {
			if len(found) > 0 {
				break
			}
			continue
		}
		if len(found) == 0 {
			if n.from-from > farthestPerson || p.word(c.to) == "que" {
				return nil
			}
		} else if !p.continuesList(n) {
			break
		}
		found = append(found, n)
		last = n.to
	}
	return found
}

// continuesList reports whether a person is the next of a list: "y a D. …", ", D. …".
func (p *part) continuesList(n name) bool {
	k := n.from - 1
	for k >= 0 && (titles.Has(p.word(k)) || p.word(k) == "" && p.mark(k) != ",") {
		k--
	}
	if p.word(k) == "a" || p.word(k) == "of" || p.word(k) == "de" {
		k--
	}
	switch p.mark(k) {
	case ",", "y", "e", "i", "and", "como":
		return true
	}
	return false
}

// lastNamed returns the last person before a change.
func (p *part) lastNamed(from, to int) (found name) {
	for _, n := range p.people(from, to) {
		replaced := p.hasBetween(max(from, n.from-7), n.from, "board replaced")
		relative := p.mark(n.to) == "," && isRelative(p.word(n.to+1)) && to-n.to < 9
		if to-n.to <= farthestPerson && (!replaced || relative) && !p.endsBetween(n.to, to) {
			found = n
		}
	}
	return found
}

func isRelative(w string) bool {
	switch w {
	case "que", "quien", "who", "qui":
		return true
	}
	return false
}

// setRole sets the role of a person: behind the change and the person, between them, or
// before the person who leaves.
func (p *part) setRole(f *boardFact, c change, person name, from, to, first int) {
	at, ok := p.roleBehind(from, to)
	if !ok && at.to == 0 {
		between := place{0, min(c.to, person.to), max(c.from, person.from)}
		if c.to <= person.from {
			between = place{0, max(c.to, first), person.from}
		} else {
			between = place{0, person.to, c.from}
		}
		at, ok = p.role(between.from, between.to)
	}
	if !ok && at.to == 0 {
		at, ok = p.roleBehindProposer(from, to)
	}
	if !ok && at.to == 0 && c.action != "appointed" {
		at, ok = p.roleBefore(person, first)
	}
	if ok {
		at.part = f.part
		f.set("role", p.textOf(at.from, at.to), at)
	}
}

// farthestRole is the most tokens between a person and their role.
const farthestRole = 12

// roleBehind returns the role in the words behind a person. If there is one that is not
// certain, it reports none, with a place.
func (p *part) roleBehind(from, to int) (place, bool) {
	for k := from; k < min(to, from+farthestRole, len(p.tokens)); k++ {
		w := p.word(k)
		if isRelative(w) || p.mark(k) == ";" || w == "tras" || w == "para" || p.hasBetween(k, k+1, "board replaced") {
			return place{}, false
		}
		if roleHeads.Has(w) || rolePlurals.Has(w) {
			at, ok := p.role(from, to)
			if !ok {
				at = place{0, k, k + 1}
			}
			return at, ok
		}
	}
	return place{}, false
}

// roleBehindProposer returns the role behind the words about who proposed a person: "a D.
// …, a propuesta del accionista …, S.L., como consejero dominical".
func (p *part) roleBehindProposer(from, to int) (place, bool) {
	const farthest = 30
	if p.mark(from) != "," || !p.hasBetween(from, from+3, "board on proposal") {
		return place{}, false
	}
	for k := from + 1; k < min(to, from+farthest, len(p.tokens)); k++ {
		if (p.word(k) == "como" || p.word(k) == "as") && p.mark(k-1) == "," {
			return p.roleBehind(k+1, to)
		}
	}
	return place{}, false
}

// roleBefore returns the role directly before a person: "el consejero delegado, D. …".
func (p *part) roleBefore(person name, first int) (place, bool) {
	start := max(first, person.from-longestRole)
	at, ok := p.role(start, person.from)
	if !ok {
		return place{}, false
	}
	for k := at.to; k < person.from; k++ {
		if p.mark(k) != "," && p.mark(k) != "." && p.mark(k) != "ª" && p.mark(k) != "*" && !titles.Has(p.word(k)) {
			return place{}, false
		}
	}
	return at, true
}

// setEffective sets the date on which a change has effect, in a range of tokens.
func (r *reading) setEffective(f *boardFact, i, from, to int) {
	p := &r.parts[i]
	for _, c := range p.all("board effective", "board from") {
		if c.from < from || c.from >= to {
			continue
		}
		for _, v := range p.valuesIn(c.to, min(to, c.to+8)) {
			text, ok := date(v)
			late := 60
			if c.class == "board from" {
				late = 5
				ok = ok && v.From-c.to <= 2
			}
			if !ok || !r.isWithin(text, late, 800) || v.Partner >= 0 || p.hasBetween(c.to, v.From, "meeting held") {
				continue
			}
			if old := f.fields["effective"]; old != "" && old != text {
				delete(f.fields, "effective")
				delete(f.proof, "effective")
				return
			}
			f.set("effective", text, place{i, v.From, v.To})
			break
		}
	}
}

// setLaterEffective reads a sentence that only says when the change of the sentence
// before it has effect: "La decisión será efectiva el …".
func (r *reading) setLaterEffective(i int, all []boardFact) {
	p := &r.parts[i]
	if len(all) == 0 || !p.hasBetween(0, 4, "board reference") || !p.has("board effective") {
		return
	}
	last := &all[len(all)-1]
	several := len(all) > 1 && all[len(all)-2].part == last.part
	if several || i-last.part > 3 || r.parts[last.part].english != p.english || last.fields["effective"] != "" {
		return
	}
	if !p.isConditional(0, len(p.tokens)) && !p.has("possible") {
		r.setEffective(last, i, 0, len(p.tokens))
	}
}

// boardForms finds the changes in forms: a label and its value.
func (r *reading) boardForms() (found []boardFact) {
	record := boardFact{draft: newDraft(), part: -1}
	flush := func() {
		if record.fields["person"] != "" && record.fields["action"] != "" {
			found = append(found, record)
		}
		action, at, person := record.fields["action"], record.proof["action"], record.proof["person"]
		record = boardFact{draft: newDraft(), part: -1}
		if action != "" && isBefore(at, person) { // else each person has one
			record.set("action", action, at)
		}
	}
	last := -1
	for i := range r.parts {
		p := &r.parts[i]
		entries := r.entries(i, boardLabels)
		if p.aside || len(entries) == 0 {
			continue
		}
		if last >= 0 && i-last > 6 {
			flush()
			record = boardFact{draft: newDraft(), part: -1}
		}
		last = i
		for _, e := range entries {
			if e.value.empty() {
				continue
			}
			if e.class == "board person label" && record.fields["person"] != "" {
				flush()
			}
			r.setBoardEntry(&record, e)
		}
	}
	flush()
	return found
}

// isBefore reports whether a place is before another.
func isBefore(a, b place) bool { return a.part < b.part || a.part == b.part && a.from < b.from }

// setBoardEntry reads the value of a label.
func (r *reading) setBoardEntry(record *boardFact, e entry) {
	p := &r.parts[e.value.part]
	record.part = e.value.part
	switch e.class {
	case "board person label":
		if n, ok := p.person(e.value.from); ok && n.to <= e.value.to {
			record.set("person", n.text, place{e.value.part, n.from, n.to})
		}
	case "board role label":
		if at, ok := p.role(e.value.from, e.value.to); ok && at.from-e.value.from < 2 && record.fields["role"] == "" {
			at.part = e.value.part
			record.set("role", p.textOf(at.from, at.to), at)
		}
	case "board action label":
		delete(record.fields, "action") // that of the person before
		delete(record.proof, "action")
		if action, at, ok := p.actionNamed(e.value.from, e.value.to); ok {
			at.part = e.value.part
			record.set("action", action, at)
		} else if p.word(e.value.from) == "alta" {
			record.set("action", "appointed", place{e.value.part, e.value.from, e.value.from + 1})
		}
	case "board effective label":
		for _, v := range p.valuesIn(e.value.from, e.value.to) {
			if text, ok := date(v); ok && r.isWithin(text, 120, 800) {
				record.set("effective", text, place{e.value.part, v.From, v.To})
			}
		}
	}
}

// actionNamed returns the only change that a range of tokens names.
func (p *part) actionNamed(from, to int) (action string, at place, ok bool) {
	if p.isProposed(from, to) || p.hasBetween(from, to, "board unsure", "possible", "planned", "board ratified") {
		return "", place{}, false
	}
	for _, c := range p.withoutOverlap(boardClasses) {
		if c.from < from || c.from >= to {
			continue
		}
		named := actionOf(c.class)
		left := action == "removed" && named == "resigned" // "cese por dimisión"
		if action != "" && action != named && !left {
			return "", place{}, false
		}
		if action == "" || left {
			action = named
			at = place{0, c.from, c.to}
		}
	}
	return action, at, action != ""
}

// boardTable finds the changes in a table with a row for each person.
func (r *reading) boardTable(t *table) (found []boardFact) {
	head := -1
	named := r.actionOfTable(t)
	for n, row := range t.rows {
		p := &r.parts[row]
		if p.aside || p.isLong() || len(found) > mostChanges {
			continue
		}
		if p.isBoardHeading() {
			head = n
			continue
		}
		if head < 0 {
			continue
		}
		if f, ok := r.boardRow(named, t.rows[head], row); ok {
			found = append(found, f)
		}
	}
	return found
}

// isBoardHeading reports whether a row heads a table with a row for each person.
func (p *part) isBoardHeading() bool {
	person := p.has("board person label") || p.hasBetween(0, 1, "board person column") && len(p.cells) > 2
	return person && p.has("board role label") && len(p.people(0, len(p.tokens))) == 0
}

// boardRow reads a row of a table by what its cells are: a person, a role, a change and
// a date.
func (r *reading) boardRow(named boardFact, head, row int) (boardFact, bool) {
	p := &r.parts[row]
	h := &r.parts[head]
	f := boardFact{draft: newDraft(), part: row}
	dates := 0
	for _, c := range p.cells {
		if n, ok := p.person(c.from); ok && n.to <= c.to && f.fields["person"] == "" {
			f.set("person", n.text, place{row, n.from, n.to})
			continue
		}
		if action, at, ok := p.actionNamed(c.from, c.to); ok && f.fields["action"] == "" {
			at.part = row
			f.set("action", action, at)
			continue
		}
		if at, ok := p.role(c.from, c.to); ok && at.from-c.from < 2 && f.fields["role"] == "" {
			at.part = row
			f.set("role", p.textOf(at.from, at.to), at)
			continue
		}
		for _, v := range p.valuesIn(c.from, c.to) {
			if text, ok := date(v); ok {
				dates++
				if h.has("board effective label") && r.isWithin(text, 120, 800) {
					f.set("effective", text, place{row, v.From, v.To})
				}
			}
		}
	}
	if dates > 1 {
		delete(f.fields, "effective")
		delete(f.proof, "effective")
	}
	if f.fields["person"] == "" {
		return f, false
	}
	action := named.fields["action"]
	if f.fields["action"] == "" && action != "" && !h.has("board action label") {
		f.set("action", action, named.proof["action"])
	}
	return f, f.fields["action"] != ""
}

// actionOfTable takes the change from the sentence before a table: "ha acordado los
// siguientes nombramientos:".
func (r *reading) actionOfTable(t *table) boardFact {
	f := boardFact{draft: newDraft()}
	if t.before < 0 {
		return f
	}
	p := &r.parts[t.before]
	if p.has("board subject to", "possible", "planned", "denied") {
		return f
	}
	action, at, ok := p.actionNamed(0, len(p.tokens))
	if ok && (p.has("board decided") || p.english && p.mark(len(p.tokens)-1) == ":") {
		at.part = t.before
		f.set("action", action, at)
	}
	return f
}

// mergeBoard joins the facts about the same change of the same person. Where languages
// stand side by side, the words of the document's language count.
func (r *reading) mergeBoard(all []boardFact) []draft {
	var merged []boardFact
	for _, f := range all {
		n := slices.IndexFunc(merged, func(g boardFact) bool { return r.sameChange(g, f) })
		if n < 0 {
			merged = append(merged, f)
			continue
		}
		g := &merged[n]
		if r.preferred(f, *g) {
			f, *g = *g, f
		}
		for name, text := range f.fields {
			if g.fields[name] == "" {
				g.set(name, text, f.proof[name])
			}
		}
		if a, b := g.fields["effective"], f.fields["effective"]; a != b && b != "" {
			delete(g.fields, "effective")
			delete(g.proof, "effective")
		}
	}
	var drafts []draft
	for _, f := range merged {
		drafts = append(drafts, f.draft)
	}
	return drafts
}

// sameChange reports whether two facts are about the same change.
func (r *reading) sameChange(a, b boardFact) bool {
	if a.fields["action"] != b.fields["action"] {
		return false
	}
	x, y := lexicon.Fold(a.fields["person"]), lexicon.Fold(b.fields["person"])
	if !contains(x, y) && !contains(y, x) {
		return false
	}
	roleA, roleB := a.fields["role"], b.fields["role"]
	columns := a.part == b.part && r.parts[a.part].cells != nil
	otherLanguage := r.parts[a.part].english != r.parts[b.part].english || columns || r.isBilingual()
	return roleA == "" || roleB == "" || sameRole(roleA, roleB) || otherLanguage
}

// isBilingual reports whether the title has two languages side by side.
func (r *reading) isBilingual() bool { return strings.Contains(r.Title, " / ") }

// preferred reports whether the words of a fact count more than those of another about
// the same change: those of the document's language, else the longer role.
func (r *reading) preferred(f, g boardFact) bool {
	if a, b := r.parts[f.part].english, r.parts[g.part].english; a != b && r.Language != "" {
		return a == (r.Language == "en")
	}
	return len(f.fields["role"]) > len(g.fields["role"]) && sameRole(f.fields["role"], g.fields["role"])
}

func contains(text, part string) bool { return strings.Contains(text, part) }
