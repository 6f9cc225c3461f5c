package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/value"
)

// votesClasses are the classes of labels of the totals, and of labels that look like them.
var votesClasses = []class{
	"votes total", "votes shares", "votes capital", "votes date", "votes no capital", "votes other date", "votes nominal",
	"votes excluded", "votes column",
}

// votesFields are the fields of the classes.
var votesFields = map[class]string{
	"votes total":   "voting_rights",
	"votes shares":  "shares",
	"votes capital": "capital",
	"votes date":    "as_of",
}

// votesFinder collects the totals of shares, votes and capital.
type votesFinder struct {
	*reading
	found map[string][]candidate
	// earlier reports for each part whether it is in a section about the last report
	earlier []bool
	rows    int  // of tables that were read
	sure    bool // the title announces votes, not only capital
	aside   bool // the title announces a change of the capital
	// dates are those of the columns of the table that is read, and their row
	dates   []*value.Value
	datesAt int
	// days are those of the sentences with totals, by part
	days map[int]string
}

// votingRights finds the total number of shares and voting rights.
func votingRights(r *reading) []draft {
	f := &votesFinder{reading: r, found: map[string][]candidate{}, days: map[int]string{}}
	if !f.isAboutVotes() {
		return nil
	}
	f.markEarlier()
	for i, supposed := range f.supposed() {
		f.earlier[i] = f.earlier[i] || supposed
	}
	for i := range r.parts {
		if p := &r.parts[i]; !p.aside && p.cells == nil && !f.earlier[i] {
			f.readSentence(i)
		}
	}
	for n := range r.tables {
		f.readTable(&r.tables[n])
	}
	f.dropEarlierDays()
	if f.aside && !f.hasAllTotals() {
		return nil
	}
	d := newDraft()
	if !d.setAgreed("voting_rights", f.found["voting_rights"]) && !f.sure {
		return nil
	}
	if !d.setAgreed("shares", f.found["shares"]) {
		d.setAgreed("shares", f.allShares())
	}
	if d.setAgreed("capital", f.found["capital"]) {
		c, _ := agreed(f.found["capital"])
		d.set("currency", c.currency, c.at)
	}
	d.setAgreed("as_of", f.found["as_of"])
	if f.aside && (d.fields["voting_rights"] == "" || d.fields["shares"] == "" || d.fields["capital"] == "") {
		return nil
	}
	if d.fields["voting_rights"] == "" && d.fields["as_of"] == "" && !f.category.has("votes title") {
		return nil // of bylaws or a letter: without votes or a day it is no announcement of totals
	}
	if d.fields["voting_rights"] == "" && (d.fields["shares"] == "" || d.fields["capital"] == "") ||
		len(d.fields) < 2 && !f.sure {
		return nil
	}
	return []draft{d}
}

// allShares returns the totals of shares of all classes, beside those of each class: "Acciones
// ordinarias: 60.000.000. Total de acciones: 64.000.000". It returns none if one of a class is
// larger.
func (f *votesFinder) allShares() (totals []candidate) {
	for _, c := range f.found["shares"] {
		if p := &f.parts[c.at.part]; p.has("votes all shares") && len(p.figuresIn(cell{0, len(p.tokens)})) == 1 {
			totals = append(totals, c)
		}
	}
	for _, c := range f.found["shares"] {
		if len(totals) > 0 && disclosure.CompareDecimals(c.text, totals[0].text) > 0 {
			return nil
		}
	}
	return totals
}

// markEarlier marks the parts below a heading such as "3. Situación anterior".
func (f *votesFinder) markEarlier() {
	f.earlier = make([]bool, len(f.parts))
	earlier := false
	for i := range f.parts {
		p := &f.parts[i]
		if p.heading || f.isNumberedHeading(i) {
			earlier = p.has("votes earlier") && !p.has("votes now")
		}
		f.earlier[i] = earlier
	}
}

