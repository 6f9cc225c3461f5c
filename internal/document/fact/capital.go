package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document/value"
)

// capitalLabels are the labels of forms about the share capital.
var capitalLabels = []class{
	"capital action label",
	"capital shares label",
	"capital amount label",
	"capital price label",
	"capital after label",
	"capital other label",
}

// capitalChange collects what a document says about a change of the share capital.
type capitalChange struct {
	r       *reading
	tables  map[int]*table // by the parts that are their rows
	actions map[string]place
	shares  []candidate
	amounts []candidate
	prices  []candidate
	after   []candidate
	limited bool // a limit stands in place of the amount
}

// capitalChanges finds the increase or reduction of the share capital that a document is
// about.
func capitalChanges(r *reading) []draft {
	if r.title.isOfResults() && !r.title.has("capital increase", "capital reduction") {
		return nil // a report of results tells what is known
	}
	c := capitalChange{r: r, actions: map[string]place{}, tables: map[int]*table{}}
	for n := range r.tables {
		for _, row := range r.tables[n].rows[:min(len(r.tables[n].rows), mostCapitalRows)] {
			c.tables[row] = &r.tables[n]
		}
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() {
			continue
		}
		if p.has("capital agenda") {
			return nil // what a meeting will be asked to decide
		}
		c.noteLimit(p)
		c.readEntries(i)
		if p.isProse() {
			c.readSentence(i)
		}
	}
	for n := range r.tables {
		c.readTable(&r.tables[n])
	}
	return c.drafts()
}

// isOfResults reports whether a title is that of a report of results, not of the result of
// one operation.
func (p *part) isOfResults() bool {
	return p.has("results title") && slices.ContainsFunc(p.tokens, func(t value.Token) bool {
		return t.Folded == "resultados" || t.Folded == "results" || t.Folded == "resultats"
	})
}

// drafts returns the fact, if the document says what is done and how much.
func (c *capitalChange) drafts() []draft {
	if len(c.actions) != 1 {
		return nil // none, or one after the other: which values belong to which is open
	}
	d := newDraft()
	for action, at := range c.actions {
		d.set("action", action, at)
	}
	c.setMoney(&d, "amount", withoutSigns(c.amounts, d.fields["action"] == "reduction"))
	if d.fields["action"] == "increase" {
		d.setAgreed("new_shares", c.shares)
		c.setMoney(&d, "price", c.prices)
	}
	if d.fields["new_shares"] == "" && d.fields["amount"] == "" {
		return nil
	}
	if after, ok := agreed(c.after); ok && c.isPlausible(d, after) {
		c.setMoney(&d, "capital_after", c.after)
	}
	return []draft{d}
}

// setMoney sets an amount and its currency. An amount in another currency than those
// before it is left out: the fact has only one.
func (c *capitalChange) setMoney(d *draft, field string, all []candidate) {
	found, ok := agreed(all)
	currency := d.fields["currency"]
	if !ok || currency != "" && currency != found.currency {
		return
	}
	d.set(field, found.text, found.at)
	d.set("currency", found.currency, found.at)
}

// withoutSigns returns the amounts of a change. Tables write that of a reduction in
// brackets, as a negative figure; one of an increase is something else.
func withoutSigns(all []candidate, reduction bool) (kept []candidate) {
	for _, c := range all {
		unsigned, negative := strings.CutPrefix(c.text, "-")
		if negative && !reduction {
			continue
		}
		c.text = unsigned
		kept = append(kept, c)
	}
	return kept
}

// isPlausible reports whether the capital after an increase is more than the increase.
func (c *capitalChange) isPlausible(d draft, after candidate) bool {
	amount := d.fields["amount"]
	if amount == "" && c.limited {
		return false
	}
	if amount == "" || d.fields["action"] == "reduction" {
		return true
	}
	return disclosure.CompareDecimals(after.text, amount) > 0
}

// readEntries reads the labels of a form.
func (c *capitalChange) readEntries(i int) {
	for _, e := range c.r.entries(i, capitalLabels) {
		if e.value.empty() {
			continue
		}
		if c.isLimited(e) {
			continue
		}
		heading := c.headingOf(e)
		if e.class == "capital amount label" || e.class == "capital after label" {
			c.readAction(i, e.label.from, e.value.from)
		}
		switch e.class {
		case "capital action label":
			c.readAction(i, e.value.from, e.value.to)
		case "capital shares label":
			unit := c.unitOf(e)
			unit.Unclear = heading.Power > 0 && e.value.from-e.label.to < 2 // thousands of euros, but of shares?
			c.add(&c.shares, e.value, readNewShares, unit)
		case "capital amount label":
			c.add(&c.amounts, e.value, readMoney, heading)
		case "capital price label":
			c.add(&c.prices, e.value, readPrice, c.unitOf(e))
		case "capital after label":
			c.add(&c.after, e.value, readMoney, heading)
		}
	}
}

