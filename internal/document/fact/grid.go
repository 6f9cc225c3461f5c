package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// grid reads tables with many rows of the same form, such as trades. Text recognition may
// join the cells of a heading, or write all rows into one line. So the columns are the
// cues of the heading in their order, and a record begins at each value of one kind, its
// anchor: the date of a trade, the code of a security.
type grid struct {
	columns []class // that a heading may have
	anchor  func(v *value.Value) bool
	numbers []class // the columns with figures
	needed  []class // the columns without which a row is no heading
	// counted are the columns of names, with the columns that count them: "N.º de bonos"
	counted map[class]class
	// complete reports whether the columns are those of a heading; nil if needed says it all
	complete func(columns []class) bool
	// oneColumn returns the column of a cell with some cues, if all of them name only one; it may be nil
	oneColumn func(p *part, c cell, cues []cue) (class, bool)
}

// record is a row of a grid.
type record struct {
	part   int
	from   int // tokens
	to     int
	anchor *value.Value // nil for a row of totals
	fields map[class]*value.Value
	texts  map[class]cell // the cells of columns without figures
}

// heading is the heading of a grid.
type heading struct {
	part    int
	columns []class // in their order
	cells   []class // by cell; "" for a column of no class
	scales  map[class]value.Scale
}

// mostRecords is the most rows that are read of a document.
const mostRecords = 3000

// records returns the rows of a table, and its rows of totals, with the last heading.
func (r *reading) records(g *grid, t *table) (rows, totals []record, head heading) {
	if t.before >= 0 {
		if h, ok := r.headingIn(g, t.before, 0, len(r.parts[t.before].tokens)); ok {
			head = h
		}
	}
	for n, row := range t.rows {
		p := &r.parts[row]
		anchors := anchorsOf(g, p)
		if len(p.cells) != len(head.cells) && len(p.figuresIn(cell{0, len(p.tokens)})) == 0 {
			anchors = nil // a signature: "Madrid, 5 de mayo de 2026"
		}
		if len(anchors) == 1 && p.hasBetween(0, anchors[0].From, "total") || len(anchors) <= 1 && p.has("subtotal") {
			continue // the total of a day
		}
		end := len(p.tokens)
		if len(anchors) > 0 {
			end = anchors[0].From
		}
		if h, ok := r.headingIn(g, row, 0, end); ok {
			head = h
		} else if h, ok := r.headingAbove(g, t, n, h); ok && len(anchors) == 0 {
			head = h
		}
		if head.columns == nil || len(rows) > mostRecords {
			continue
		}
		total := len(p.tokens)
		for _, c := range p.all("total") {
			if len(anchors) == 0 || c.from > anchors[len(anchors)-1].To {
				total = c.from
				from, to := c.to, len(p.tokens)
				if len(anchors) == 0 && len(p.figuresIn(cell{from, to})) == 0 {
					from, to = 0, c.from // the columns of figures are the first
				}
				totals = append(totals, r.record(g, head, row, nil, from, to))
				break
			}
		}
		for n, v := range anchors {
			to := total
			if n+1 < len(anchors) {
				to = anchors[n+1].From
			}
			rows = append(rows, r.record(g, head, row, v, v.To, to))
		}
	}
	return rows, totals, head
}

func anchorsOf(g *grid, p *part) (found []*value.Value) {
	for i := range p.values {
		if v := &p.values[i]; g.anchor(v) {
			found = append(found, v)
		}
	}
	return found
}