// isNumberedHeading reports whether a line such as "3. Situación anterior" heads a section.
// Its number may be a sentence of its own.
func (f *votesFinder) isNumberedHeading(i int) bool {
	p := &f.parts[i]
	if p.cells != nil || len(p.values) > 1 || len(p.tokens) == 0 || len(p.tokens) > 8 ||
		p.mark(len(p.tokens)-1) == "." {
		return false
	}
	if p.tokens[0].IsNumber() {
		return true
	}
	return i > 0 && f.parts[i-1].paragraph == p.paragraph && len(f.parts[i-1].tokens) == 2 &&
		f.parts[i-1].tokens[0].IsNumber()
}

// isAboutVotes reports whether the title or an early heading announces totals of votes.
func (f *votesFinder) isAboutVotes() bool {
	title := f.title
	if f.isOfHolder() {
		return false
	}
	if f.isAboutChange() {
		f.aside = true
		return true
	}
	if title.isOtherThanVotes() || title.isOfGuide() || f.votesOfOther(title) {
		return false
	}
	if title.has("votes title") || f.category.has("votes title") {
		f.sure = true
		return true
	}
	maybe := title.has("votes title maybe")
	for i := range f.parts {
		p := &f.parts[i]
		if i > 14 {
			break
		}
		if p.heading && p.isOtherThanVotes() {
			return false
		}
		if p.heading && p.has("votes title") {
			return true
		}
		maybe = maybe || p.heading && p.has("votes title maybe")
	}
	return maybe
}

// isOtherThanVotes reports whether a title is that of another document. The votes after a
// change of the capital are those of this one.
func (p *part) isOtherThanVotes() bool {
	return p.has("votes other document") || p.has("votes capital document") && !p.has("votes title")
}

// readVotes reads the value of a field.
func (f *votesFinder) readVotes(field string, p *part, v *value.Value, heading value.Scale) (read, bool) {
	switch field {
	case "as_of":
		got, ok := readDate(p, v, heading)
		if p.isMonthEnd(v) {
			got, ok = read{text: endOfMonth(v.Year, v.Month).Format(time.DateOnly)}, true
		}
		if v.Kind == value.Date && v.Year == 0 && v.Month > 0 && v.Day > 0 && !f.Published.IsZero() {
			whole := *v
			whole.Year = f.lastYearOf(v.Month)
			got, ok = readDate(p, &whole, heading)
		}
		return got, ok && f.isRecent(got.text)
	case "capital":
		got, ok := readMoney(p, v, heading)
		return got, ok && v.Bound == "" && !v.Negative && len(wholeOf(got.text)) >= 4 && !f.isNominal(p, v)
	}
	if heading.Currency != "" && p.cells != nil {
		heading = value.Scale{}
	}
	got, ok := readCount(p, v, heading)
	return got, ok && v.Bound == "" && len(got.text) >= 5
}

func wholeOf(decimal string) string {
	whole, _, _ := strings.Cut(decimal, ".")
	return whole
}

// isRecent reports whether a date is before the report, not long ago.
func (f *votesFinder) isRecent(date string) bool {
	t, err := time.Parse(time.DateOnly, date)
	const long = 400 * 24 * time.Hour
	return err == nil && (f.Published.IsZero() || !t.After(f.Published) && f.Published.Sub(t) < long)
}

func (f *votesFinder) add(field string, got read, at place) {
	if len(f.found[field]) > mostRows {
		return
	}
	f.found[field] = append(f.found[field], candidate{read: got, at: at})
}