// isLimited reports whether the words of an entry say that its value is not that of the
// change: "Número máximo de acciones nuevas", "Importe nominal previsto".
func (c *capitalChange) isLimited(e entry) bool {
	p := &c.r.parts[e.label.part]
	from := e.label.from
	for from > 0 && e.label.from-from < 6 && !p.startsCell(from) && p.mark(from-1) != "." && p.mark(from-1) != ":" {
		from--
	}
	return p.hasBetween(from, e.value.from+3, "capital limit") || c.r.isFormer(p)
}

// noteLimit notes whether a part has a limit in place of the amount: "Importe nominal
// máximo". Then the capital that it would give is not that after the change.
func (c *capitalChange) noteLimit(p *part) {
	for _, l := range p.all("capital amount label", "capital shares label") {
		c.limited = c.limited || p.hasBetween(max(0, l.from-3), l.to+1, "capital limit")
	}
}

// unitOf returns the unit in the label of an entry.
func (c *capitalChange) unitOf(e entry) value.Scale {
	p := &c.r.parts[e.label.part]
	unit, _ := value.ReadScale(p.tokens[e.label.from:e.value.from], p.english)
	return unit
}

// headingOf returns the unit of an amount in a form: that of its label, else that of the
// table.
func (c *capitalChange) headingOf(e entry) value.Scale {
	p := &c.r.parts[e.label.part]
	t := c.tables[e.label.part]
	if unit := c.unitOf(e); t == nil || unit != (value.Scale{}) {
		return unit
	}
	return c.r.headingOf(t, e.label.part, p.cellOf(e.value.from), p.cells[p.cellOf(e.label.from)])
}

// readNewShares reads a number of new shares. A small one is that of a ratio: "1 acción
// nueva por cada 10".
func readNewShares(p *part, v *value.Value, heading value.Scale) (read, bool) {
	got, ok := readCount(p, v, heading)
	return got, ok && len(got.text) >= 4
}

// add adds the first value in a place that is one of the field.
func (c *capitalChange) add(
	to *[]candidate, at place, readValue func(*part, *value.Value, value.Scale) (read, bool), heading value.Scale,
) {
	p := &c.r.parts[at.part]
	for _, v := range p.valuesIn(at.from, at.to) {
		got, ok := readValue(p, v, heading)
		if ok && v.Bound == "" && v.Partner < 0 {
			*to = append(*to, candidate{read: got, at: c.r.placeOf(at.part, v)})
			return
		}
	}
}

// readAction notes the changes that a range of tokens names.
func (c *capitalChange) readAction(i, from, to int) {
	p := &c.r.parts[i]
	for _, action := range []struct {
		class class
		name  string
	}{
		{"capital increase", "increase"},
		{"capital reduction", "reduction"},
	} {
		for _, cue := range p.all(action.class) {
			if cue.from < from || cue.from >= to {
				continue
			}
			if _, ok := c.actions[action.name]; !ok {
				c.actions[action.name] = place{i, cue.from, cue.to}
			}
		}
	}
}

// readSentence reads a sentence that states something new.
func (c *capitalChange) readSentence(i int) {
	p := &c.r.parts[i]
	if p.isDelegated() || p.has("capital previous", "example") || c.isOfOther(p) || c.r.isFormer(p) {
		return
	}
	c.readAction(i, 0, len(p.tokens))
	for _, v := range p.valuesIn(0, len(p.tokens)) {
		if v.Kind != value.Figure || v.Bound != "" || v.Partner >= 0 || v.Negative || p.isOfBonds(v) {
			continue
		}
		switch {
		case p.isNewShares(v), p.followsNewShares(v):
			c.addValue(&c.shares, i, v, readNewShares)
		case (isRate(v) || p.isEach(v)) && p.isIssuePrice(v), isSmall(v) && p.isIssuePrice(v) && p.followsPrice(v):
			c.addValue(&c.prices, i, v, readPrice)
		case isRate(v) || p.isEach(v) || isSmall(v):
		case p.isNominal(v):
			c.addValue(&c.amounts, i, v, readMoney)
		case p.isCapitalAfter(v):
			c.addValue(&c.after, i, v, readMoney)
		}
	}
}

