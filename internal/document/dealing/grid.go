package dealing

import (
	"slices"
	"strings"

	"pregon/internal/disclosure"
)

// reading is the state of reading the grid.
type reading struct {
	person map[string]bool // words that name a person

	trades []disclosure.Trade
	totals []Total

	page      int
	inHead    bool // above the first row of a page, or below a label
	head      head
	seenHeads bool
	uncertain bool // the head above the next row is not certain

	rows    []row      // since the last total
	parts   [][]string // cells of the lines below the last row, which continue it
	above   bool       // the head above the last row was not certain
	wrapped bool       // a row since the last total has several lines
	open    *line      // announces a total whose numbers follow

	first, last int   // pages of the first and the last row
	unproved    *line // a row of an operation whose volume no total confirms
}

// readGrid reads the lines of the grid.
func (g *reading) readGrid(lines []line) error {
	for i := range lines {
		if err := g.read(&lines[i]); err != nil {
			return err
		}
	}
	if g.open != nil {
		return g.open.unreadable("a total is without its numbers")
	}
	if err := g.endOperations(nil); err != nil {
		return err
	}
	if len(g.trades) == 0 {
		return &Unreadable{Reason: "it does not have any rows"}
	}
	// The extraction removes lines that repeat at the same place of several pages, as running
	// heads do. It might remove a row. So the totals must prove that none is missing.
	if g.first != g.last && g.unproved != nil {
		return g.unproved.unreadable("its rows are on several pages, and no total proves that none is missing")
	}
	return nil
}

// read reads one line.
func (g *reading) read(l *line) error {
	if l.page != g.page {
		if err := g.turnPage(l); err != nil {
			return err
		}
	}
	words := strings.Fields(l.text)
	switch {
	case rowLike(l):
		return g.readRow(l)
	case isTotal(l):
		return g.readTotal(l)
	case hasLabel(*l):
		g.inHead = true
		g.head.lines = append(g.head.lines, *l)
		return g.endRow()
	case g.open != nil && looksNumeric(words[0]):
		return g.readNumbers(l, words)
	case g.inHead:
		g.head.lines = append(g.head.lines, *l)
		return nil
	case g.open != nil || len(g.rows) == 0:
		return l.unreadable("there is a line in the grid that is neither a row nor a total")
	}
	g.parts = append(g.parts, l.cells)
	g.wrapped = true
	return nil
}

// turnPage ends what cannot continue on another page: a row and the heads of the columns.
func (g *reading) turnPage(l *line) error {
	if err := g.endRow(); err != nil {
		return err
	}
	if len(g.rows) > 0 {
		g.rows[len(g.rows)-1].cut = true
	}
	if slices.ContainsFunc(g.head.lines, hasLabel) {
		if err := g.endHead(l); err != nil {
			return err
		}
	}
	g.page = l.page
	g.inHead = true
	return nil
}

// endHead ends the heads of the columns, which must be above the first row.
func (g *reading) endHead(l *line) error {
	if !g.inHead {
		return nil
	}
	certain, err := g.head.check()
	if err != nil {
		return err
	}
	g.seenHeads = g.seenHeads || slices.ContainsFunc(g.head.lines, hasLabel)
	if !g.seenHeads {
		return l.unreadable("the heads of the columns, 4.a) to 4.h), are missing")
	}
	g.inHead = false
	g.head.lines = g.head.lines[:0]
	g.uncertain = !certain
	return nil
}

func (g *reading) readRow(l *line) error {
	if err := g.endRow(); err != nil {
		return err
	}
	if err := g.endHead(l); err != nil {
		return err
	}
	if g.open != nil {
		return g.open.unreadable("a total is without its numbers")
	}
	if len(g.trades)+len(g.rows) >= disclosure.MaxTrades {
		return l.unreadable("it has more rows than are read")
	}
	r, err := parseRow(l)
	if err != nil {
		return err
	}
	if g.uncertain && !r.complete {
		return l.unreadable("a cell of the row may begin in the heads above it")
	}
	g.above = g.uncertain
	g.uncertain = false
	g.rows = append(g.rows, r)
	if g.first == 0 {
		g.first = l.page
	}
	g.last = l.page
	return nil
}

// endRow joins the lines of the last row. They continue the instrument or the nature: the
// other cells have codes, dates and numbers. Only if it is certain which of them, the row is
// read.
func (g *reading) endRow() error {
	if len(g.parts) == 0 {
		return nil
	}
	parts := g.parts
	g.parts = nil
	r := &g.rows[len(g.rows)-1]
	if g.above || r.complete || natures[r.nature] {
		return r.at.unreadable("it is not certain to which row a line of the grid belongs")
	}
	fixed := instruments[r.instrument]
	for _, cells := range parts {
		for _, cell := range cells {
			if looksBroken(cell) {
				return r.at.unreadable("a number of a row is broken into two lines")
			}
		}
		switch {
		case fixed && len(cells) == 1:
			r.nature += " " + cells[0]
		case !fixed && len(cells) == 2:
			r.instrument += " " + cells[0]
			r.nature += " " + cells[1]
		default:
			return r.at.unreadable("it is not certain which cell of a row a line of the grid continues")
		}
		if len(r.instrument) > maxValue || len(r.nature) > maxValue {
			return r.at.unreadable("a cell is longer than the form allows")
		}
	}
	return nil
}

// readTotal reads the line that announces a total, with its numbers if it has them.
func (g *reading) readTotal(l *line) error {
	if err := g.endRow(); err != nil {
		return err
	}
	if err := g.endHead(l); err != nil {
		return err
	}
	if len(g.rows) == 0 {
		return l.unreadable("there is a total without rows")
	}
	words, err := numbersBehind(l)
	if err != nil {
		return err
	}
	g.open = l // the head may be on two lines, one for each language
	if len(words) == 0 {
		return nil
	}
	return g.readNumbers(l, words)
}

// readNumbers reads the numbers of a total, which end the operation.
func (g *reading) readNumbers(l *line, words []string) error {
	if err := g.endHead(l); err != nil {
		return err
	}
	d, err := parseTotal(l, words)
	if err != nil {
		return err
	}
	g.open = nil
	g.last = l.page
	return g.endOperations(&d)
}

// endOperations ends the operations of the rows since the last total. The total is that of
// the last operation; the others declare none.
func (g *reading) endOperations(d *declared) error {
	if err := g.endRow(); err != nil {
		return err
	}
	rows := g.rows
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].key == rows[0].key {
			n++
		}
		if n < len(rows) && (g.wrapped || !rows[0].complete || !rows[n].complete) {
			return rows[n].at.unreadable("an operation ends without a total, and its cells are not those of the form")
		}
		if !slices.ContainsFunc(rows[:n], row.isWhole) {
			return rows[0].at.unreadable("a cell of a row may continue below the end of the page")
		}
		total := Total{From: len(g.trades), To: len(g.trades) + n}
		if n == len(rows) && d != nil {
			total.Volume = d.volume
			total.Price = d.price
			total.Agrees = d.agrees(rows)
		}
		if total.Volume == "" || !d.sumAgrees(rows[:n]) {
			g.unproved = rows[0].at
		}
		g.totals = append(g.totals, total)
		for i := range rows[:n] {
			t, err := g.trade(&rows[i])
			if err != nil {
				return err
			}
			g.trades = append(g.trades, t)
		}
		rows = rows[n:]
	}
	g.rows = g.rows[:0]
	g.wrapped = false
	return nil
}
