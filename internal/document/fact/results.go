package fact

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// ledgerItem is a phrase that names a figure of the accounts.
type ledgerItem struct {
	field string // of the fact; "" for figures that are none of its fields
	tier  int    // how surely it means the field: lower is surer
	from  int
	to    int
	loss  bool // the figure is a loss, so it is negative
	both  bool // "beneficio / (pérdida)": the figure has its sign
	next  bool // a verb: the figure follows directly
	void  bool // it looks like a measure, but is another figure
}

// measureClasses are the classes of the phrases that name figures of the accounts.
var measureClasses = map[class]ledgerItem{
	"results net turnover":      {field: "revenue"},
	"results revenue":           {field: "revenue", tier: 1},
	"results invoiced":          {field: "revenue", tier: 2, next: true},
	"results rents":             {field: "revenue", tier: rentTier},
	"results ebitda":            {field: "ebitda"},
	"results attributable":      {field: "net_profit"},
	"results attributable loss": {field: "net_profit", loss: true},
	"results net":               {field: "net_profit", tier: 1},
	"results net loss":          {field: "net_profit", tier: 1, loss: true},
	"results earned":            {field: "net_profit", tier: 2, next: true},
	"results lost":              {field: "net_profit", tier: 2, next: true, loss: true},
	"results plain profit":      {field: "net_profit", tier: 3, next: true},
	"results plain loss":        {field: "net_profit", tier: 3, next: true, loss: true},
	"results other":             {},
	"results no measure":        {void: true},
	"results allowed":           {},
}

// rentTier is the tier of rents, which are the revenue of a SOCIMI that names no other.
const rentTier = 3

// isResultClass reports whether the phrases of a class name figures of the accounts.
func isResultClass(c class) bool {
	_, ok := measureClasses[c]
	return ok
}

// resultFields are the amounts of a fact.
var resultFields = []string{"revenue", "ebitda", "net_profit"}

// resultCandidate is an amount that may be that of a field.
type resultCandidate struct {
	candidate
	field string
	tier  int
}

// results finds the results of a period.
func results(r *reading) []draft {
	f := &resultFinder{reading: r, scopes: r.sections()}
	if !f.isAboutResults() || f.isTitledOfOther() || f.hasSplitYear() || !f.findPeriod() {
		return nil
	}
	f.bank = anyPart(r.parts, func(p *part) bool { return p.has("results bank") })
	f.findNotes()
	f.findInSentences()
	for _, t := range f.tablesOfResults() {
		f.findInTable(&t)
	}
	d := newDraft()
	currency, ok := f.currency()
	if !ok {
		return nil
	}
	for _, name := range resultFields {
		if c, ok := f.agreedOn(name); ok {
			d.set(name, c.text, c.at)
			d.set("currency", currency, f.currencyAt(c.at))
		}
	}
	if len(d.fields) == 0 {
		return nil
	}
	d.set("period", f.period.String(), f.periodAt)
	return []draft{d}
}

// resultFinder collects the amounts of the results of a period.
type resultFinder struct {
	*reading
	scopes   []section
	period   resultPeriod
	periodAt place
	minority bool            // others have a share of the profit
	bank     bool            // its volume of business is that of loans and deposits
	notes    map[string]bool // the footnotes that make a measure another one
	strict   bool            // amounts count only with the period beside them
	found    []resultCandidate
	rows     int          // of tables that were read
	unit     *value.Scale // of a form, once read
}

// section is what the heading of a section says about the parts below it.
type section struct {
	segment bool // only a part of the business
	doubt   bool // forecasts
	heading int  // part, or -1
}

// sections returns the section of each part.
func (r *reading) sections() []section {
	all := make([]section, len(r.parts))
	current := section{heading: -1}
	for i := range r.parts {
		p := &r.parts[i]
		switch {
		case p.heading && p.hasMoney(): // a line with an amount belongs to the section above it
			title, _, joined := strings.Cut(p.text, "\n")
			current.doubt = current.doubt || joined && r.readLine(title).has("results doubt", "planned")
		case p.heading:
			current = section{
				segment: p.has("results segment"),
				doubt:   p.has("results doubt", "planned"),
				heading: i,
			}
		}
		all[i] = current
	}
	return all
}

