package fact

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// bondsGrid is a table of payments, a row for each series of bonds.
var bondsGrid = grid{
	columns: []class{
		"bond series", "bond isin", "bond interest", "bond redemption", "bond interest each", "bond redemption each",
		"bond number",
	},
	numbers: []class{"bond interest", "bond redemption", "bond interest each", "bond redemption each", "bond number"},
	needed:  []class{"bond isin"},
	counted: map[class]class{"bond series": "bond number"},
	complete: func(columns []class) bool {
		_, _, found := paidColumns(columns)
		return found
	},
	anchor:    func(v *value.Value) bool { return v.Kind == value.Code && isISIN(v.Text) },
	oneColumn: bondColumn,
}

// isISIN reports whether a text has the form of the code of a security: ES0312298005.
func isISIN(text string) bool {
	if len(text) != 12 {
		return false
	}
	for k := range len(text) {
		c := text[k]
		isLetter := 'A' <= c && c <= 'Z'
		isNumber := '0' <= c && c <= '9'
		if k < 2 && !isLetter || k == 11 && !isNumber || !isLetter && !isNumber {
			return false
		}
	}
	return true
}

// securitisationPayments finds the date on which a fund pays its bonds, and what it pays for
// each series.
func securitisationPayments(r *reading) []draft {
	if !r.ofSecuritisation() || r.estimatesPayment() || r.movesPayment() {
		return nil
	}
	c, ok := agreed(r.bondPayments())
	if !ok {
		return nil
	}
	d := newDraft()
	d.set("payment_date", c.text, c.at)
	d.rows = r.bondRows()
	if len(d.rows) == 0 && !r.hasBondTable() {
		d.rows = r.seriesRows()
	}
	if len(d.rows) == 0 && !r.isAboutPayment() {
		return nil
	}
	return []draft{d}
}

// ofSecuritisation reports whether a document is that of a securitisation fund.
func (r *reading) ofSecuritisation() bool {
	switch name := strings.ReplaceAll(r.Company, ".", ""); {
	case strings.HasSuffix(name, " FT"), strings.HasSuffix(name, " FTA"), strings.HasSuffix(name, " FTH"):
		return true
	}
	names := value.Tokenise(r.Company + " . " + r.Title)
	if (&part{tokens: names, cues: phrases.find(names)}).has("securitisation fund") {
		return true
	}
	return anyPart(r.parts, func(p *part) bool { return !p.aside && p.has("securitisation fund") })
}

// estimatesPayment reports whether the title, a heading or the head of a table calls the
// amounts an estimate. The payment itself is announced later.
func (r *reading) estimatesPayment() bool {
	if r.title.has("bond estimate") {
		return true
	}
	for i := range r.parts {
		p := &r.parts[i]
		isHead := p.cells != nil && len(p.values) == 0 && p.has("bond interest", "bond redemption")
		isSaid := p.cells == nil && p.has("bond payment") && !p.has("bond next date")
		if (isHead || isSaid || p.heading) && !p.aside && p.has("bond estimate") {
			return true
		}
	}
	return false
}

// movesPayment reports whether the document says that a payment did not take place on its day: then the
// dates of its other sentences are not certain either.
func (r *reading) movesPayment() bool {
	isMoved := func(p *part) bool {
		return slices.ContainsFunc(p.all("bond moved"), func(c cue) bool {
			return p.word(c.from) != "deferred" // "Deferred interest: none"
		})
	}
	return isMoved(r.title) || anyPart(r.parts, func(p *part) bool {
		return !p.aside && p.cells == nil && p.has("bond payment", "bond pays", "bond paper") && isMoved(p)
	})
}

// isAboutPayment reports whether the title or a heading says that the document is about a
// payment. Other events of a fund take place on dates of payment too.
func (r *reading) isAboutPayment() bool {
	about := r.title.has("bond paper")
	other := r.title.has("bond other event", "bond rate paper")
	for i := range r.parts {
		p := &r.parts[i]
		if (p.heading || p.cells != nil) && !p.aside {
			about = about || p.has("bond paper")
			other = other || p.heading && p.has("bond other event")
		}
	}
	return about && !other
}

// longestNotice is the most days for which the next date of payment may be that of the amounts
// in a document. A later one follows the payment that was just made.
const longestNotice = 25

