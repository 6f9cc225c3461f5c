package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// mostCapitalRows is the number of rows of a table that are read.
const mostCapitalRows = 60

// readTable reads a table with columns for before, the change, and after.
func (c *capitalChange) readTable(t *table) {
	var columns []cue
	if c.readTransposed(t) || c.readTotals(t) {
		return
	}
	for _, row := range t.rows[:min(len(t.rows), mostCapitalRows)] {
		p := &c.r.parts[row]
		if p.aside || p.isLong() {
			continue
		}
		if found := capitalColumns(p); found != nil {
			columns = found
			c.decided = true
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
		c.readBareRow(row, columns)
		return
	}
	heading := c.r.headingOf(t, row, 1, label)
	unit, ok := value.ReadScale(p.tokens[label.from:label.to], p.english)
	unit.Unclear = unit.Unclear || !ok && heading.Power > 0 // thousands of euros, but of shares?
	isCapital := p.hasBetween(label.from, label.to, "capital capital row")
	isShares := p.hasBetween(label.from, label.to, "capital shares row") && !isCapital
	for n, v := range figures {
		at := place{row, v.From, v.To}
		switch class := columns[n].class; {
		case isShares && class == "capital column change":
			c.add(&c.shares, at, readCount, unit)
		case isCapital && class == "capital column change":
			c.add(&c.amounts, at, readMoney, heading)
		case isCapital && class == "capital column after":
			c.add(&c.after, at, readMoney, heading)
		}
	}
}

// readBareRow reads a row of amounts without a label, below headings such as "Capital antes",
// "Aumento" and "Capital después".
func (c *capitalChange) readBareRow(row int, columns []cue) {
	p := &c.r.parts[row]
	figures := p.figuresIn(cell{0, len(p.tokens)})
	if len(figures) != len(columns) || len(p.cells) != len(columns) ||
		len(p.amountsIn(0, len(p.tokens))) != len(columns) {
		return
	}
	for n, v := range figures {
		at := place{row, v.From, v.To}
		switch columns[n].class {
		case "capital column change":
			c.add(&c.amounts, at, readNominal, value.Scale{})
		case "capital column after":
			c.add(&c.after, at, readNominal, value.Scale{})
		}
	}
}