// isAboutResults reports whether the title or a heading says that the document is about
// results. The figures of another document are those of some other company, or explain
// a decision.
func (f *resultFinder) isAboutResults() bool {
	title := f.title
	if isResultTitle(title) || f.category.has("results category") {
		return true
	}
	if title.has("results doubt", "planned") {
		return false // forecasts, beside which the last results may stand
	}
	other := title.has("dividend", "results other document")
	for i := range min(len(f.parts), 14) {
		p := &f.parts[i]
		announces := p.has("results announced") && !p.has("results other document", "results to come")
		if p.heading && isResultTitle(p) || !other && (announces || p.beginsWithStatements()) {
			return true
		}
	}
	return false
}

// beginsWithStatements reports whether a part begins with the statements that it announces: "Estados
// financieros intermedios consolidados correspondientes al primer semestre".
func (p *part) beginsWithStatements() bool {
	const opening = 3 // tokens: "1. Los"
	return p.cells == nil && !p.has("results to come", "results doubt") &&
		slices.ContainsFunc(p.all("results statements"), func(c cue) bool { return c.from < opening })
}

// isTitledOfOther reports whether the title names results of someone else: "Resultados de Beta
// Moda". Words that the rules know are no names.
func (f *resultFinder) isTitledOfOther() bool {
	t := f.title
	if t.has("results fund") && !f.isFund() {
		return true // the period of a fund that the company manages
	}
	for i := 1; i+1 < len(t.tokens) && f.Company != ""; i++ {
		isOf := t.word(i) == "de" || t.word(i) == "of"
		if !isOf || !isCapitalAt(t, i+1) || phrases.isKnown(t.word(i+1)) || f.sharesName([]string{t.word(i + 1)}) ||
			t.isShouted(i+1) {
			continue
		}
		if t.hasBetween(0, i, "results title") && len(t.mentions(i+1, i+2)) == 0 {
			return true
		}
	}
	return false
}

// isFund reports whether the company of the report is itself a fund.
func (f *resultFinder) isFund() bool { return f.readLine(f.Company).has("results fund") }

func isResultTitle(p *part) bool {
	if p.has("results title") {
		return true
	}
	for _, m := range p.measures() {
		if m.field != "" && !m.void {
			return true
		}
	}
	return false
}

// measures returns the phrases that name figures of the accounts, in their order. Of
// phrases that overlap, the longest counts.
func (p *part) measures() (found []ledgerItem) {
	for _, c := range p.cues {
		m, ok := measureClasses[c.class]
		if !ok {
			continue
		}
		m.from = c.from
		m.to = c.to
		allowed := c.class == "results allowed"
		last := len(found) - 1
		if last < 0 || found[last].to <= m.from {
			if !allowed {
				found = append(found, m)
			}
			continue
		}
		old := &found[last]
		longer := m.to-m.from > old.to-old.from
		switch {
		case allowed && longer && !old.void:
			old.to = m.to
		case allowed:
		case longer, m.to-m.from == old.to-old.from && m.void:
			*old = m
		}
	}
	return merged(p, found)
}

// merged joins neighbours that name the same: "resultado bruto de explotación (EBITDA)",
// "beneficio / (pérdida) neta".
func merged(p *part, all []ledgerItem) (found []ledgerItem) {
	for _, m := range all {
		last := len(found) - 1
		if last < 0 || m.from-found[last].to > 3 || m.void || found[last].void ||
			!p.isLinkBetween(found[last].to, m.from) {
			found = append(found, m)
			continue
		}
		old := &found[last]
		switch {
		case old.field == m.field && m.field != "":
			old.both = old.both || m.both || old.loss != m.loss
			old.loss = old.loss && m.loss
			old.tier = min(old.tier, m.tier)
			old.to = m.to
		default:
			found = append(found, m)
		}
	}
	return found
}

// isLinkBetween reports whether only brackets, slashes and the like are between two tokens.
func (p *part) isLinkBetween(from, to int) bool {
	for k := from; k < to; k++ {
		if w := p.word(k); w != "" && w != "o" && w != "or" {
			return false
		}
		if p.mark(k) == "," || p.mark(k) == ";" || p.mark(k) == ":" {
			return false
		}
	}
	return true
}

