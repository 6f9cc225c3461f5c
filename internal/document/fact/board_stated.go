package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

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
	return deedLinks.Has(p.word(p.behindCooption(c.to))) || p.isInterrupted(c.to) || isPossessive(p.word(c.from-1))
}

// isInterrupted reports whether words between two commas stand between a noun and the person: "el
// nombramiento, por cooptación y con efectos desde el 1 de mayo de 2026, de D.ª …".
func (p *part) isInterrupted(from int) bool {
	const longest = 18 // tokens
	if p.mark(from) != "," {
		return false
	}
	for k := from + 1; k < min(from+longest, len(p.tokens)); k++ {
		if p.mark(k) != "," {
			continue
		}
		_, ok := p.person(k + 2)
		return ok && (p.word(k+1) == "de" || p.word(k+1) == "of")
	}
	return false
}

// behindCooption returns the token behind words that name the procedure of an appointment: "el
// nombramiento por el procedimiento de cooptación de D. …", else the given token.
func (p *part) behindCooption(from int) int {
	const reach = 6
	first := from
	if p.mark(first) == "," {
		first++
	}
	if w := p.word(first); w != "por" && w != "mediante" && w != "by" && w != "per" {
		return from
	}
	for _, c := range p.all("board cooption") {
		if c.from <= first || c.from > first+reach {
			continue
		}
		if p.mark(c.to) == "," {
			return c.to + 1
		}
		return c.to
	}
	return from
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
	for k := c.from - 1; k >= max(0, c.from-4); k-- {
		switch p.word(k) {
		case "habia", "habian", "had", "having", "havia", "havien": // what was before
			return false
		}
	}
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
	decided := p.isResolved(c.from)
	listed = listed && (c.form == infinitive || c.form == noun && c.from < 5)
	if (c.form == infinitive || c.form == noun) && !decided && !listed {
		return false
	}
	if p.isProposed(before, c.from) || p.isDenied(before, c.from) || p.isConditional(start, end) {
		return false
	}
	if (c.form == infinitive || c.form == noun) && p.isOnlyAsked(c) || p.isSubmitted(c.to, end) {
		return false
	}
	if p.hasBetween(before, c.from, "possible", "planned", "example", "board older") {
		return false
	}
	if p.hasBetween(max(before, c.from-6), c.from, "past") || p.has("board biography") && c.action != "resigned" {
		return false
	}
	if p.isToCome(before, c.from) || c.action == "appointed" && p.hasBetween(before, c.to+2, "board ratified") {
		return false
	}
	if p.isRefusedChange(c) || p.hasBetween(0, c.from, "board hearsay") || r.title.has("board hearsay", "board press") {
		return false
	}
	if c.action == "appointed" && p.hasBetween(c.to, end, "board awaits") {
		return false
	}
	if p.isLeftState(c) || p.isWaiver(c) || p.isBackstory(c) || p.isRegistered(c) {
		return false
	}
	leaves := c.action == "removed" || c.action == "resigned"
	if leaves && p.hasBetween(c.to, c.to+12, "board waives") {
		return false // a right, not the role
	}
	if leaves && p.has("board unsure") || c.action == "removed" && p.isVoluntary(c, end) {
		return false
	}
	if c.action == "appointed" && p.hasBetween(c.to, end, "board errand") {
		return false // "designar a D. … para que eleve a público los acuerdos"
	}
	if c.class == "board new holder" && p.hasBetween(c.to, c.to+5, "board duties") {
		return false // "asumirá interinamente las funciones de Presidente"
	}
	if p.hasBetween(c.to, end, "board elsewhere") && !p.hasBetween(c.to, end, "board on proposal", "board replaced") {
		return false
	}
	if p.hasBetween(start, end, "board subsidiary") || !p.isAboutRole() && !r.leavesRole(p, c) {
		return false
	}
	if c.form == noun && leaves && p.hasBetween(c.from-reachOfCause, c.from, "board vacancy") {
		return false // why there is a vacancy is often known: "la vacante causada por la dimisión de D. …"
	}
	return !r.isOld(p, c, end) && !r.isTold(p) && !r.isOfOldMeeting(p, c) && !r.isOfOther(p, c, start, end) &&
		!r.isByOther(p, c)
}

