package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/passage"
	"pregon/internal/document/value"
)

// ratingAction is what an agency may do, with the classes of the words for it.
type ratingAction struct {
	name string
	verb class
	noun class
}

// ratingActions are the classes of the words for actions, in sentences and in headings.
var ratingActions = []ratingAction{
	{"upgrade", "rating upgraded", "rating upgrade noun"},
	{"downgrade", "rating downgraded", "rating downgrade noun"},
	{"affirmed", "rating affirmed", "rating affirmed noun"},
	{"review", "rating reviewed", "rating review noun"},
	{"assigned", "rating assigned", "rating assigned noun"},
	{"withdrawn", "rating withdrawn", "rating withdrawn noun"},
}

// outlooks are the classes of the words for outlooks.
var outlooks = map[class]string{
	"rating stable":     "stable",
	"rating positive":   "positive",
	"rating negative":   "negative",
	"rating developing": "developing",
}

// rated is what the document says about the rating of one agency.
type rated struct {
	agency string
	at     place
	fields map[string][]candidate
}

// ratingFinder collects what agencies did.
type ratingFinder struct {
	*reading
	agencies []*rated
	open     map[string][]candidate // of sentences and forms that name no agency
	rows     int                    // of tables that were read
}

// ratings finds the actions of rating agencies.
func ratings(r *reading) []draft {
	f := &ratingFinder{reading: r, open: map[string][]candidate{}}
	if !f.isAboutRatings() || f.isNoCredit() {
		return nil
	}
	for i := range r.parts {
		p := &r.parts[i]
		if !p.aside && p.cells == nil && !f.readLines(i) {
			f.readSentence(i)
		}
	}
	for n := range r.tables {
		f.readTable(&r.tables[n])
	}
	f.findOnlyAgency()
	drafts, of := f.findSeries()
	for _, a := range f.agencies {
		if of != "" && strings.EqualFold(a.agency, of) {
			continue
		}
		if d, ok := f.draft(a); ok {
			drafts = append(drafts, d)
		}
	}
	return drafts
}

// isNoCredit reports whether the document says that its rating is none of credit.
func (f *ratingFinder) isNoCredit() bool {
	return anyPart(f.parts, func(p *part) bool { return p.has("rating no credit") })
}

// findOnlyAgency takes the agency of a document that names it in one sentence, and says in
// others what it did, if it names no second one.
func (f *ratingFinder) findOnlyAgency() {
	if len(f.agencies) > 0 || len(f.open["action"]) == 0 {
		return
	}
	var only *named
	part := -1
	for i := range f.parts {
		p := &f.parts[i]
		if p.aside || len(p.tokens) > longestRating {
			continue
		}
		for _, a := range p.agencies(f.Company) {
			if only != nil && !strings.EqualFold(only.name, a.name) {
				return
			}
			if only == nil && p.cells == nil && !p.has("rating elsewhere") && !f.isDoubtful(p, a.from) &&
				!f.isOlder(p) {
				only = &a
				part = i
			}
		}
	}
	if only != nil {
		f.agencyOf(only.name, place{part, only.from, only.to})
	}
}

// shortReport is the number of parts of a document that may state a rating without a
// title that says so.
const shortReport = 40

// isAboutRatings reports whether the document may announce a rating. A report of results
// or a prospectus mentions those that are known.
func (f *ratingFinder) isAboutRatings() bool {
	title := f.title
	if title.has("rating noun") || len(title.agencies(f.Company)) > 0 || f.category.has("rating noun") {
		return true
	}
	for i := range f.parts {
		p := &f.parts[i]
		if i < 14 && p.heading && (p.has("rating noun") || len(p.agencies(f.Company)) > 0) {
			return true
		}
	}
	return len(f.parts) <= shortReport && !title.has("results title", "dividend", "rating other document")
}

// isOlder reports whether a sentence has a date long before the report.
func (f *ratingFinder) isOlder(p *part) bool {
	if f.Published.IsZero() {
		return false
	}
	const late = 45 * 24 * time.Hour
	for k := range p.values {
		v := &p.values[k]
		if v.Kind != value.Date || p.isInRelative(v.From) || p.isAsideDate(v.From) {
			continue
		}
		since := p.word(v.From - 1)
		if v.Year > 0 && v.Year < f.Published.Year() && (since == "desde" || since == "since") {
			return true // "otorga BB+ desde 2023"
		}
		if v.Month == 0 {
			continue
		}
		year := v.Year
		if year == 0 {
			year = f.Published.Year()
		}
		day := v.Day
		if day == 0 {
			day = 28
		}
		if time.Date(year, time.Month(v.Month), day, 0, 0, 0, 0, time.UTC).Before(f.Published.Add(-late)) {
			return true
		}
	}
	return false
}