// readSentence reads the totals of a sentence.
func (f *votesFinder) readSentence(i int) {
	p := &f.parts[i]
	if p.has("votes at meeting", "votes without", "other company") || f.namesOther(p) || p.isHypothetical() ||
		p.isReported() ||
		p.has("votes of others", "votes future") || p.tellsMistake() || f.votesOfOther(p) {
		return
	}
	if f.readFormLines(i) {
		return
	}
	if p.has("votes each") { // which figure is whose depends on the order
		f.readDay(i, true)
		return
	}
	labels := f.withoutInclusions(p, p.labels(votesClasses...))
	corrected := p.has("corrected")
	introduces := p.introducesTotals()
	if len(labels) == 0 {
		f.readDay(i, introduces)
		return
	}
	if len(labels) > mostLabels {
		return
	}
	mask := make([]bool, len(p.tokens))
	p.maskBrackets(mask)
	used := map[int]bool{}
	total := introduces
	for n, l := range labels {
		field := votesFields[l.class]
		if field == "" || field == "as_of" {
			continue
		}
		end := len(p.tokens)
		if n+1 < len(labels) {
			end = labels[n+1].from
		}
		if n+1 < len(labels) && f.isJoined(p, l, labels[n+1]) {
			continue // read with the next label
		}
		if field == "voting_rights" && p.isSameNumber(l) {
			f.addSameNumber(i)
			continue
		}
		v, got, ok := f.beside(p, l, end, used)
		if !ok || mask[v.From] && !p.isSpelledFigure(v) || f.isOther(p, v, l) {
			continue
		}
		bareShares := field == "shares" && l.to-l.from == 1
		if bareShares && !corrected && !f.isTotalOfShares(p, v, l, labels) {
			continue
		}
		used[v.From] = true
		total = true
		if !f.isOfLastDay(p, v) {
			continue
		}
		f.add(field, got, f.placeOf(i, v))
		if n > 0 && f.isJoined(p, labels[n-1], l) {
			f.add(votesFields[labels[n-1].class], got, f.placeOf(i, v))
		}
	}
	f.readDay(i, total)
}

// isJoined reports whether two labels have one figure: "el número total de acciones y de
// derechos de voto asciende a 5.000".
func (f *votesFinder) isJoined(p *part, a, b cue) bool {
	fields := votesFields[a.class] + " " + votesFields[b.class]
	if fields != "shares voting_rights" && fields != "voting_rights shares" || a.to-a.from < 2 {
		return false
	}
	const farthest = 4
	joined := false
	for k := a.to; k < b.from; k++ {
		switch p.word(k) {
		case "y", "and", "i":
			joined = true
		case "de", "of", "los", "the", "total", "numero", "d":
		default:
			return false
		}
	}
	n := p.firstValue(b.from)
	return joined && b.from-a.to <= farthest && n < len(p.values) && p.values[n].From >= b.to
}

// readFormLines reads a paragraph whose lines are labels with their values, and reports
// whether it is one.
func (f *votesFinder) readFormLines(i int) bool {
	p := &f.parts[i]
	if !strings.Contains(p.text, "\n") || p.isLong() {
		return false
	}
	var lines []cell
	from := 0
	for k := 1; k <= len(p.tokens); k++ {
		if k == len(p.tokens) || strings.Contains(p.text[p.tokens[k-1].End():p.tokens[k].At], "\n") {
			lines = append(lines, cell{from, k})
			from = k
		}
	}
	for _, l := range lines {
		if f.colonOf(p, l) < 0 {
			return false
		}
	}
	for _, l := range lines {
		f.readFormLine(i, l)
	}
	return true
}

// colonOf returns the token of the colon of a line, or -1.
func (f *votesFinder) colonOf(p *part, line cell) int {
	const longestLabel = 16
	for k := line.from + 1; k < min(line.to-1, line.from+longestLabel); k++ {
		if p.mark(k) == ":" {
			return k
		}
	}
	return -1
}

// readFormLine reads a line, or a cell, that is a label with its value. It reports whether
// it is one.
func (f *votesFinder) readFormLine(i int, line cell) bool {
	p := &f.parts[i]
	colon := f.colonOf(p, line)
	if colon < 0 {
		return false
	}
	field := ""
	for _, l := range p.labels(votesClasses...) {
		if l.from < line.from || l.from >= colon {
			continue
		}
		if votesFields[l.class] == "" || field != "" {
			return true
		}
		field = votesFields[l.class]
	}
	if field == "" ||
		p.hasBetween(line.from, line.to, "votes earlier", "possible", "planned", "votes excluded", "proposal") {
		return true
	}
	scale, _ := value.ReadScale(p.tokens[line.from:colon], p.english)
	n := p.firstValue(colon)
	if n >= len(p.values) || p.values[n].From > colon+2 || p.values[n].From >= line.to {
		return true
	}
	v := p.values[n]
	v.To = min(v.To, line.to) // "27.000.000", not "27.000.000 Acciones" of the next line
	if got, ok := f.readVotes(field, p, &v, scale); ok {
		f.add(field, got, f.placeOf(i, &v))
	}
	return true
}