// bondPayments returns the dates of the payment that the document announces. "Próxima fecha
// de pago" is one only if there is no other.
func (r *reading) bondPayments() []candidate {
	var now, next []candidate
	add := func(i int, v *value.Value, isNext bool) {
		v, sure := r.parts[i].businessDay(v)
		text, ok := date(v)
		if !ok || !sure || !r.isPaidNear(text) {
			return
		}
		c := r.candidate(read{text: text}, i, v, cue{})
		if isNext {
			if r.isWithin(text, 0, longestNotice) {
				next = append(next, c)
			}
		} else {
			now = append(now, c)
		}
	}
	for i := range r.parts {
		p := &r.parts[i]
		isUnsure := p.has("example", "policy", "bond moved") || p.isPossiblePayment() || p.deniesPayment()
		if p.aside || p.isTooLong() || isUnsure {
			continue
		}
		if p.cells == nil {
			for k := range p.values {
				if isNext, ok := p.paysOn(k); ok {
					add(i, &p.values[k], isNext)
				} else if label := r.bondLabelAbove(i, k); label != nil && label.namesPayment() {
					add(i, &p.values[k], label.has("bond next date"))
				}
			}
			continue
		}
		values := p.labelledValues()
		if len(values) == 0 {
			values = p.datesBehind("bond payment")
		}
		for _, each := range values {
			label := each.label
			if p.hasBetween(label.from, label.to, "bond payment") &&
				!p.hasBetween(label.from, label.to, "bond other date") {
				add(i, each.value, p.hasBetween(label.from, label.to, "bond next date"))
			}
		}
	}
	if len(now) > 0 {
		return now
	}
	return next
}

// deniesPayment reports whether a sentence says that something is not paid: "no se abonarán los
// intereses de la Serie B".
func (p *part) deniesPayment() bool {
	if p.cells != nil {
		return false
	}
	const near = 4 // "no se", "will not be"
	return slices.ContainsFunc(p.all("bond payment", "bond pays"), func(c cue) bool {
		switch p.word(c.from) {
		case "fecha", "payment", "data", "date":
			return false // no verb
		}
		return p.hasBetween(max(p.clauseStart(c.from), c.from-near), c.to, "denied")
	})
}

// isPossiblePayment reports whether a part is about what may happen. "Los intereses y, en su
// caso, la amortización" states a payment.
func (p *part) isPossiblePayment() bool {
	return slices.ContainsFunc(p.all("possible"), func(c cue) bool { return !p.hasBetween(c.from, c.from+1, "bond if any") })
}

// businessDay returns the day on which is paid, if the date in the papers is a holiday: "22 de
// marzo (23 de marzo por ser inhábil)". It reports whether that day is certain.
func (p *part) businessDay(v *value.Value) (*value.Value, bool) {
	const longest = 6 * 24 * time.Hour // a weekend with holidays
	if v.Kind != value.Date || !p.has("bond holiday") {
		return v, true
	}
	due, ok := date(v)
	if !ok {
		return v, false
	}
	day, _ := time.Parse(time.DateOnly, due)
	near := map[string]bool{} // the other days
	for k := range p.values {
		other := &p.values[k]
		text, ok := date(other)
		if !ok || text == due {
			continue
		}
		moved, _ := time.Parse(time.DateOnly, text)
		if distance := moved.Sub(day); distance > longest || distance < -longest {
			continue
		}
		if moved.After(day) && !near[text] {
			v = other
		}
		near[text] = true
	}
	return v, len(near) == 1 && !p.has("bond day before") || len(near) == 0 && !p.has("bond is holiday")
}

// datesBehind returns the dates of a row that directly follow a cue, with the words around
// the cue as their label.
func (p *part) datesBehind(label class) (found []labelled) {
	for i := range p.values {
		v := &p.values[i]
		if v.Kind == value.Date && p.endsWithCue(v.From, label) {
			found = append(found, labelled{cell{max(0, v.From-6), v.From}, v})
		}
	}
	return found
}

// isPaidNear reports whether a date is near that of the report.
func (r *reading) isPaidNear(date string) bool { return r.isWithin(date, 45, 200) }

// paysOn reports whether a date of a sentence is that of the payment, and whether the
// sentence calls it the next one.
func (p *part) paysOn(k int) (isNext, ok bool) {
	v := &p.values[k]
	if v.Kind != value.Date {
		return false, false
	}
	last := 0
	for n := k - 1; n >= 0; n-- {
		if p.values[n].Kind == value.Date {
			last = p.values[n].To
			break
		}
	}
	for _, c := range p.all("bond payment") {
		if c.from < last || c.to > v.From || v.From-c.to > defaultReach {
			continue
		}
		if p.hasBetween(c.from-3, v.From, "bond other date") || p.endsBetween(c.to, v.From) {
			continue
		}
		return p.hasBetween(c.from-3, v.From, "bond next date"), true
	}
	for _, c := range p.all("bond pays") { // "el próximo día 24 de marzo, se procederá al pago"
		const near = 4 // "(la «Fecha de Pago»)"
		behind := c.from >= v.To && c.from-v.To <= near
		if behind && !p.endsBetween(v.To, c.from) && !p.hasBetween(max(last, v.From-4), v.From, "bond other date") {
			return p.hasBetween(v.From-4, v.From, "bond next date") ||
				p.hasBetween(v.To, c.from, "bond next date"), true
		}
	}
	return false, false
}