// continuingWords begin a sentence about the person or the firm of the sentence before.
var continuingWords = lexicon.NewSet("he she it they his her sustituye sustituira releva relevara sucede sucedera reemplaza reemplazara sra sr don dona " +
	"asimismo tambien ademas also his her their substitueix la el the")

// reachOfCause is the number of tokens between a vacancy and its cause.
const reachOfCause = 8

// isByOther reports whether the subject of a verb is a firm that has no legal form beside its
// name: "Beta Motores ha nombrado presidente a D. …". Words that the rules know, such as
// "Consejo", are no names.
func (r *reading) isByOther(p *part, c change) bool {
	if r.Company == "" || c.form != finite && c.form != participle || p.isPassive(c) {
		return false
	}
	k := c.from - 1
	for k >= 0 && (isPerfect(p.word(k)) || addingWords.Has(p.word(k)) || strings.HasSuffix(p.word(k), "mente")) {
		k--
	}
	var name []string
	for last := k; k >= 0 && last-k < longestName; k-- {
		w := p.word(k)
		if particles.Has(w) && !isCapitalAt(p, k) {
			continue
		}
		if !isCapitalAt(p, k) {
			break
		}
		if roleHeads.Has(w) || ownCompany.Has(w) ||
			p.hasBetween(k, k+1, "board body", "general meeting", "board deciding body") {
			return false
		}
		if !phrases.isKnown(w) && !noName.Has(w) && !noCompany.Has(w) {
			name = append(name, w)
		}
	}
	if titles.Has(p.word(k)) || p.word(k) == "" && titles.Has(p.word(k-1)) {
		return false // "ha reelegido a don … y ha designado a doña …"
	}
	return len(name) > 0 && !r.sharesName(name) && !r.isInitials(name)
}

// addingWords begin a sentence without a subject: "También ha reelegido a D. …".
var addingWords = lexicon.NewSet("also tambien tambe asimismo aixi mateix ademas igualment ayer hoy ahir avui se les le li nos today yesterday " +
	"recently then y e i and finalment")

// isPerfect reports whether a word is the auxiliary of a perfect.
func isPerfect(w string) bool {
	switch w {
	case "ha", "han", "has", "have":
		return true
	}
	return false
}

// isInitials reports whether a name is the initials of the company of the report.
func (r *reading) isInitials(name []string) bool {
	initials := ""
	for _, w := range strings.Fields(lexicon.Fold(r.Company)) {
		if !particles.Has(w) && w != "y" && w != "e" && w != "i" {
			initials += w[:1]
		}
	}
	return len(name) == 1 && len(name[0]) > 1 && strings.HasPrefix(initials, name[0])
}

// isRefusedChange reports whether the last decision before a change is to refuse or undo it: "approved
// the accounts and rejected the appointment of Ms …".
func (p *part) isRefusedChange(c change) bool {
	refused := false
	for _, d := range p.all("board refused", "board decided") {
		if d.from < c.from {
			refused = d.class == "board refused"
		}
	}
	return refused
}

// isVoluntary reports whether words of a sentence say that someone who leaves wants to: "cese
// a petición propia". The words about another person before the change do not count: "ha
// aceptado la dimisión de D. … y ha acordado cesar a D. …".
func (p *part) isVoluntary(c change, end int) bool {
	if c.form == subject || p.isPassive(c) || isPossessive(p.word(c.from-1)) {
		return p.has("board voluntary")
	}
	behind := p.named(c, c.to, end)
	return slices.ContainsFunc(p.all("board voluntary"), func(v cue) bool {
		if v.from > c.from || len(behind) == 0 {
			return true
		}
		others := p.people(v.to, c.from)
		return len(others) == 0 || slices.ContainsFunc(others, func(n name) bool { return n.text == behind[0].text })
	})
}

// isOnlyAsked reports whether a change is the object of a proposal, a call or a plan, not of
// a decision: "ha acordado proponer a la Junta el nombramiento de D. … y la reelección de
// D.ª …", "ha convocado la Junta para deliberar sobre el nombramiento de D. …". The words
// behind the last decision before the change tell it, however far they are.
func (p *part) isOnlyAsked(c change) bool {
	from := 0
	for k := c.from - 1; k >= 0 && from == 0; k-- {
		if p.mark(k) == ";" {
			from = k
		}
	}
	for _, d := range p.all("board decided") {
		if d.from < c.from && d.from >= from && !isInfinitive(p.word(d.from)) {
			from = d.to
		}
	}
	return p.isProposed(from, c.from) || p.hasBetween(from, c.from, "board asked")
}

