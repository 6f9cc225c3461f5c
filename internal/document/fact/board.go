package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
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

// change is a word that states a change, with its part.
type change struct {
	cue
	action string
	form   int
}

// boardFact is a change of the board as it is found in one place.
type boardFact struct {
	draft
	former place // the role before the change, in a form
	part   int
	from   int // first token of its clause
	to     int
}

// boardChanges finds appointments, re-elections, resignations and removals.
func boardChanges(r *reading) []draft {
	var all []boardFact
	listed := r.title.has("board adopted title") // the parts are resolutions that were adopted
	passed := r.allPassed()
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() || r.isRecalled(p) {
			continue
		}
		if passed && len(p.cells) > 1 && !r.isProposalTitle() {
			all = append(all, r.boardSentence(i, true)...) // "2. To re-elect Ms …" with its votes
		} else if p.isProse() {
			listed = r.adopts(i, listed)
			found := r.boardSentence(i, listed && (!r.isProposalTitle() || p.has("board cooption")))
			if len(found) == 0 {
				all = r.withoutConditional(i, all)
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

// allPassed reports whether a sentence says that a meeting adopted all that was proposed to it.
func (r *reading) allPassed() bool {
	return anyPart(r.parts, func(p *part) bool {
		return p.cells == nil && !p.aside && p.has("board all resolutions") && p.has("board passed") &&
			!p.has("denied", "possible", "planned", "board except", "conditional") && !r.isTold(p)
	})
}

// mostChanges is the number of places with changes that are compared with one another. A
// text with more is no report of changes.
const mostChanges = 200

// adopts reports whether the resolutions in the parts behind a part were adopted.
func (r *reading) adopts(i int, before bool) bool {
	p := &r.parts[i]
	if p.isSubmitted(0, len(p.tokens)) {
		return false
	}
	if before && r.isOwnItem(i) {
		return true
	}
	if p.has("board proposal") && !p.has("board on proposal") && !(before && p.has("board rejects")) {
		return false
	}
	last := p.mark(len(p.tokens) - 1)
	return before || p.has("board decided") && last == ":"
}

// isOwnItem reports whether a part is an item of a list that says nothing about the items
// behind it: "1. Convocar la Junta General para el 29 de abril". One that ends with a colon or
// names an agenda has a list of its own.
func (r *reading) isOwnItem(i int) bool {
	p := &r.parts[i]
	if len(p.tokens) == 0 || p.mark(len(p.tokens)-1) == ":" || p.has("board own list") {
		return false
	}
	const longestMarker = 3 // tokens: "1.º"
	alone := i > 0 && r.parts[i-1].paragraph == p.paragraph && len(r.parts[i-1].tokens) <= longestMarker
	return p.hasMarker() || alone && r.parts[i-1].hasMarker()
}

// hasMarker reports whether a part begins with the number or letter of an item.
func (p *part) hasMarker() bool {
	if len(p.tokens) < 2 || !p.tokens[0].IsNumber() && len(p.mark(0)) != 1 {
		return false
	}
	switch p.mark(1) {
	case ".", ")", "º", "ª", "°", "-", "–":
		return true
	}
	return false
}

// mostInSentence is the number of changes that a sentence may state.
const mostInSentence = 30

// boardSentence finds the changes that a sentence states.
func (r *reading) boardSentence(i int, listed bool) (found []boardFact) {
	p := &r.parts[i]
	changes := p.changes()
	if len(changes) > mostInSentence || len(changes) > 0 && r.continuesOther(i) {
		return nil
	}
	start := 0
	stated := true // the change before
	for n, c := range changes {
		end := len(p.tokens)
		if n+1 < len(changes) {
			end = changes[n+1].from
		}
		depends := !stated && p.relativeBefore(start, c) > 0 // "…, en sustitución de D. …, que ha dimitido"
		stated = !depends && r.isStated(p, c, start, end, listed)
		if stated {
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

// boardClause returns the people whose change a clause states.
func (r *reading) boardClause(i int, c change, start, end int) (found []boardFact) {
	p := &r.parts[i]
	behind := p.named(c, c.to, end)
	before := p.lastNamed(start, c.from)
	backwards := c.form == subject || p.isPassive(c) ||
		c.form == noun && (isPossessive(p.word(c.from-1)) || p.isHandedIn(c))
	switch {
	case backwards && before.to > 0:
		f := r.newBoardFact(i, c, before, start, end)
		p.setRole(&f, c, before, c.to, end, start)
		if !r.isOwnRole(&f) || f.fields["role"] == "" && p.isHonour(c) {
			return nil
		}
		r.setEffective(&f, i, c.to, end)
		r.setEffectiveToday(&f, i, c.to, end)
		return []boardFact{f}
	case c.action == "removed" && c.form == participle && !p.isPassive(c) && len(behind) > 0 && !p.isObject(behind[0]):
		return nil // "ha cesado D. …" does not say why
	}
	for n, person := range behind {
		if !p.isToRole(person.to, end) || r.isOwnName(person) && p.isOfFirm(person) {
			continue
		}
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
		if !r.isOwnRole(&f) {
			return nil
		}
		r.setEffective(&f, i, person.to, to)
		r.setEffectiveToday(&f, i, person.to, to)
		found = append(found, f)
	}
	if len(found) == 1 && found[0].fields["effective"] == "" && behind[0].from > c.to {
		r.setEffective(&found[0], i, c.to, behind[0].from) // "nombra presidenta, con efectos de …, a doña …"
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

// isHandedIn reports whether a resignation is the object of a verb whose subject is the person
// who leaves: "D. … ha presentado la renuncia al cargo de consejero".
func (p *part) isHandedIn(c change) bool {
	if _, ok := p.person(c.to + 1); ok {
		return false // "ha comunicado la dimisión de D. …"
	}
	k := c.from - 1
	if isArticle(p.word(k)) {
		k--
	}
	switch p.word(k) {
	case "presentado", "presenta", "presento", "presentat", "formalizado", "comunicado", "comunicat":
		return c.action == "resigned"
	}
	return false
}

// isOwnName reports whether all long words of a name are in that of the company.
func (r *reading) isOwnName(n name) bool {
	const shortest = 4 // letters: not "de la"
	long := slices.DeleteFunc(strings.Fields(lexicon.Fold(n.text)), func(w string) bool { return len(w) < shortest })
	return !slices.ContainsFunc(long, func(w string) bool { return !slices.Contains(r.own, w) })
}

// isToRole reports whether the words "como" or "as" behind a person name a role that is
// known. Advisers, experts and auditors are appointed too.
func (p *part) isToRole(from, to int) bool {
	const reach = 6
	if p.mark(from) == "," {
		from++
	}
	if w := p.word(from); w != "como" && w != "as" && !(w == "com" && p.word(from+1) == "a") {
		return true
	}
	for k := from + 1; k < min(to, from+reach, len(p.tokens)); k++ {
		if w := p.word(k); roleHeads.Has(w) || rolePlurals.Has(w) || p.hasBetween(k, k+1, "board body") {
			return true
		}
	}
	return false
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

// farthestPerson is the most tokens between a change and its person.
const farthestPerson = 24

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
			if p.hasBetween(max(from, k-3), k, "board current") {
				continue // "hasta ahora vicepresidenta"
			}
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