// findPeriod finds the period of the document: that of its title, else the latest one
// that has ended.
func (f *resultFinder) findPeriod() bool {
	title := f.title
	var named []mention
	for _, m := range title.mentions(0, len(title.tokens)) {
		if f.hasEnded(m) && !title.comparisons()[m.from] {
			named = append(named, m)
		}
	}
	body := f.bodyMentions()
	if len(named) == 0 {
		body = slices.DeleteFunc(body, func(b placed) bool { return !f.mayBeNew(b.mention) })
	}
	pool := named
	if len(pool) == 0 {
		for _, b := range body {
			if !b.bare && !b.day {
				pool = append(pool, b.mention)
			}
		}
	}
	if len(pool) == 0 {
		for _, b := range body {
			pool = append(pool, b.mention)
		}
	}
	if len(pool) == 0 {
		return false
	}
	best := pool[0]
	for _, m := range pool {
		if m.end().After(best.end()) {
			best = m
		}
	}
	if whole, ok := cumulative(best.year, int(lastMonths[best.part])); ok && isPartial(best.part) &&
		f.isAccumulated(whole) {
		best.resultPeriod = whole
	}
	f.period = best.resultPeriod
	if whole, ok := cumulative(best.year, int(lastMonths[best.part])); ok && isPartial(best.part) &&
		f.isHeadedByWhole(body) {
		best.resultPeriod = whole
		f.period = whole
		f.strict = true
	}
	isLater := func(b placed) bool { return b.span && b.end().After(best.end()) }
	if slices.ContainsFunc(body, isLater) {
		return false // the year of the company does not begin in January
	}
	proved := false
	for _, b := range body {
		if b.end() != best.end() || b.odd {
			f.strict = f.strict || b.odd
			continue
		}
		switch {
		case b.resultPeriod == best.resultPeriod && !proved:
			proved = true
			f.periodAt = place{b.part, b.from, b.to}
		case b.resultPeriod != best.resultPeriod && !b.bare && !b.day && (len(named) == 0 || isPartial(best.part)):
			f.strict = true // such as a quarter and the half year to its end
		}
	}
	if !proved && len(named) > 0 {
		other := func(b placed) bool { return !b.bare && !b.day }
		proved = f.proveByPart() || !slices.ContainsFunc(body, other) && f.proveByUnit()
	}
	return proved && !best.odd
}

// proveByPart finds the part of the year that the title names with its year, where the text
// leaves the year out: "en los nueve primeros meses".
func (f *resultFinder) proveByPart() bool {
	if f.period.part == "" {
		return false
	}
	for i := range f.parts {
		p := &f.parts[i]
		if p.aside {
			continue
		}
		compared := p.comparisons()
		for _, m := range p.mentions(0, len(p.tokens)) {
			if m.year == 0 && m.part == f.period.part && !compared[m.from] {
				f.periodAt = place{i, m.from, m.to}
				return true
			}
		}
	}
	return false
}

// proveByUnit finds a sentence that speaks of "el semestre" alone, in a text that names no period:
// it is that of the title.
func (f *resultFinder) proveByUnit() bool {
	units := []string{"ejercicio", "year", "exercici"}
	switch {
	case strings.HasPrefix(f.period.part, "H"):
		units = []string{"semestre", "half"}
	case strings.HasPrefix(f.period.part, "Q"):
		units = []string{"trimestre", "quarter"}
	case f.period.part == "9M":
		units = []string{"periodo", "period", "periode"}
	}
	for i := range f.parts {
		p := &f.parts[i]
		if p.aside || !p.hasMoney() || len(p.measures()) == 0 {
			continue
		}
		compared := p.comparisons()
		for k := 1; k < len(p.tokens); k++ {
			before := p.word(k - 1)
			isUnit := slices.Contains(units, p.word(k)) &&
				(before == "del" || before == "el" || before == "the" || before == "al")
			if isUnit && !compared[k] && !p.hasBetween(k-1, k+2, "results earlier") {
				f.periodAt = place{i, k, k + 1}
				return true
			}
		}
	}
	return false
}