// isAsideDate reports whether a date is that of the accounts which an agency read, of what was so until
// now, or stands in the reason of its decision.
func (p *part) isAsideDate(i int) bool {
	const reach = 4 // tokens: "cerrados al 31 de diciembre"
	if p.hasBetween(max(0, i-reach), i, "rating accounts") {
		return true
	}
	from, _ := p.clause(i)
	isSince := p.word(from+1) == "desde" || p.word(from+1) == "since"
	if p.hasBetween(from, from+1, "rating registered") {
		return true // "el Fondo, inscrito en los registros de la CNMV el 19 de septiembre de 2019"
	}
	if from > 0 && isRelative(p.word(from)) && isSince && i <= from+3 {
		return true // "estable la perspectiva, que desde octubre de 2024 venía siendo negativa"
	}
	for _, c := range p.all("rating reason") {
		if c.from < i && len(p.ratingsIn(0, c.from)) > 0 && !p.hasActionBetween(c.to, len(p.tokens)) {
			return true
		}
	}
	return false
}

// hasActionBetween reports whether a word for an action stands in a range of tokens.
func (p *part) hasActionBetween(from, to int) bool {
	return slices.ContainsFunc(p.cues, func(c cue) bool {
		return c.from >= from && c.from < to && slices.Contains(ratingVerbs, c.class)
	})
}

// isInRelative reports whether a token is in a clause that tells since when something was so: "removed from
// CreditWatch, where it was placed on 15 September".
func (p *part) isInRelative(i int) bool {
	from, _ := p.clause(i)
	switch p.word(from) {
	case "where", "donde":
		return from > 0
	}
	return false
}

// draft returns the fact of an agency. It needs an action: a rating that a document only
// mentions is not new.
func (f *ratingFinder) draft(a *rated) (draft, bool) {
	d := newDraft()
	if len(f.agencies) > 1 && f.isOnlyState(a) {
		return d, false // "S&P mantiene su calificación de BBB+", beside what another agency did
	}
	d.set("agency", a.agency, a.at)
	for _, name := range []string{"action", "rating", "outlook"} {
		all := a.fields[name]
		if len(f.agencies) == 1 {
			all = append(slices.Clone(all), f.open[name]...)
		}
		if name == "outlook" && d.fields["action"] == "withdrawn" {
			continue // that of the rating until now
		}
		d.setAgreed(name, all)
	}
	known := d.fields["rating"] != "" || d.fields["action"] == "withdrawn" || len(a.fields["action"]) > 0
	return d, d.fields["action"] != "" && known
}

// agencyOf returns the entry of an agency.
func (f *ratingFinder) agencyOf(name string, at place) *rated {
	for _, a := range f.agencies {
		if strings.EqualFold(a.agency, name) {
			return a
		}
	}
	a := &rated{agency: name, at: at, fields: map[string][]candidate{}}
	if len(f.agencies) < mostFacts {
		f.agencies = append(f.agencies, a)
	}
	return a
}

func keepIn(fields map[string][]candidate, name, text string, at place) {
	if len(fields[name]) > mostRows {
		return
	}
	fields[name] = append(fields[name], candidate{read: read{text: text}, at: at})
}

// readSentence reads what a sentence or heading says.
func (f *ratingFinder) readSentence(i int) {
	p := &f.parts[i]
	named := p.agencies(f.Company)
	if !p.has("rating noun", "rating outlook") && len(named) == 0 {
		return
	}
	if p.has("rating elsewhere") || p.has("rating at present") && !p.has("rating reviewed") || f.isOfOther(p) ||
		len(p.tokens) > longestRating || f.isOlder(p) || f.isTold(p) {
		return
	}
	action, where, certain := f.action(p)
	codes := f.sureCodes(p)
	if len(codes) == 0 && !p.heading && p.has("rating short term") {
		return
	}
	outlook, outlookAt, hasOutlook := p.outlook(0, len(p.tokens))
	if hasOutlook && f.isDoubtful(p, outlookAt.from) {
		hasOutlook = false
	}
	fields := f.open
	var actor *rated
	switch {
	case len(named) == 1 &&
		(action != "" || len(codes) > 0 || hasOutlook || p.mark(len(p.tokens)-1) == ":" && p.has("rating noun")):
		actor = f.agencyOf(named[0].name, place{i, named[0].from, named[0].to})
	case len(named) > 1:
		return // whose action it is, is not certain
	case !p.heading && f.beforeOf(i) != nil:
		actor = f.beforeOf(i)
	}
	if actor != nil {
		fields = actor.fields
	}
	if certain {
		keepIn(fields, "action", action, place{i, where.from, where.to})
	}
	for _, c := range codes {
		keepIn(fields, "rating", c.text, place{i, c.from, c.to})
	}
	if hasOutlook {
		outlookAt.part = i
		keepIn(fields, "outlook", outlook, outlookAt)
	}
}