func (c *capitalChange) addValue(
	to *[]candidate, i int, v *value.Value, readValue func(*part, *value.Value, value.Scale) (read, bool),
) {
	if got, ok := readValue(&c.r.parts[i], v, value.Scale{}); ok {
		*to = append(*to, candidate{read: got, at: c.r.placeOf(i, v)})
	}
}

// isDelegated reports whether a sentence only tells what may be done. The power that is
// used for what is done says nothing of the kind: "en uso de las facultades delegadas".
func (p *part) isDelegated() bool {
	for _, c := range p.all("capital delegated") {
		power := p.hasBetween(c.from, c.from+1, "capital power")
		if !power || !p.hasBetween(max(0, c.from-8), c.from, "capital exercised") {
			return true
		}
	}
	return false
}

// isFormer reports whether a sentence tells of a change of an earlier year or month: it has
// an older date, and its verb is in the past.
func (r *reading) isFormer(p *part) bool {
	const days = 60
	if !p.has("capital then") || r.Published.IsZero() {
		return false
	}
	for k := range min(len(p.values), mostLabels) {
		v := &p.values[k]
		if v.Kind != value.Date || v.Year == 0 {
			continue
		}
		if v.Month == 0 && v.Year < r.Published.Year() {
			return true
		}
		last := time.Date(v.Year, time.Month(v.Month+1), 0, 0, 0, 0, 0, time.UTC) // of its month
		if v.Month > 0 && r.Published.Sub(last) > days*24*time.Hour {
			return true
		}
	}
	return false
}

// isOfOther reports whether a sentence is about another company.
func (c *capitalChange) isOfOther(p *part) bool {
	return c.r.Company != "" && slices.ContainsFunc(p.companies(), func(n name) bool { return !c.r.isCompany(n.text) })
}

// isOfBonds reports whether a figure in a sentence about bonds may be theirs: no words
// for the change of the capital stand between the bonds and the figure.
func (p *part) isOfBonds(v *value.Value) bool {
	if !p.has("capital bonds") {
		return false
	}
	change := max(p.lastBefore(0, v.From, "capital increase"), p.lastBefore(0, v.From, "capital reduction"))
	return change < 0 || change < p.lastBefore(0, v.From, "capital bonds") || p.hasBetween(v.To, v.To+6, "capital bonds")
}

// isNewShares reports whether a figure is the number of new shares: "emisión de 5.000
// acciones", "5.000 acciones nuevas".
func (p *part) isNewShares(v *value.Value) bool {
	if v.Unit != "share" {
		return false
	}
	if isRepresented(p, v) {
		return true
	}
	if p.hasBetween(max(0, v.From-5), v.From, "capital not new") || p.hasBetween(v.To, v.To+2, "capital not new") {
		return false
	}
	return p.hasBetween(v.From, v.To+2, "capital new") || p.hasBetween(max(0, v.From-6), v.From, "capital issue")
}

// followsNewShares reports whether a figure without a unit follows words such as "el número
// de acciones a emitir es de".
func (p *part) followsNewShares(v *value.Value) bool {
	last := p.lastBefore(max(0, v.From-24), v.From, "capital shares label")
	if v.Unit != "" && v.Unit != "share" || last < 0 || p.hasBetween(max(0, last-8), v.From, "capital limit") {
		return false
	}
	for k := last; k < v.From; k++ {
		if to := p.nominalAt(k); to > k {
			k = to - 1
			continue
		}
		switch p.word(k) {
		case "ordinarias", "que", "se", "emiten", "emitiran", "emitir", "han", "aumento", "capital", "el", "la", "ampliacion",
			"nuevas",
			"ascendido", "ordinary", "has", "been", "son", "are", "quedado", "fijado", "en", "nueva", "emision":
		case "es", "de", "asciende", "a", "ha", "sido", "siendo", "fue", "sera", "total", "is", "was", "amounts", "to", "finalmente",
			"definitivamente", "in", "the", "emitidas", "suscritas", "issued":
		default:
			return false
		}
	}
	return true
}