// headingIn returns the heading in a range of tokens, if it has the columns that are needed.
func (r *reading) headingIn(g *grid, i, from, to int) (heading, bool) {
	p := &r.parts[i]
	h := heading{part: i, scales: map[class]value.Scale{}}
	h.cells = make([]class, len(p.cells))
	var last cue
	cues := g.joinCues(p, longestCues(p, from, to, g.columns))
	for n, c := range cues {
		if number := g.counted[c.class]; number != "" && p.isCounted(c.from) {
			c.class = number
			cues[n].class = number
		}
		sameColumn := c.class == last.class && p.sameHeading(last.to, c.from)
		inBrackets := last.class != "" && bracketOpen(p, last.to, c.from) // Volumen (acciones)
		if inBrackets || p.isPastColumn(c.from) {
			continue
		}
		last = c
		h.readScale(p, cues, n, to)
		if sameColumn {
			continue // in two languages
		}
		h.columns = append(h.columns, c.class)
		if len(p.cells) > 0 {
			if k := p.cellOf(c.from); h.cells[k] == "" {
				h.cells[k] = c.class
			} else {
				h.cells[k] = "joined"
			}
		}
	}
	for _, c := range g.needed {
		if !slices.Contains(h.columns, c) {
			return h, false
		}
	}
	return h, g.complete == nil || g.complete(h.columns)
}

// joinCues joins the cues of a cell that name only one column: "Interés bruto total".
func (g *grid) joinCues(p *part, cues []cue) (joined []cue) {
	const fewest = 3 // cells; text recognition joins those of a heading with fewer
	if g.oneColumn == nil || len(p.cells) < fewest {
		return cues
	}
	for len(cues) > 0 {
		k := p.cellOf(cues[0].from)
		n := 1
		for n < len(cues) && p.cellOf(cues[n].from) == k {
			n++
		}
		if column, ok := g.oneColumn(p, p.cells[k], cues[:n]); ok {
			joined = append(joined, cue{class: column, from: cues[0].from, to: cues[n-1].to})
		} else {
			joined = append(joined, cues[:n]...)
		}
		cues = cues[n:]
	}
	return joined
}

// isPastColumn reports whether the cell of a heading is that of an earlier period: "Intereses
// periodo anterior". A long cell is several headings that text recognition joined.
func (p *part) isPastColumn(token int) bool {
	const longest = 6
	if len(p.cells) < 2 {
		return false
	}
	c := p.cells[p.cellOf(token)]
	return c.to-c.from <= longest && p.hasBetween(c.from, c.to, "past") && !p.hasBetween(c.from, c.to, "bond number")
}

// headingAbove completes a heading in which the name of the column of the anchors could not be
// read, "Fecba" for "Fecha": all other columns are known, and the next row has its anchor
// there.
func (r *reading) headingAbove(g *grid, t *table, n int, h heading) (heading, bool) {
	if n+1 >= len(t.rows) || len(h.cells) < 2 || slices.Contains(h.columns, g.needed[0]) {
		return h, false
	}
	next := &r.parts[t.rows[n+1]]
	anchors := anchorsOf(g, next)
	if len(anchors) == 1 && len(next.cells) == len(h.cells)+1 && next.cellOf(anchors[0].From) == 0 {
		h.cells = append([]class{""}, h.cells...) // the first cell of the heading is empty
	}
	if len(anchors) != 1 || len(next.cells) != len(h.cells) {
		return h, false
	}
	unknown := next.cellOf(anchors[0].From)
	for k, c := range h.cells {
		if c == "joined" || (c == "") != (k == unknown) {
			return h, false
		}
	}
	h.cells = slices.Clone(h.cells)
	h.cells[unknown] = g.needed[0]
	h.columns = h.cells
	for _, c := range g.needed {
		if !slices.Contains(h.columns, c) {
			return h, false
		}
	}
	return h, g.complete == nil || g.complete(h.columns)
}

// isCounted reports whether the words before a token count what follows: "N.º de bonos", "No.
// of notes".
func (p *part) isCounted(at int) bool {
	if w := p.word(at - 1); w == "de" || w == "of" || w == "total" {
		at--
	}
	for at > 0 && p.word(at-1) == "" { // the marks of an abbreviation
		at--
	}
	switch p.word(at - 1) {
	case "n", "no", "num", "numero", "number", "nombre", "nr":
		return true
	}
	return false
}