// withoutInclusions drops the labels in asides that only say what a total includes: "el
// total, incluidos los votos por lealtad, es de".
func (f *votesFinder) withoutInclusions(p *part, labels []cue) []cue {
	if len(labels) > 2*mostLabels {
		return labels
	}
	labels = slices.DeleteFunc(labels, func(l cue) bool { // "los derechos de voto correspondientes a las acciones emitidas"
		isLinked := p.hasBetween(max(0, l.from-4), l.from, "votes linked") && p.hasBetween(0, l.from, "votes total")
		return isLinked && (l.class == "votes shares" || l.class == "votes capital" && !p.hasMoneyBehind(l.to))
	})
	for _, c := range p.all("votes including") {
		opening := p.mark(c.from - 1)
		if opening != "," && opening != "(" && opening != "–" && opening != "-" {
			continue
		}
		last := len(p.tokens)
		if p.cells != nil {
			last = p.cells[p.cellOf(c.from)].to
		}
		end := c.to
		for end < last && !isClauseMark(p.mark(end)) && p.mark(end) != ")" && p.mark(end) != "–" {
			end++
		}
		if end == len(p.tokens) {
			continue // nothing follows that could be the total
		}
		labels = slices.DeleteFunc(labels, func(l cue) bool { return l.from >= c.from && l.from < end })
	}
	return labels
}

// hasMoneyBehind reports whether the next value behind a token is an amount of money.
func (p *part) hasMoneyBehind(k int) bool {
	n := p.firstValue(k)
	return n < len(p.values) && value.CurrencyCode(p.values[n].Unit) != ""
}

// beside returns the value of a label in a sentence: the figure directly before it
// ("5.000 acciones"), else the first one behind it.
func (f *votesFinder) beside(p *part, l cue, end int, used map[int]bool) (*value.Value, read, bool) {
	field := votesFields[l.class]
	n := p.firstValue(l.from)
	if n > 0 && field != "capital" {
		v := &p.values[n-1]
		to := v.To
		if p.isSpelledFigure(v) {
			to++
			v = withoutSign(v)
		}
		if l.from-to <= 1 && !used[v.From] && v.Kind == value.Figure && (v.To > l.from || p.mark(v.To) != ",") {
			got, ok := f.readVotes(field, p, v, value.Scale{})
			return v, got, ok
		}
	}
	var unit value.Scale
	if end := p.behindBrackets(l.to); field == "capital" && end > l.to { // "Capital social (euros): 5.000"
		unit, _ = value.ReadScale(p.tokens[l.to:end], p.english)
	}
	for ; n < len(p.values); n++ {
		v := &p.values[n]
		if v.From < l.to {
			continue
		}
		if v.From >= end || v.From-l.to > defaultReach || p.endsBetween(l.to, v.From) {
			break
		}
		if p.hasBetween(v.From-3, v.From, "votes by") || p.isFormerTotal(v) {
			continue // "ha aumentado en 5.000 hasta 6.000"
		}
		if p.isSpelledFigure(v) {
			v = withoutSign(v)
		}
		if got, ok := f.readVotes(field, p, v, unit); ok && !used[v.From] {
			if moved := f.movedTo(p, n); moved != nil {
				v = moved
				got, ok = f.readVotes(field, p, v, unit)
			}
			return v, got, ok
		}
	}
	return nil, read{}, false
}

// movedTo returns the second of two figures in "ha pasado de 5.000 a 6.000 acciones".
func (f *votesFinder) movedTo(p *part, n int) *value.Value {
	v := &p.values[n]
	if n+1 >= len(p.values) || p.values[n+1].From-v.To > 3 {
		return nil
	}
	next := &p.values[n+1]
	if p.hasBetween(v.From-3, v.From, "votes moved") {
		return next
	}
	from, to := p.word(v.From-1), p.word(next.From-1)
	isMove := (from == "de" || from == "desde" || from == "from") && (to == "a" || to == "to" || to == "hasta")
	if isMove && next.Kind == value.Figure { // without its verb: "y el número de acciones, de 5.000 a 6.000"
		return next
	}
	return nil
}