// nominalAt returns the end of words such as "0,50 euros de valor nominal cada una" that
// begin at a token, else the token.
func (p *part) nominalAt(k int) int {
	n := p.firstValue(k)
	if n >= len(p.values) || p.values[n].From != k {
		return k
	}
	v := &p.values[n]
	if !isSmall(v) || !p.hasBetween(k, v.To+3, "nominal") {
		return k
	}
	k = v.To
	for k < len(p.tokens) {
		switch p.word(k) {
		case "de", "valor", "nominal", "cada", "una", "unitario", "par", "value", "each":
			k++
		default:
			return k
		}
	}
	return k
}

// isRepresented reports whether an increase is "representado por 5.000 nuevas acciones":
// of new shares only.
func isRepresented(p *part, v *value.Value) bool {
	directly := p.word(v.From-1) == "por" || p.word(v.From-1) == "by"
	return directly && strings.HasPrefix(p.word(v.From-2), "represent") && p.hasBetween(v.From, v.To+1, "capital new")
}

// isIssuePrice reports whether a price for each share is that of the new shares.
func (p *part) isIssuePrice(v *value.Value) bool {
	cue := p.lastBefore(max(0, v.From-12), v.From, "capital price")
	if cue < 0 || p.endsBetween(cue, v.From) {
		return false
	}
	return !p.hasBetween(max(0, cue-4), v.From, "capital not price") && !p.hasBetween(v.To, v.To+4, "nominal")
}

// isSmall reports whether an amount is too small for that of a capital: it is that of a
// share.
func isSmall(v *value.Value) bool {
	text, ok := decimal(v, 0)
	return ok && disclosure.CompareDecimals(text, "1000") < 0
}

// followsPrice reports whether an amount follows directly the words for a price.
func (p *part) followsPrice(v *value.Value) bool {
	return v.From-p.lastBefore(max(0, v.From-12), v.From, "capital price") <= 3
}

// isCapitalAfter reports whether an amount is the share capital after the change.
func (p *part) isCapitalAfter(v *value.Value) bool {
	if p.isMovedTo(v) {
		return true
	}
	last := p.lastBefore(max(0, v.From-24), v.From, "capital after")
	if moves := p.lastBefore(max(0, v.From-4), v.From, "capital moves"); moves == v.From {
		return false // "pasa de": the capital before
	}
	if last < 0 {
		last = p.lastBefore(max(0, v.From-24), v.From, "capital thus")
		if last < 0 || !p.namesCapital(last, v.From) {
			return false
		}
	}
	if !p.namesCapital(0, v.From) || p.endsBetween(last, v.From) || len(p.amountsIn(last, v.From)) > 0 {
		return false
	}
	return !p.hasBetween(last, v.From, "capital by", "capital nominal", "capital not nominal") &&
		!p.hasBetween(max(last, v.From-6), v.From, "capital before word")
}

// isMovedTo reports whether an amount is the second in "el capital social pasa de … a …".
func (p *part) isMovedTo(v *value.Value) bool {
	if w := p.word(v.From - 1); w != "a" && w != "to" && w != "hasta" {
		return false
	}
	moves := p.lastBefore(max(0, v.From-12), v.From, "capital moves")
	if moves < 0 || p.endsBetween(moves, v.From) {
		return false
	}
	return len(p.amountsIn(moves, v.From)) == 1 && p.namesCapital(max(0, moves-10), moves)
}

// namesCapital reports whether a range of tokens names the share capital, not only its
// increase or reduction.
func (p *part) namesCapital(from, to int) bool {
	changes := p.all("capital increase", "capital reduction")
	return slices.ContainsFunc(p.all("capital word"), func(c cue) bool {
		inChange := slices.ContainsFunc(changes, func(o cue) bool { return o.from <= c.from && c.from < o.to })
		return c.from >= from && c.from < to && !inChange
	})
}

// amountsIn returns the amounts of money in a range of tokens.
func (p *part) amountsIn(from, to int) (found []*value.Value) {
	for _, v := range p.valuesIn(from, to) {
		if v.Kind == value.Figure && value.CurrencyCode(v.Unit) != "" {
			found = append(found, v)
		}
	}
	return found
}

// isNominal reports whether an amount is the nominal amount of the change.
func (p *part) isNominal(v *value.Value) bool {
	if p.isCalledNominal(v) {
		return true
	}
	nominal := p.lastBefore(max(0, v.From-14), v.From, "capital nominal")
	cue := max(nominal, p.changeBy(v))
	if cue < 0 || p.endsBetween(cue, v.From) || p.hasBetween(cue, v.From, "capital after", "capital before word") {
		return false
	}
	// in "5.000 euros de nominal y 9.000 euros de prima" the cue belongs to the amount before
	if len(p.amountsIn(max(0, cue-5), v.From)) > 0 || p.hasBetween(v.To, v.To+3, "capital not nominal") {
		return false
	}
	return !p.hasBetween(max(0, cue-3), v.From, "capital not nominal", "capital par")
}