// isAccumulated reports whether a table has the column of the official form for the figures
// from the beginning of the year: "ACUMULADO ACTUAL 31/12/2025". Its title names the half
// year, and its figures are those of the year.
func (f *resultFinder) isAccumulated(whole resultPeriod) bool {
	for i := range f.parts {
		p := &f.parts[i]
		if p.cells == nil || !p.has("results total column") || !p.has("results current column") {
			continue
		}
		for _, c := range p.cells {
			if !p.hasBetween(c.from, c.to, "results total column") ||
				!p.hasBetween(c.from, c.to, "results current column") {
				continue
			}
			for _, m := range p.mentions(c.from, c.to) {
				if m.day && m.resultPeriod == whole {
					return true
				}
			}
		}
	}
	return false
}

// longestHeading is the most tokens of a line that heads figures.
const longestHeading = 14

// isHeadedByWhole reports whether a heading names the months from the beginning of the year to the
// end of a period of which the title names the last part alone: "Resultados del tercer trimestre",
// above "Enero-septiembre 2026". Its figures are then those to the end of the period.
func (f *resultFinder) isHeadedByWhole(body []placed) bool {
	return slices.ContainsFunc(body, func(b placed) bool {
		p := &f.parts[b.part]
		short := p.cells == nil && len(p.tokens) <= longestHeading && !p.hasMoney()
		return short && !b.bare && !b.day && b.end() == f.period.end() && !isPartial(b.resultPeriod.part)
	})
}

func isPartial(part string) bool { return part == "Q2" || part == "Q3" || part == "Q4" || part == "H2" }

// hasEnded reports whether a period with its year ended before the report, not long ago.
func (f *resultFinder) hasEnded(m mention) bool {
	const long = 460 * 24 * time.Hour
	if m.year == 0 {
		return false
	}
	return f.Published.IsZero() || !m.end().After(f.Published.Add(24*time.Hour)) && f.Published.Sub(m.end()) < long
}

// mayBeNew reports whether the results of a period may be new when the report is
// published. A document that gives older ones without naming them in its title recalls
// them.
func (f *resultFinder) mayBeNew(m mention) bool {
	const recent = 215 * 24 * time.Hour
	return f.Published.IsZero() || f.Published.Sub(m.end()) < recent
}

// placed is a period with its part.
type placed struct {
	mention
	part int
}

// mostPeriods is the number of mentions of periods that are read in a document.
const mostPeriods = 2000

// bodyMentions returns the periods in the text that have ended and are not those of a
// comparison.
func (f *resultFinder) bodyMentions() (found []placed) {
	for i := range f.parts {
		p := &f.parts[i]
		if p.aside || len(found) > mostPeriods {
			continue
		}
		compared := p.comparisons()
		for _, m := range p.mentions(0, len(p.tokens)) {
			if f.hasEnded(m) && !compared[m.from] {
				found = append(found, placed{m, i})
			}
		}
	}
	return found
}

// isCurrent reports whether words name the period of the document.
func (f *resultFinder) isCurrent(m mention) bool {
	switch {
	case m.odd:
		return false
	case m.day:
		// The figures to the last day of a third quarter are those of nine months.
		return m.end() == f.period.end() && !isPartial(f.period.part)
	case m.year == 0:
		return m.part == f.period.part
	}
	return m.resultPeriod == f.period
}

// comparisons reports for each token whether it is part of a comparison with another
// figure: behind "frente a", or in brackets.
func (p *part) comparisons() []bool {
	mask := make([]bool, len(p.tokens))
	starts := map[int]bool{}
	for _, c := range p.all("results comparison") {
		starts[c.from] = true
	}
	ends := map[int]bool{}
	for _, c := range p.all("results back to figure") {
		ends[c.from] = true
	}
	isMeasure := map[int]bool{}
	for _, m := range p.measures() {
		isMeasure[m.from] = true
	}
	isFigure := map[int]bool{}
	for k := range p.values {
		isFigure[p.values[k].From] = true
	}
	inside := false
	figures := false
	for i := range p.tokens {
		mark := p.tokens[i].Text
		switch {
		case starts[i], p.isFormerBehind(i):
			inside = true
			figures = false
		case mark == "," || mark == ";" || ends[i] || isMeasure[i] && figures:
			inside = false
		case isFigure[i]:
			figures = true
		}
		mask[i] = inside
	}
	p.maskBrackets(mask)
	return mask
}