// isInfinitive reports whether a Spanish or Catalan verb is in the infinitive: what is to be
// decided is not decided.
func isInfinitive(w string) bool {
	return strings.HasSuffix(w, "ar") || strings.HasSuffix(w, "er") || strings.HasSuffix(w, "ir")
}

// isSubmitted reports whether words behind a change say that someone still has to decide
// it. The ratification of an appointment comes behind its effect.
func (p *part) isSubmitted(from, to int) bool {
	return slices.ContainsFunc(p.all("board submitted"), func(c cue) bool {
		return c.from >= from && c.from < to && !p.hasBetween(c.from-10, c.to+10, "board ratified")
	})
}

// relativeBefore returns the first token of the relative clause whose verb states that a
// person has left: the words before it are about someone else, as in "She will succeed
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
	then := slices.ContainsFunc(p.tokens, func(t value.Token) bool {
		return t.Folded == "entonces" || t.Folded == "aleshores"
	})
	if then || len(p.values) == 0 || r.Published.IsZero() {
		return then
	}
	const opening = 6 // "c) Con fecha 9 de febrero de 2024"
	v := &p.values[0]
	if v.Kind != value.Date || v.Year == 0 || v.From > opening || p.word(v.From-1) == "desde" ||
		p.word(v.From-1) == "since" {
		return false
	}
	if v.Month == 0 {
		return v.Year < r.Published.Year()
	}
	return !r.isWithin(firstDay(v), 150, 1200)
}

// isOfOldMeeting reports whether the words before a change say that it was decided long ago: "los acuerdos
// de la Junta de 18 de junio de 2026, entre ellos el nombramiento de D. …". The dates of laws do not count.
func (r *reading) isOfOldMeeting(p *part, c change) bool {
	const reach = 8
	if c.form == subject || r.Published.IsZero() {
		return false
	}
	for k := range p.values {
		v := &p.values[k]
		if v.To > c.from {
			break
		}
		isDay := v.Kind == value.Date && v.Day > 0 && v.Month > 0 && v.Year > 0
		if isDay && !r.isWithin(firstDay(v), 150, 1200) &&
			p.hasBetween(v.From-reach, v.From, "meeting held", "board deciding body") {
			return true
		}
	}
	return false
}

// firstDay returns the day of a date, the first one if it is a month.
func firstDay(v *value.Value) string {
	return time.Date(v.Year, time.Month(v.Month), max(v.Day, 1), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// relativeBehind returns the first token of a relative clause in a range of tokens, or the
// end of the range.
func (p *part) relativeBehind(from, to int) int {
	for k := from; k < to; k++ {
		if p.mark(k) == "," && isRelative(p.word(k+1)) {
			return k
		}
	}
	return to
}

// isOld reports whether a clause has a date that makes it history.
func (r *reading) isOld(p *part, c change, end int) bool {
	end = min(end, c.to+30)
	if relative := p.relativeBehind(c.to, end); c.form != subject {
		end = relative // the life of the person: "a D. …, que fue consejero en 2015"
	}
	for _, v := range p.valuesIn(c.to, end) {
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
		if t := firstDay(v); v.Month > 0 && !r.isWithin(t, 120, 1200) {
			return true
		}
	}
	return false
}

// isOfOther reports whether a change is that of another company.
func (r *reading) isOfOther(p *part, c change, start, end int) bool {
	for _, n := range p.companies() {
		if r.isCompany(n.text) || r.Company == "" || n.to <= c.from && p.endsBetween(n.to, c.from) {
			continue
		}
		proposer := p.hasBetween(max(0, n.from-8), n.from, "board replaced", "board on proposal")
		if n.to <= c.from && n.from >= start && !proposer {
			return true
		}
		link := p.word(n.from - 1)
		reason := c.action == "resigned" && p.hasReason(c.to, n.from)
		if n.from >= c.to && n.from < end && !proposer && !reason &&
			(link == "de" || link == "of" || link == "en" || link == "at") {
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