// hasBondTable reports whether a table has a row for each series, the rows of which were read
// or are not certain.
func (r *reading) hasBondTable() bool {
	return slices.ContainsFunc(r.tables, func(t table) bool {
		records, _, _ := r.records(&bondsGrid, &t)
		return len(records) > 0
	})
}

// bondRows returns what is paid for each series, if all rows are complete and add up to the
// stated totals.
func (r *reading) bondRows() (rows []map[string]string) {
	sums := map[string]*big.Rat{"interest": new(big.Rat), "redemption": new(big.Rat)}
	stated := map[string][]string{"interest": r.statedInterest()}
	each := false // the amounts are those of one bond
	for n := range r.tables {
		t := &r.tables[n]
		if r.parts[t.rows[0]].aside || r.parts[t.rows[0]].isPastHeading() || r.isEarlierTable(t) {
			continue
		}
		records, totals, head := r.records(&bondsGrid, t)
		r.completeScales(&head, t)
		columns, once, _ := paidColumns(head.columns)
		if len(records) > 0 && !once {
			return nil
		}
		for _, rec := range records {
			row, ok := r.bondRow(rec, head, columns, sums)
			if !ok {
				return nil
			}
			rows = append(rows, row)
		}
		for _, rec := range totals {
			for name, column := range map[string]class{"interest": columns.interest, "redemption": columns.redemption} {
				if total, ok := r.amountOf(rec, head, column); ok && len(records) > 0 {
					stated[name] = append(stated[name], total)
				}
			}
		}
		each = each || len(records) > 0 && columns == columnsEach
	}
	if each {
		stated = nil // of all bonds
	}
	for name, totals := range stated {
		for _, total := range totals {
			if want, ok := new(big.Rat).SetString(total); ok && want.Cmp(sums[name]) != 0 {
				return nil
			}
		}
	}
	if repeated(rows, "isin") || repeated(rows, "series") { // of two payments, or of two funds
		return nil
	}
	return rows
}

// isEarlierTable reports whether the line above a table says that it is that of an earlier
// payment: "Fecha de pago anterior: 22 de diciembre de 2025".
func (r *reading) isEarlierTable(t *table) bool {
	const longest = 20
	if t.before < 0 {
		return false
	}
	p := &r.parts[t.before]
	n := len(p.tokens)
	if n == 0 || n > longest || !p.has("past") {
		return false
	}
	isLine := p.mark(n-1) != "." && p.mark(n-1) != ":" // no sentence
	return p.heading || isLine && p.has("bond payment")
}

// isPastHeading reports whether the first row of a table says that all of it is that of an earlier
// payment, not only one of its columns.
func (p *part) isPastHeading() bool {
	const fewest = 4
	if len(p.cells) < fewest {
		return p.has("past")
	}
	return p.hasBetween(p.cells[0].from, p.cells[0].to, "past")
}

// completeScales gives the columns of a heading without a unit that of the table.
func (r *reading) completeScales(head *heading, t *table) {
	var unit *value.Scale
	for _, column := range []class{
		columnsTotal.interest, columnsTotal.redemption, columnsEach.interest, columnsEach.redemption,
	} {
		if _, ok := head.scales[column]; ok || head.scales == nil {
			continue
		}
		if unit == nil {
			found := r.unitOfTable(t)
			if found == (value.Scale{}) {
				found = r.unitBelow(t)
			}
			unit = &found
		}
		head.scales[column] = *unit
	}
}

// bondColumns are the columns with the amounts that are paid.
type bondColumns struct{ interest, redemption class }

var (
	columnsTotal = bondColumns{"bond interest", "bond redemption"}
	columnsEach  = bondColumns{"bond interest each", "bond redemption each"}
)

// paidColumns returns the columns of a heading with the amounts of the payment: those of all
// bonds of a series, or else those of one bond.
func paidColumns(columns []class) (paid bondColumns, once, found bool) {
	for _, each := range []bondColumns{columnsTotal, columnsEach} {
		if slices.Contains(columns, each.interest) && slices.Contains(columns, each.redemption) {
			return each, hasOnce(columns, each.interest, each.redemption), true
		}
	}
	return bondColumns{}, false, false
}