// isFormerBehind reports whether "from" at a token, behind a figure, begins with the figure of an earlier
// period: "narrowed to €8.2 million from €15.5 million".
func (p *part) isFormerBehind(i int) bool {
	const near = 3 // tokens between a figure and the word, and to the next figure
	if p.word(i) != "from" {
		return false
	}
	k := p.firstValue(i)
	if k == 0 || k >= len(p.values) {
		return false
	}
	v, next := &p.values[k-1], &p.values[k]
	if !p.isNumber(v) || !p.isNumber(next) || i-v.To > near || next.From-i > near {
		return false
	}
	return p.word(next.To) != "to" && p.word(next.To+1) != "to"
}

// longestBracket is the number of tokens that a bracket may have.
const longestBracket = 60

// maskBrackets marks the brackets with figures or periods. One figure alone is not
// marked: a loss is written so.
func (p *part) maskBrackets(mask []bool) {
	open := -1
	for i := range p.tokens {
		switch {
		case p.tokens[i].Text == "(":
			open = i
		case p.tokens[i].Text == ")" && open >= 0 && i-open <= longestBracket:
			n := p.firstValue(open + 1)
			figure := n < len(p.values) && p.values[n].To <= i
			alone := figure && p.values[n].From == open+1 && p.values[n].To == i
			if figure && !alone || p.hasBetween(open, i, "results earlier") {
				for k := open; k <= i; k++ {
					mask[k] = true
				}
			}
			open = -1
		}
	}
}

// currency returns the currency of all amounts. It reports none if there are two.
func (f *resultFinder) currency() (string, bool) {
	currency := ""
	for _, c := range f.found {
		if c.currency == "" {
			continue
		}
		if currency != "" && c.currency != currency {
			return "", false
		}
		currency = c.currency
	}
	return currency, currency != ""
}

// currencyAt returns the place of an amount with its currency, preferring the given one.
func (f *resultFinder) currencyAt(at place) place {
	for _, c := range f.found {
		if c.at == at && c.currency != "" {
			return at
		}
	}
	for _, c := range f.found {
		if c.currency != "" {
			return c.at
		}
	}
	return at
}

// agreedOn returns the amount of a field on which the surest places agree. One may be a
// rounded form of another.
func (f *resultFinder) agreedOn(field string) (candidate, bool) {
	surest := 9
	for _, c := range f.found {
		if c.field == field {
			surest = min(surest, c.tier)
		}
	}
	if field == "net_profit" && f.minority && surest > 0 {
		return candidate{}, false // the profit may include that of others
	}
	var best *resultCandidate
	for n := range f.found {
		c := &f.found[n]
		switch {
		case c.field != field || c.tier != surest:
		case best == nil || isRounded(best.text, c.text):
			best = c
		case best.text != c.text && !isRounded(c.text, best.text):
			return candidate{}, false
		}
	}
	if best == nil {
		return candidate{}, false
	}
	return best.candidate, true
}

// isRounded reports whether a decimal is a rounded form of a longer one that is about the
// same: 100 and 103 millions are two values.
func isRounded(short, long string) bool {
	a, _ := strconv.ParseFloat(short, 64)
	b, _ := strconv.ParseFloat(long, 64)
	if math.Abs(a-b) > math.Abs(b)/100 {
		return false
	}
	if strings.HasPrefix(short, "-") != strings.HasPrefix(long, "-") {
		return false
	}
	short = strings.TrimPrefix(short, "-")
	long = strings.TrimPrefix(long, "-")
	whole, _, point := strings.Cut(long, ".")
	if strings.Contains(short, ".") || len(short) > len(whole) || len(whole)-len(short) > 1 {
		return false
	}
	kept := len(strings.TrimRight(short, "0"))
	if kept == len(short) && !point || kept == 0 {
		return false
	}
	head := "0" + whole
	cut := len(head) - (len(short) - kept)
	if cut <= 0 || cut > len(head) {
		return false
	}
	down := head[:cut]
	rest := strings.Trim(head[cut:], "0") != "" || point
	up := increment(down)
	tail := strings.Repeat("0", len(short)-kept)
	next := byte('0')
	switch {
	case cut < len(head):
		next = head[cut]
	case point:
		next = long[len(whole)+1]
	}
	same := func(s string) bool { return strings.TrimLeft(s+tail, "0") == short }
	return rest && (same(down) && next <= '5' || same(up) && next >= '5')
}

