package fact

import (
	"maps"
	"slices"

	"pregon/internal/document/value"
)

// Some tables have a column for each dividend, for each class of shares, or for each year:
//
//	Concepto          Dividendo complementario  Dividendo extraordinario
//	Importe bruto     0,42 €                    0,10 €
//	Fecha de pago     10 de junio de 2026       4 de noviembre de 2026

// dividendGrid is such a table.
type dividendGrid struct {
	head    *part
	columns []dividendColumn
	classes bool // a column for each class of shares
	old     bool // some column is that of an earlier dividend
}

// dividendColumn has the values of a column.
type dividendColumn struct {
	old    bool
	values []dividendValue
	totals []dividendValue // amounts of a row "Total", for each share
}

// dividendsInColumns returns the dividends of such a table, and reports whether there is one
// that leaves no doubt what its columns are. The dates of the document are those of all
// classes of shares.
func (r *reading) dividendsInColumns(proposed map[string]bool, all []dividendValue) (found []draft, ok bool) {
	for n := range r.tables {
		g, isGrid := r.dividendGridOf(&r.tables[n])
		if !isGrid {
			continue
		}
		current := 0
		for _, c := range g.columns {
			if c.old {
				continue
			}
			current++
			if d, ok := r.dividendOfColumn(g, c, all); ok && !proposed[d.fields["gross_per_share"]] {
				found = append(found, d)
			}
		}
		switch {
		case g.classes && len(found) < current:
			return nil, true // the amount of a class is not known
		case g.classes, g.old && len(found) == 1, len(found) > 1:
			return withoutEqual(found), true
		}
		found = nil
	}
	return nil, false
}

// withoutEqual drops facts that are the same as one before: classes of shares may receive the
// same.
func withoutEqual(drafts []draft) (kept []draft) {
	for _, d := range drafts {
		equal := func(other draft) bool { return maps.Equal(other.fields, d.fields) }
		if !slices.ContainsFunc(kept, equal) {
			kept = append(kept, d)
		}
	}
	return kept
}

// dividendGridOf reads such a table.
func (r *reading) dividendGridOf(t *table) (g dividendGrid, ok bool) {
	if len(t.rows) < 2 || len(t.rows) > mostFormRows {
		return g, false
	}
	g.head = &r.parts[t.rows[0]]
	width := len(r.parts[t.rows[1]].cells)
	heads := g.head.cells
	if len(heads) == width {
		heads = heads[1:] // above the labels
	}
	few := len(heads) < 2 || len(heads) > mostDividends
	if few || len(heads) != width-1 || g.head.aside || !r.readDividendHeads(&g, heads) {
		return g, false
	}
	unit := r.unitOfTable(t)
	for _, row := range t.rows[1:] {
		if p := &r.parts[row]; !p.aside && len(p.cells) == width && len(clausesOf(p).doubts) == 0 {
			r.readDividendGridRow(&g, row, unit)
		}
	}
	return g, true
}

// readDividendHeads reads the heads of the columns, and reports whether all are understood.
func (r *reading) readDividendHeads(g *dividendGrid, heads []cell) bool {
	classes := 0
	years := map[int]bool{}
	newest := 0
	ofDividends := true
	doubts := clausesOf(g.head).doubts
	for _, c := range heads {
		if len(g.head.figuresIn(c)) > 0 || g.head.hasBetween(c.from, c.to, "total", "total amount") {
			return false
		}
		_, doubtful := firstCue(doubts, c.from, c.to)
		old := doubtful || g.head.hasBetween(c.from, c.to, "older row")
		g.old = g.old || old
		g.columns = append(g.columns, dividendColumn{old: old})
		if g.head.hasBetween(c.from, c.to, "share class") {
			classes++
		}
		year := g.head.yearIn(c)
		years[year] = true
		newest = max(newest, year)
		ofDividends = ofDividends && (g.head.hasBetween(c.from, c.to, "dividend", "payment") || g.head.namesDividend(c))
	}
	g.classes = classes == len(heads) && !g.old
	switch {
	case g.classes, ofDividends:
		return true
	case years[0] || len(years) != len(heads):
		return false
	}
	for n, c := range heads { // a column for each year
		if g.head.yearIn(c) < newest {
			g.columns[n].old = true
			g.old = true
		}
	}
	return r.Published.IsZero() || newest >= r.Published.Year()-1
}

// yearIn returns the year that a cell names, or 0.
func (p *part) yearIn(c cell) int {
	for _, v := range p.valuesIn(c.from, c.to) {
		if v.Kind == value.Date && v.Year > 0 {
			return v.Year
		}
	}
	return 0
}

// namesDividend reports whether a head has the short name of a dividend: "Final 2025".
func (p *part) namesDividend(c cell) bool {
	for i := c.from; i < c.to; i++ {
		switch p.word(i) {
		case "final", "interim", "special", "complementario", "complementari", "extraordinario", "ordinario", "cuenta":
			return true
		}
	}
	return false
}

// readDividendGridRow adds the values of a row to the columns.
func (r *reading) readDividendGridRow(g *dividendGrid, row int, unit value.Scale) {
	p := &r.parts[row]
	label := p.cells[0]
	date, _ := lastCue(p.longest(dividendDateNames...), label.from, label.to)
	amount, _ := lastCue(p.longest(dividendAmountNames...), label.from, label.to)
	heading, ok := value.ReadScale(p.tokens[label.from:label.to], p.english)
	if !ok {
		heading = unit
	}
	heading.PerShare = heading.PerShare || p.hasBetween(label.from, label.to, "per share")
	gross := p.hasBetween(label.from, label.to, "gross")
	isTotal := gross && heading.PerShare && p.hasBetween(label.from, label.to, "total amount")
	for k, c := range p.cells[1:] {
		values := p.valuesIn(c.from, c.to)
		column := &g.columns[k]
		switch {
		case len(values) != 1:
		case values[0].Kind == value.Date && date.class != "":
			column.values = r.addDividendDate(column.values, row, values[0], date.class)
		case values[0].Kind == value.Figure && isTotal:
			column.totals = r.addDividendAmount(column.totals, row, values[0], "gross", heading)
		case values[0].Kind == value.Figure && amount.class != "":
			column.values = r.addDividendAmount(column.values, row, values[0], amount.class, heading)
		}
	}
}

// dividendOfColumn makes a fact of the values of a column, if it has an amount and a date.
func (r *reading) dividendOfColumn(g dividendGrid, c dividendColumn, all []dividendValue) (draft, bool) {
	d := newDraft()
	amounts := amountsOf(c.values)
	if len(c.totals) > 0 {
		amounts = amountsOf(c.totals)
	}
	if len(amounts) != 1 {
		return d, false
	}
	d.set("gross_per_share", amounts[0].text, amounts[0].at)
	d.set("currency", amounts[0].currency, amounts[0].at)
	for _, field := range dividendDateFields {
		if !d.setAgreed(field, datesFor(field, c.values)) && g.classes {
			d.setAgreed(field, datesFor(field, all))
		}
	}
	if len(d.fields) == 2 {
		return d, false
	}
	r.setForm(&d)
	return d, true
}

// datesFor returns the dates of a field.
func datesFor(field string, all []dividendValue) (dates []candidate) {
	for _, v := range all {
		if v.field == field {
			dates = append(dates, v.candidate)
		}
	}
	return dates
}