// beforeOf returns the agency that the sentence before names, in the same paragraph or
// the one before.
func (f *ratingFinder) beforeOf(i int) *rated {
	if len(f.agencies) < 2 {
		return nil // there is only one: see draft
	}
	for k := i - 1; k >= 0 && k >= i-4 && f.parts[k].paragraph >= f.parts[i].paragraph-1; k-- {
		for _, a := range f.agencies {
			if a.at.part == k {
				return a
			}
		}
	}
	return nil
}

// isOnlyState reports whether the document only says that the rating of an agency stays as
// it is.
func (f *ratingFinder) isOnlyState(a *rated) bool {
	for _, c := range a.fields["action"] {
		p := &f.parts[c.at.part]
		if p.hasBetween(0, c.at.from, "rating announces") {
			return false // "ha hecho público hoy que mantiene"
		}
		switch p.word(c.at.from) {
		case "mantiene", "mantienen", "maintains", "mante", "conserva", "keeps":
		default:
			return false
		}
	}
	return true
}

// isOfOther reports whether a sentence is about another company only.
func (f *ratingFinder) isOfOther(p *part) bool {
	if f.ratesOther(p) {
		return true
	}
	if f.namesOwn(p) {
		return false
	}
	for k := range p.tokens {
		switch p.tokens[k].Folded {
		case "fondo", "fund", "fons", "sociedad", "company", "societat", "compania", "emisor", "issuer", "grupo", "group", "companyia":
			return false
		}
	}
	return strings.Contains(p.text, ", S.A.") || strings.Contains(p.text, ", S.L.") ||
		strings.Contains(p.text, ", S.A.U.")
}

// ratesOther reports whether the rating of a sentence is that of another company: "ha
// rebajado la calificación de su filial X, S.A.".
func (f *ratingFinder) ratesOther(p *part) bool {
	if f.Company == "" {
		return false
	}
	if f.ratesOtherBrand(p) {
		return true
	}
	var nouns []cue
	for _, c := range p.all("rating noun") {
		if !p.tokens[c.from].IsCapital() { // "Fitch Ratings"
			nouns = append(nouns, c)
		}
	}
	own := false
	other := false
	for _, n := range p.companies() {
		const reach = 14
		isRated := slices.ContainsFunc(nouns, func(c cue) bool { return c.to <= n.from && n.from-c.to <= reach })
		switch link := p.word(n.from - 1); {
		case !isRated, link == "por", link == "by", len(p.agenciesIn(n.from, n.to)) > 0:
		case f.isCompany(n.text):
			own = true
		case link == "de", link == "of", link == "a", link == "to", link == "filial", link == "subsidiary", link == "participada", link == "d":
			other = true
		}
	}
	return other && !own
}

// ratesOtherBrand reports whether the rating of a sentence is that of a company with another
// name, without its legal form: "la calificación de Aceros Duero".
func (f *ratingFinder) ratesOtherBrand(p *part) bool {
	const acronym = 5 // letters at most: the company may be known by them
	own := strings.Fields(lexicon.Fold(f.Company))
	for _, c := range p.all("rating noun") {
		k := c.to
		for p.hasBetween(k, k+1, "rating kind") {
			k++
		}
		if w := p.word(k); w != "de" && w != "of" || p.tokens[c.from].IsCapital() {
			continue
		}
		k++
		isAcronym := len(p.mark(k)) <= acronym && passage.AllCaps(p.mark(k))
		if !isCapitalAt(p, k) || isAcronym || p.isShouted(k) || p.hasBetween(k, k+1, "rating subject") {
			continue
		}
		_, isCode := p.ratingAt(k)
		_, isAgency := p.agencyAt(k)
		if !isCode && !isAgency && !slices.Contains(own, p.word(k)) {
			return true
		}
	}
	return false
}