// increment returns a number of digits plus one.
func increment(digits string) string {
	b := []byte(digits)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < '9' {
			b[i]++
			break
		}
		b[i] = '0'
	}
	return string(b)
}

// amount reads a figure of the accounts. The currency of an amount such as "538,2
// millones" is that of the others.
func (p *part) amount(v *value.Value, heading value.Scale) (read, bool) {
	if !p.isNumber(v) {
		return read{}, false
	}
	if p.isCirca(v.From) || p.isBehindTear(v.From) {
		return read{}, false
	}
	if v.Bound != "" || isRate(v) || heading.PerShare || v.Partner >= 0 {
		return read{}, false
	}
	if text, currency, ok := money(v, heading); ok {
		return read{text, currency}, true
	}
	if v.Unit == "" && v.Scaled() && !heading.Unclear && !heading.Percent {
		text, ok := decimal(v, 0)
		return read{text: text}, ok
	}
	return read{}, false
}

// isCirca reports whether a figure has "c." or "ca." before it: "c. €390m".
func (p *part) isCirca(i int) bool {
	for i > 0 && (p.word(i-1) == "" && p.mark(i-1) != "." || value.IsCurrency(strings.ToLower(p.mark(i-1)))) {
		i--
	}
	w := p.word(i - 2)
	return p.mark(i-1) == "." && (w == "c" || w == "ca") || p.word(i-1) == "circa"
}

// isBehindTear reports whether a figure is what is behind the comma of another, which text
// recognition tore: "22, 1 millones".
func (p *part) isBehindTear(i int) bool {
	mark := p.mark(i - 1)
	return (mark == "," || mark == ".") && i >= 2 && p.tokens[i-2].IsNumber() && len(p.mark(i)) <= 2
}

// isNumber reports whether a value is a figure in digits. "Millones de euros" alone is
// the unit of others.
func (p *part) isNumber(v *value.Value) bool {
	return v.Kind == value.Figure && p.tokens[v.From].IsNumber()
}

// add keeps an amount.
func (f *resultFinder) add(m ledgerItem, got read, at place) {
	if m.loss && !m.both && !strings.HasPrefix(got.text, "-") && got.text != "0" {
		got.text = "-" + got.text
	}
	if len(strings.TrimPrefix(wholeOf(got.text), "-")) < 4 && got.text != "0" {
		return // less than a thousand: it is for each share, or its unit was not read
	}
	if m.field == "revenue" && m.tier == rentTier && !strings.Contains(strings.ToLower(f.Company), "socimi") {
		return
	}
	if len(f.found) < mostPeriods {
		f.found = append(f.found, resultCandidate{candidate{read: got, at: at}, m.field, m.tier})
	}
}

// namesOwn reports whether a part names the company of the report, without regard to its legal
// form, accents, and the ends of lines. Of a report without a company it reports true.
func (r *reading) namesOwn(p *part) bool {
	name, _, _ := strings.Cut(r.Company, ",")
	words := strings.Fields(lexicon.Fold(name))
	if len(words) == 0 {
		return true
	}
	for i := range p.tokens {
		if _, ok := wordsAt(p.tokens, i, words); ok {
			return true
		}
	}
	return false
}

// namesOther reports whether a part names a company that is not that of the report.
func (f *resultFinder) namesOther(p *part) bool {
	if f.namesOwn(p) {
		return false
	}
	return slices.ContainsFunc([]string{", S.A.", ", S.L.", " S.A.", " S.L.", " SA ", " plc", " GmbH", " Inc."}, func(form string) bool {
		return strings.Contains(p.text, form)
	})
}