// changeBy returns the end of words such as "aumentar el capital social en" before an
// amount, or -1. In the press, "ampliar capital en 10 millones" is what is paid.
func (p *part) changeBy(v *value.Value) int {
	from := max(0, v.From-8)
	reduced := p.has("capital reduction") && !p.has("capital increase")
	if reduced {
		return max(p.lastBefore(from, v.From, "capital by"), p.lastBefore(from, v.From, "capital loosely by"))
	}
	if v.Scaled() {
		return -1
	}
	return p.lastBefore(from, v.From, "capital by")
}

// isCalledNominal reports whether the words directly behind an amount call it nominal:
// "euros nominales", "euros de valor nominal".
func (p *part) isCalledNominal(v *value.Value) bool {
	if isCapitalAt(p, v.To) && strings.Contains(p.text[p.tokens[v.To-1].End():p.tokens[v.To].At], "\n") {
		return false // the label of the next line
	}
	to := v.To + 1
	if p.word(v.To) == "de" || p.word(v.To) == "in" {
		to = v.To + 3
	}
	return p.hasBetween(v.To, to, "capital nominal") && !p.hasBetween(v.To, to+2, "capital not nominal")
}

// mostCapitalRows is the number of rows of a table that are read.
const mostCapitalRows = 60

// readTable reads a table with columns for before, the change, and after.
func (c *capitalChange) readTable(t *table) {
	var columns []cue
	for _, row := range t.rows[:min(len(t.rows), mostCapitalRows)] {
		p := &c.r.parts[row]
		if p.aside || p.isLong() {
			continue
		}
		if found := capitalColumns(p); found != nil {
			columns = found
			c.readColumnAction(row, found)
			continue
		}
		if columns != nil {
			c.readRow(t, row, columns)
		}
	}
	if t.before >= 0 {
		p := &c.r.parts[t.before]
		if !p.aside && !p.has("capital delegated", "capital previous") {
			c.readAction(t.before, 0, len(p.tokens))
		}
	}
}

// capitalColumns returns the headings of the columns for before, the change and after,
// if a row has them.
func capitalColumns(p *part) []cue {
	found := p.withoutOverlap([]class{"capital column before", "capital column change", "capital column after"})
	if len(found) != 3 || len(p.figuresIn(cell{0, len(p.tokens)})) > 0 {
		return nil
	}
	classes := []class{found[0].class, found[1].class, found[2].class}
	slices.Sort(classes)
	if len(slices.Compact(classes)) != 3 {
		return nil
	}
	return found
}

// readColumnAction takes the change from the heading of its column.
func (c *capitalChange) readColumnAction(row int, columns []cue) {
	p := &c.r.parts[row]
	for _, column := range columns {
		if column.class != "capital column change" {
			continue
		}
		switch p.word(column.from) {
		case "aumento", "ampliacion", "increase", "augment", "ampliacio":
			c.actions["increase"] = place{row, column.from, column.to}
		case "reduccion", "reduction", "reduccio":
			c.actions["reduction"] = place{row, column.from, column.to}
		}
	}
}

// readRow reads a row of shares or of capital: its figures are those of the columns.
func (c *capitalChange) readRow(t *table, row int, columns []cue) {
	p := &c.r.parts[row]
	label := p.cells[0]
	figures := p.figuresIn(cell{label.to, len(p.tokens)})
	if len(figures) != len(columns) {
		return
	}
	heading := c.r.headingOf(t, row, 1, label)
	isCapital := p.hasBetween(label.from, label.to, "capital capital row")
	isShares := p.hasBetween(label.from, label.to, "capital shares row") && !isCapital
	for n, v := range figures {
		at := place{row, v.From, v.To}
		switch class := columns[n].class; {
		case isShares && class == "capital column change":
			c.add(&c.shares, at, readCount, value.Scale{})
		case isCapital && class == "capital column change":
			c.add(&c.amounts, at, readMoney, heading)
		case isCapital && class == "capital column after":
			c.add(&c.after, at, readMoney, heading)
		}
	}
}