// isDoubtful reports whether words before a token, or behind it in its clause, say that
// something is only possible.
func (f *ratingFinder) isDoubtful(p *part, at int) bool {
	_, to := p.clause(at)
	for _, c := range p.cues {
		if c.from >= to {
			break
		}
		if c.class == "rating doubt" && !p.isInDate(c.from) && !p.isAimOfReview(c.from) && !p.isHarmless(c) {
			return true
		}
	}
	return false
}

// isAimOfReview reports whether a token is in what a review may lead to: "en revisión para
// una posible rebaja". The review itself is certain.
func (p *part) isAimOfReview(i int) bool {
	word := p.word(i)
	isChange := p.hasBetween(i, i+1, "rating upgraded", "rating downgraded", "rating upgrade noun", "rating downgrade noun")
	return (isChange || word == "posible" || word == "possible" || word == "eventual") &&
		p.hasBetween(max(0, i-6), i, "rating reviewed")
}

// isHarmless reports whether a cue is part of a phrase that raises no doubt: "si bien".
func (p *part) isHarmless(c cue) bool {
	return slices.ContainsFunc(p.all("harmless phrase"), func(h cue) bool { return h.from <= c.from && c.to <= h.to })
}

// action returns the action of a sentence. It is certain if there is only one.
func (f *ratingFinder) action(p *part) (name string, at cue, certain bool) {
	classes := make([]class, 0, 2*len(ratingActions))
	for _, a := range ratingActions {
		classes = append(classes, a.verb)
		if p.heading {
			classes = append(classes, a.noun)
		}
	}
	for _, c := range p.labels(classes...) {
		if f.isDoubtful(p, c.from) || p.isAimOfReview(c.from) || p.isAdjective(c) || p.isReviewEnd(c) ||
			p.isOnlyRequested(c) || f.isOfEarlierYear(p, c) || !f.isOfRating(p, c) {
			continue
		}
		found := actionName(c.class)
		if name != "" && found != name {
			return name, at, false
		}
		name = found
		at = c
	}
	return name, at, name != ""
}

// isOfEarlierYear reports whether the year of a verb is long over: "que la asignó en 2024".
func (f *ratingFinder) isOfEarlierYear(p *part, c cue) bool {
	const reach = 3 // tokens
	if f.Published.IsZero() {
		return false
	}
	return slices.ContainsFunc(p.valuesIn(c.to, min(len(p.tokens), c.to+reach)), func(v *value.Value) bool {
		isIn := p.word(v.From-1) == "en" || p.word(v.From-1) == "in" || p.word(v.From-1) == "el"
		return v.IsYear() && v.Year < f.Published.Year() && isIn
	})
}

// isReviewEnd reports whether a review is one that ends: "and removed the rating from review".
func (p *part) isReviewEnd(c cue) bool {
	const reach = 8
	return actionName(c.class) == "review" && p.hasBetween(max(0, c.from-reach), c.from, "rating review end")
}

// isOnlyRequested reports whether someone asked the agency for an action: "ha solicitado la retirada de la
// calificación".
func (p *part) isOnlyRequested(c cue) bool {
	const reach = 30
	return p.hasBetween(max(0, c.from-reach), c.from, "rating asked")
}

// isAdjective reports whether a participle only describes the noun behind it: "la elevada
// solvencia", "its improved liquidity".
func (p *part) isAdjective(c cue) bool {
	w := p.word(c.from)
	isParticiple := slices.ContainsFunc([]string{"ada", "ado", "adas", "ados", "ida", "ido", "ed"}, func(end string) bool {
		return strings.HasSuffix(w, end)
	})
	if c.to-c.from > 1 || !isParticiple {
		return false
	}
	switch p.word(c.from - 1) {
	case "la", "el", "las", "los", "una", "un", "su", "sus", "muy", "mas", "the", "its", "an", "a", "their":
		return true
	}
	return false
}

func actionName(c class) string {
	for _, a := range ratingActions {
		if a.verb == c || a.noun == c {
			return a.name
		}
	}
	return ""
}

// longestRating is the number of tokens of the longest sentence about a rating.
const longestRating = 400

