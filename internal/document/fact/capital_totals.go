package fact

import "math/big"

// readTotals reads a table with a row for each part of a change, such as a tranche or a
// creditor, and a row with their total. It reports whether it is one. The sum proves that the
// total was read as meant.
func (c *capitalChange) readTotals(t *table) bool {
	head, total := -1, -1
	for _, row := range t.rows[:min(len(t.rows), mostCapitalRows)] {
		p := &c.r.parts[row]
		if p.aside || p.isLong() {
			return false
		}
		switch {
		case len(p.figuresIn(cell{0, len(p.tokens)})) == 0:
			if head < 0 && p.has("capital shares label", "capital amount label") {
				head = row
			}
		case p.hasBetween(0, p.cells[0].to, "capital total row"):
			total = row
		}
	}
	if head < 0 || total < head || len(c.r.parts[head].cells) != len(c.r.parts[total].cells) {
		return false
	}
	for n := range c.r.parts[head].cells {
		c.readTotal(t, head, total, n)
	}
	return true
}

// readTotal reads the total of a column, if it is that of the rows between it and the heading.
func (c *capitalChange) readTotal(t *table, head, total, column int) {
	h := c.r.parts[head].cells[column]
	isShares := c.r.parts[head].hasBetween(h.from, h.to, "capital shares label")
	isAmount := c.r.parts[head].hasBetween(h.from, h.to, "capital amount label")
	if isShares == isAmount || c.r.parts[head].hasBetween(h.from, h.to, "capital limit", "capital before word") {
		return
	}
	sum := new(big.Rat)
	for _, row := range t.rows {
		if row <= head || row >= total {
			continue
		}
		n, ok := c.cellNumber(row, column)
		if !ok {
			return
		}
		sum.Add(sum, n)
	}
	stated, ok := c.cellNumber(total, column)
	if !ok || sum.Cmp(stated) != 0 || sum.Sign() == 0 {
		return
	}
	c.decided = true
	p := &c.r.parts[total]
	v := p.figuresIn(p.cells[column])[0]
	at := place{total, v.From, v.To}
	heading := c.r.headingOf(t, total, column, p.cells[0])
	if isShares {
		heading.Unclear = heading.Power > 0
		heading.Currency = ""
		c.add(&c.shares, at, readNewShares, heading)
		return
	}
	c.add(&c.amounts, at, readNominal, heading)
}

// cellNumber returns the only figure of a cell of a row.
func (c *capitalChange) cellNumber(row, column int) (*big.Rat, bool) {
	p := &c.r.parts[row]
	if column >= len(p.cells) {
		return nil, false
	}
	figures := p.figuresIn(p.cells[column])
	if len(figures) != 1 {
		return nil, false
	}
	text, ok := decimal(figures[0], 0)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
