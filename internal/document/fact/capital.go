package fact

import (
	"math/big"
	"slices"
	"strings"

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
	loose   []candidate     // amounts that are nominal or not
	pars    []candidate     // nominal values of a share
	pairs   [][2]candidate  // the capital before and after a change
	limited bool            // a limit stands in place of the amount
	doubted map[string]bool // figures of proposals and rumours
	decided bool            // some words say that the change was decided, made or registered
}

// capitalChanges finds the increase or reduction of the share capital that a document is
// about.
func capitalChanges(r *reading) []draft {
	isOther := r.title.isOfResults() || r.title.has("votes title")
	if isOther && (r.title.changedBefore() || !r.title.has("capital increase", "capital reduction", "capital new")) {
		return nil // a report of results or of votes repeats what is known
	}
	if r.title.isOfGuide() || r.title.isCalledOff() {
		return nil
	}
	c := capitalChange{r: r, actions: map[string]place{}, doubted: map[string]bool{}, tables: map[int]*table{}}
	c.decided = r.title.has("capital decided")
	supposed := r.supposed()
	for n := range r.tables {
		for _, row := range r.tables[n].rows[:min(len(r.tables[n].rows), mostCapitalRows)] {
			c.tables[row] = &r.tables[n]
		}
	}
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() || supposed[i] {
			continue
		}
		if p.isCapitalAgenda() || p.isCalledOff() || p.deniesChange() {
			return nil
		}
		c.noteLimit(p)
		c.decided = c.decided || p.heading && p.has("capital decided")
		c.readEntries(i)
		c.readPair(i)
		if p.isProse() {
			c.readSentence(i)
		}
	}
	for n := range r.tables {
		c.readTable(&r.tables[n])
	}
	return c.drafts()
}

// changedBefore reports whether a title names a change that took place before: "Derechos de voto
// tras el aumento de capital".
func (p *part) changedBefore() bool {
	for _, c := range p.all("capital increase", "capital reduction") {
		for k := max(0, c.from-3); k <= c.from; k++ {
			switch p.word(k) {
			case "tras", "despues", "after", "following", "despres", "consecuencia", "posterior":
				return true
			}
		}
	}
	return false
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
	if len(c.actions) == 0 {
		c.takeTitled()
	}
	if len(c.actions) != 1 || !c.decided {
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
	if len(c.amounts) == 0 && c.isProduct(d.fields["new_shares"]) {
		c.setMoney(&d, "amount", c.loose)
	}
	if d.fields["new_shares"] == "" && d.fields["amount"] == "" {
		return nil
	}
	if c.doubted[d.fields["new_shares"]] || c.doubted[d.fields["amount"]] {
		return nil
	}
	c.takePair(d.fields["amount"])
	if after, ok := agreed(c.after); ok && c.isPlausible(d, after) {
		c.setMoney(&d, "capital_after", c.after)
	}
	return []draft{d}
}

// takeTitled takes the change from the title, if the document has its values and does not say
// what changes. The values prove it.
func (c *capitalChange) takeTitled() {
	title := c.r.title
	isIncrease := title.has("capital increase")
	isReduction := title.has("capital reduction")
	values := slices.Concat(c.amounts, c.shares)
	isPlan := title.has("capital delegated", "capital previous", "capital agenda")
	if isIncrease == isReduction || len(values) == 0 || isPlan || c.isOfOther(title) {
		return
	}
	name := "increase"
	if isReduction {
		name = "reduction"
	}
	c.actions[name] = values[0].at
}

// isProduct reports whether the amount that may be nominal is: it is that of the new shares
// at their nominal value.
func (c *capitalChange) isProduct(shares string) bool {
	par, hasPar := agreed(c.pars)
	amount, hasAmount := agreed(c.loose)
	if !hasPar || !hasAmount || shares == "" {
		return false
	}
	count, okCount := new(big.Rat).SetString(shares)
	each, okEach := new(big.Rat).SetString(par.text)
	total, okTotal := new(big.Rat).SetString(amount.text)
	return okCount && okEach && okTotal && count.Mul(count, each).Cmp(total) == 0
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
		if c.isLimited(e) || c.hasColumns(e) {
			continue
		}
		c.decided = c.decided || e.class != "capital other label"
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
			c.add(&c.amounts, e.value, readNominal, heading)
		case "capital price label":
			c.add(&c.prices, e.value, readPrice, c.unitOf(e))
		case "capital after label":
			c.add(&c.after, e.value, readMoney, heading)
		}
	}
}

// hasColumns reports whether other figures stand in the cells behind that of an entry, up to the
// next label. Then the row has columns, and which of them counts is open.
func (c *capitalChange) hasColumns(e entry) bool {
	p := &c.r.parts[e.value.part]
	if p.cells == nil {
		return false
	}
	own := p.figuresIn(cell{e.value.from, e.value.to})
	if len(own) == 0 {
		return false
	}
	for _, further := range p.cells[p.cellOf(e.value.from)+1:] {
		if p.hasBetween(further.from, further.to, capitalLabels...) {
			return false
		}
		for _, v := range p.figuresIn(further) {
			if v.Number != own[0].Number && v.Unit != "%" {
				return true
			}
		}
	}
	return false
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

// readNominal reads the nominal amount of a change. A small one is that of a share: "Nominal:
// 0,50 €".
func readNominal(p *part, v *value.Value, heading value.Scale) (read, bool) {
	got, ok := readMoney(p, v, heading)
	return got, ok && disclosure.CompareDecimals(strings.TrimPrefix(got.text, "-"), "1000") >= 0
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