// ratingReach is the number of tokens between an action and the rating.
const ratingReach = 16

// isOfRating reports whether an action is about a rating, not an outlook or a figure of
// the accounts.
func (f *ratingFinder) isOfRating(p *part, c cue) bool {
	if p.heading && actionName(c.class) != "" && p.has("rating noun") {
		return !f.isOutlookNext(p, c)
	}
	if f.isOutlookNext(p, c) {
		return false
	}
	if p.hasBetween(c.from-ratingReach, c.to+ratingReach, "rating noun") {
		return true
	}
	for i := max(0, c.from-ratingReach); i < min(len(p.tokens), c.to+ratingReach); i++ {
		if _, ok := p.ratingAt(i); ok {
			return true
		}
	}
	return len(p.agencies(f.Company)) > 0 && p.heading
}

// isOutlookNext reports whether an action is followed by the outlook, before the rating.
func (f *ratingFinder) isOutlookNext(p *part, c cue) bool {
	noun := false
	for i := c.to; i < min(len(p.tokens), c.to+6); i++ {
		if p.hasBetween(i, i+1, "rating noun") {
			noun = true // "ha asignado a la nueva nota una perspectiva estable"
		}
		if noun && isClauseMark(p.mark(i)) {
			return false
		}
		if _, ok := p.ratingAt(i); ok {
			return false
		}
		if p.hasBetween(i, i+1, "rating outlook") {
			return !noun || isIndefinite(p.word(i-1)) || isIndefinite(p.word(i-2))
		}
	}
	return false
}

func isIndefinite(w string) bool { return w == "una" || w == "a" || w == "an" }

// sureCodes returns the new ratings of a sentence.
func (f *ratingFinder) sureCodes(p *part) (found []ratingCode) {
	if !p.has("rating noun") && !p.hasAction() {
		return nil
	}
	if p.has("rating of strength") && p.has("rating of issuer") {
		return nil // an insurer has two
	}
	for _, c := range p.ratingsIn(0, len(p.tokens)) {
		if !c.old && !f.isDoubtful(p, c.from) {
			found = append(found, c)
		}
	}
	return found
}

func (p *part) hasAction() bool {
	return slices.ContainsFunc(p.cues, func(c cue) bool { return actionName(c.class) != "" })
}

// outlook returns the outlook in a range of tokens: the adjective next to the word
// outlook. Of two, the one behind "a" is the new one.
func (p *part) outlook(from, to int) (name string, at place, ok bool) {
	for _, c := range p.all("rating outlook") {
		if c.from < from || c.from >= to {
			continue
		}
		start := max(from, c.from-2)
		end := min(to, c.to+14)
		for k := c.to; k < end; k++ {
			if mark := p.mark(k); mark == ";" || mark == "." || mark == "(" || p.tellsSince(k) {
				end = k
			}
		}
		var found []cue
		for _, q := range p.labels("rating stable", "rating positive", "rating negative", "rating developing") {
			if q.from >= start && q.from < end && !p.hasBetween(q.from-2, q.from, "rating from") {
				found = append(found, q)
			}
		}
		if len(found) == 2 && found[1].from-found[0].to <= 2 && p.isMove(found[0], found[1]) {
			found = found[1:] // "de positiva a estable"
		}
		if len(found) == 0 {
			continue
		}
		first := found[0]
		if len(found) > 1 && outlooks[found[1].class] != outlooks[first.class] {
			return "", place{}, false
		}
		if ok && outlooks[first.class] != name {
			return "", place{}, false
		}
		name = outlooks[first.class]
		at = place{0, min(c.from, first.from), max(c.to, first.to)}
		if at.to-at.from > 6 {
			at = place{0, first.from, first.to}
		}
		ok = true
	}
	return name, at, ok
}

// tellsSince reports whether a relative clause that begins behind a token tells what was so until now:
// "estable la perspectiva, que desde 2024 venía siendo negativa".
func (p *part) tellsSince(i int) bool {
	if p.mark(i) != "," || !isRelative(p.word(i+1)) {
		return false
	}
	switch p.word(i + 2) {
	case "desde", "since", "hasta", "era", "was", "des":
		return true
	}
	return false
}

// isMove reports whether "a" or "to" is between two words.
func (p *part) isMove(a, b cue) bool {
	for k := a.to; k < b.from; k++ {
		switch p.word(k) {
		case "a", "to", "hasta":
			return true
		}
	}
	return false
}
