package fact

import (
	"math/big"
	"slices"

	"pregon/internal/document/value"
)

// capitalMatrix is a table with a row for before, the change and after, and columns for shares
// and capital.
type capitalMatrix struct {
	head *part
	rows map[class]int // parts
}

// readTransposed reads a table whose rows are before, the change and after, and reports whether
// it is one. The sum of each column proves that it was read as meant.
func (c *capitalChange) readTransposed(t *table) bool {
	m, ok := c.matrixOf(t)
	if !ok {
		return false
	}
	cells := len(c.r.parts[m.rows["capital column change"]].cells)
	columns := m.columns(cells)
	for n := 1; n < cells; n++ {
		if columns[n] == "" {
			continue
		}
		c.readMatrixColumn(t, m, n, columns[n])
	}
	c.decided = true
	change := m.rows["capital column change"]
	c.readAction(change, 0, len(c.r.parts[change].tokens))
	return true
}

// columns returns the class of the heading of each cell of a row. Nothing may head the labels.
func (m *capitalMatrix) columns(cells int) []class {
	columns := make([]class, cells)
	shift := cells - len(m.head.cells)
	if shift != 0 && shift != 1 {
		return columns
	}
	for n, h := range m.head.cells {
		isCapital := m.head.hasBetween(h.from, h.to, "capital capital row")
		isShares := m.head.hasBetween(h.from, h.to, "capital shares row")
		switch {
		case isCapital && !isShares:
			columns[n+shift] = "capital capital row"
		case isShares && !isCapital:
			columns[n+shift] = "capital shares row"
		}
	}
	return columns
}

// unitOf returns the unit in the heading of a column.
func (m *capitalMatrix) unitOf(column, cells int) value.Scale {
	n := column - (cells - len(m.head.cells))
	if n < 0 || n >= len(m.head.cells) {
		return value.Scale{}
	}
	h := m.head.cells[n]
	unit, _ := value.ReadScale(m.head.tokens[h.from:h.to], m.head.english)
	return unit
}

// matrixOf returns the rows of a table that are before, the change and after.
func (c *capitalChange) matrixOf(t *table) (m capitalMatrix, ok bool) {
	m.rows = map[class]int{}
	for _, row := range t.rows[:min(len(t.rows), mostCapitalRows)] {
		p := &c.r.parts[row]
		if p.aside || p.isLong() {
			return m, false
		}
		if len(p.figuresIn(cell{0, len(p.tokens)})) == 0 {
			if p.has("capital capital row") && m.head == nil {
				m.head = p
			}
			continue
		}
		label := p.matrixLabel()
		if _, twice := m.rows[label]; label == "" || twice {
			return m, false
		}
		m.rows[label] = row
	}
	return m, m.head != nil && len(m.rows) == 3
}

// matrixLabel returns the class of the label of a row. "Después de la ampliación" is after.
func (p *part) matrixLabel() class {
	for _, class := range []class{"capital column after", "capital column before", "capital column change"} {
		if p.hasBetween(0, p.cells[0].to, class) {
			return class
		}
	}
	return ""
}

// readMatrixColumn reads a column whose figures add up.
func (c *capitalChange) readMatrixColumn(t *table, m capitalMatrix, column int, of class) {
	var found []*value.Value
	for _, name := range []class{"capital column before", "capital column change", "capital column after"} {
		p := &c.r.parts[m.rows[name]]
		if column >= len(p.cells) {
			return
		}
		figures := p.figuresIn(p.cells[column])
		if len(figures) != 1 {
			return
		}
		found = append(found, figures[0])
	}
	if !addsUp(found[0], found[1], found[2]) {
		return
	}
	change, after := m.rows["capital column change"], m.rows["capital column after"]
	heading := m.unitOf(column, len(c.r.parts[change].cells))
	if heading == (value.Scale{}) {
		heading = c.r.unitOfTable(t)
	}
	if of == "capital shares row" {
		heading = value.Scale{Power: heading.Power, Unclear: heading.Currency == "" && heading.Power > 0}
		c.add(&c.shares, place{change, found[1].From, found[1].To}, readCount, heading)
		return
	}
	c.add(&c.amounts, place{change, found[1].From, found[1].To}, readMoney, heading)
	c.add(&c.after, place{after, found[2].From, found[2].To}, readMoney, heading)
}

// addsUp reports whether a figure is the sum of two, or their difference.
func addsUp(before, change, after *value.Value) bool {
	var numbers []*big.Rat
	for _, v := range []*value.Value{before, change, after} {
		text, ok := decimal(v, 0)
		n, read := new(big.Rat).SetString(text)
		if !ok || !read {
			return false
		}
		numbers = append(numbers, n)
	}
	sum := new(big.Rat).Add(numbers[0], numbers[1])
	difference := new(big.Rat).Sub(numbers[0], numbers[1])
	return slices.ContainsFunc([]*big.Rat{sum, difference}, func(n *big.Rat) bool { return n.Cmp(numbers[2]) == 0 })
}