// sameHeading reports whether a range of tokens between two names of a column joins them, in
// two languages: "N.º acciones / No. of shares".
func (p *part) sameHeading(from, to int) bool {
	const longest = 6
	if to-from > longest || len(p.cells) > 0 && !p.inOneCell(from-1, to+1) {
		return false
	}
	slash := false
	for k := from; k < to; k++ {
		if p.mark(k) == "/" {
			slash = true
		} else if w := p.word(k); w != "" && w != "de" && w != "of" && w != "no" && w != "n" && w != "d" {
			return false
		}
	}
	return slash
}

// readScale reads the unit behind a cue of a heading, up to the next cue.
func (h *heading) readScale(p *part, cues []cue, n, to int) {
	c := cues[n]
	end := min(c.to+5, to)
	if n+1 < len(cues) {
		end = min(end, cues[n+1].from)
	}
	s, ok := value.ReadScale(p.tokens[c.from:end], p.english)
	if ok && s.Percent && len(p.cells) > 0 {
		end = min(end, p.cells[p.cellOf(c.from)].to) // the next column may be "% amortizado"
		s, ok = value.ReadScale(p.tokens[c.from:end], p.english)
	}
	if ok {
		h.scales[c.class] = s
	}
}

// longestCues returns the cues of some classes that do not overlap: of those that begin at
// the same word, the longest.
func longestCues(p *part, from, to int, classes []class) (found []cue) {
	for _, c := range p.cues {
		if c.from < from || c.to > to || !slices.Contains(classes, c.class) || p.crossesCells(c) {
			continue
		}
		n := len(found) - 1
		switch {
		case n < 0 || c.from >= found[n].to:
			found = append(found, c)
		case c.from == found[n].from && c.to > found[n].to:
			found[n] = c
		}
	}
	return found
}

// crossesCells reports whether the words of a cue are in two cells: the headings "Principal"
// and "Outstanding" are not one.
func (p *part) crossesCells(c cue) bool {
	return len(p.cells) > 0 && !p.inOneCell(c.from, c.to)
}

// inOneCell reports whether no gap between cells is in a range of tokens.
func (p *part) inOneCell(from, to int) bool {
	for k := from + 1; k < to; k++ {
		if gap := p.text[p.tokens[k-1].End():p.tokens[k].At]; strings.Contains(gap, "\t") ||
			strings.Contains(gap, "  ") {
			return false
		}
	}
	return true
}

// bracketOpen reports whether a bracket opens in a range of tokens and does not close.
func bracketOpen(p *part, from, to int) bool {
	open := false
	for k := from; k < to; k++ {
		switch p.mark(k) {
		case "(", "[":
			open = true
		case ")", "]":
			open = false
		}
	}
	return open
}

// onlyMarks reports whether no words are in a range of tokens.
func onlyMarks(p *part, from, to int) bool {
	for k := from; k < to; k++ {
		if p.tokens[k].Folded != "" {
			return false
		}
	}
	return true
}

// record assigns the figures in a range of tokens to the columns of a heading: by cells if
// a row has as many as the heading, else by their order if there are as many figures as
// columns with figures.
func (r *reading) record(g *grid, head heading, row int, anchor *value.Value, from, to int) record {
	p := &r.parts[row]
	rec := record{
		part:   row,
		from:   from,
		to:     to,
		anchor: anchor,
		fields: map[class]*value.Value{},
		texts:  map[class]cell{},
	}
	if anchor != nil && head.part != row && len(p.cells) == len(head.cells) &&
		!slices.Contains(head.cells, "joined") {
		for k, c := range p.cells {
			column := head.cells[k]
			if figures := p.figuresIn(c); len(figures) == 1 && slices.Contains(g.numbers, column) {
				rec.fields[column] = figures[0]
			} else if _, seen := rec.texts[column]; !seen {
				rec.texts[column] = c
			}
		}
		return rec
	}
	var figures []*value.Value
	for _, v := range p.valuesIn(from, to) {
		if v.Kind == value.Figure {
			figures = append(figures, v)
		}
	}
	var columns []class
	for _, c := range head.columns {
		if slices.Contains(g.numbers, c) {
			columns = append(columns, c)
		}
	}
	if len(figures) == len(columns) {
		for n, c := range columns {
			rec.fields[c] = figures[n]
		}
	}
	return rec
}
