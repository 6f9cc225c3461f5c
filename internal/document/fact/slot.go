package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// slot describes how a field is found: by a cue, and a value near it.
type slot struct {
	cues []class // that announce the value
	// stops are cues of other fields: a value behind one of them belongs to that field
	stops []class
	// read returns the value as a text, and its currency if it has one
	read func(p *part, v *value.Value, heading value.Scale) (found read, ok bool)
	// behind means that the value may also stand before the cue: "el 5 de mayo, en
	// primera convocatoria"
	back  bool
	reach int // the most tokens between the cue and the value; 0 is defaultReach
}

// defaultReach is the number of tokens in which a value follows its cue.
const defaultReach = 25

// read is a value as a field has it.
type read struct {
	text     string
	currency string
}

// candidate is a value that may be that of a field.
type candidate struct {
	read
	at    place
	cue   place
	row   bool // from a table or a form, not a sentence
	third bool // the value of a column: the cue is its heading
}

// readDate reads a date.
func readDate(_ *part, v *value.Value, _ value.Scale) (read, bool) {
	text, ok := date(v)
	return read{text: text}, ok
}

// readMoney reads an amount of money that is not a price for each share.
func readMoney(_ *part, v *value.Value, heading value.Scale) (read, bool) {
	amount, currency, ok := money(v, heading)
	if isRate(v) || v.Unit == "" && heading.PerShare {
		return read{}, false
	}
	return read{amount, currency}, ok
}

// readPrice reads an amount of money for each share.
func readPrice(_ *part, v *value.Value, heading value.Scale) (read, bool) {
	amount, currency, ok := money(v, heading)
	return read{amount, currency}, ok && !v.Scaled() && !v.Negative && amount != "0"
}

// readCount reads a number of shares.
func readCount(_ *part, v *value.Value, heading value.Scale) (read, bool) {
	text, ok := count(v, heading)
	return read{text: text}, ok
}

func isRate(v *value.Value) bool {
	return len(v.Unit) > 4 && v.Unit[3] == '/'
}

// candidates returns the values that the cues of a slot announce, in sentences and in
// tables, without those in asides.
func (r *reading) candidates(s slot) (found []candidate) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || !p.has(s.cues...) {
			continue
		}
		for _, c := range p.all(s.cues...) {
			if got, ok := r.near(s, i, c, 0, len(p.tokens)); ok {
				found = append(found, got)
				continue
			}
			if got, ok := r.below(s, i, c); ok {
				found = append(found, got)
			}
		}
	}
	for n := range r.tables {
		found = append(found, r.inTable(s, &r.tables[n])...)
	}
	return found
}

// near returns the value next to a cue within a range of tokens.
func (r *reading) near(s slot, i int, c cue, from, to int) (candidate, bool) {
	p := &r.parts[i]
	reach := s.reach
	if reach == 0 {
		reach = defaultReach
	}
	heading, _ := value.ReadScale(p.tokens[c.from:min(c.to+6, to)], p.english)
	for k := range p.values {
		v := &p.values[k]
		if v.From < c.to || v.To > to {
			continue
		}
		if v.From-c.to > reach || p.hasBetween(c.to, v.From, s.stops...) || p.endsBetween(c.to, v.From) {
			break
		}
		if got, ok := s.read(p, v, heading); ok {
			return r.candidate(got, i, v, c), true
		}
	}
	if !s.back {
		return candidate{}, false
	}
	for k := len(p.values) - 1; k >= 0; k-- {
		v := &p.values[k]
		if v.To > c.from || v.From < from {
			continue
		}
		if c.from-v.To > reach || p.hasBetween(v.To, c.from, s.stops...) || p.endsBetween(v.To, c.from) {
			break
		}
		if got, ok := s.read(p, v, heading); ok {
			return r.candidate(got, i, v, c), true
		}
	}
	return candidate{}, false
}

// endsBetween reports whether a semicolon ends a clause in a range of tokens.
func (p *part) endsBetween(from, to int) bool {
	return slices.ContainsFunc(p.tokens[from:max(from, to)], func(t value.Token) bool { return t.Text == ";" })
}

// below returns the value of the next line, if a line has only the cue.
func (r *reading) below(s slot, i int, c cue) (candidate, bool) {
	p := &r.parts[i]
	rest := len(p.tokens) - (c.to - c.from)
	if rest > 3 || i+1 >= len(r.parts) || r.parts[i+1].page != p.page || r.parts[i+1].cells != nil {
		return candidate{}, false
	}
	next := &r.parts[i+1]
	if len(next.values) != 1 || len(next.tokens) > 8 {
		return candidate{}, false
	}
	heading, _ := value.ReadScale(p.tokens, p.english)
	got, ok := s.read(next, &next.values[0], heading)
	if !ok {
		return candidate{}, false
	}
	found := r.candidate(got, i+1, &next.values[0], c)
	found.cue.part = i
	return found, true
}

func (r *reading) candidate(got read, i int, v *value.Value, c cue) candidate {
	return candidate{
		read: got,
		at:   r.placeOf(i, v),
		cue:  place{i, c.from, c.to},
	}
}

// placeOf returns the words of a value, with the currency before it.
func (r *reading) placeOf(i int, v *value.Value) place {
	p := &r.parts[i]
	from := v.From
	if before, _ := value.ReadScale(p.tokens[max(0, from-1):from], p.english); v.Kind == value.Figure &&
		before.Currency != "" {
		from--
	}
	return place{i, from, v.To}
}

// inTable returns the values that the cues of a slot announce in a table: behind a cue
// in the same cell, in the next cells of its row, or below it.
func (r *reading) inTable(s slot, t *table) (found []candidate) {
	for n, row := range t.rows {
		p := &r.parts[row]
		if p.aside {
			continue
		}
		for _, c := range p.all(s.cues...) {
			k := p.cellOf(c.from)
			if got, ok := r.near(s, row, c, p.cells[k].from, p.cells[k].to); ok {
				got.row = true
				found = append(found, got)
				continue
			}
			if p.hasBetween(p.cells[k].from, p.cells[k].to, s.stops...) {
				continue
			}
			if got := r.beside(s, t, row, k, c); len(got) > 0 {
				found = append(found, got...)
				continue
			}
			found = append(found, r.column(s, t, n, k, c)...)
		}
	}
	return found
}

// beside returns the values in the cells of a row behind a cell.
func (r *reading) beside(s slot, t *table, row, k int, c cue) (found []candidate) {
	p := &r.parts[row]
	for n := k + 1; n < len(p.cells); n++ {
		heading := r.headingOf(t, row, n, p.cells[k])
		for _, v := range p.valuesIn(p.cells[n].from, p.cells[n].to) {
			if got, ok := s.read(p, v, heading); ok {
				cand := r.candidate(got, row, v, c)
				cand.row = true
				found = append(found, cand)
				break
			}
		}
	}
	return found
}

// column returns the values below a cell: in the same column of the rows with as many
// cells.
func (r *reading) column(s slot, t *table, n, k int, c cue) (found []candidate) {
	head := &r.parts[t.rows[n]]
	heading := r.headingOf(t, t.rows[n], k, head.cells[k])
	for _, row := range t.rows[n+1:] {
		p := &r.parts[row]
		if len(p.cells) != len(head.cells) {
			continue
		}
		for _, v := range p.valuesIn(p.cells[k].from, p.cells[k].to) {
			if got, ok := s.read(p, v, heading); ok {
				cand := r.candidate(got, row, v, c)
				cand.cue.part = t.rows[n]
				cand.row = true
				cand.third = true
				found = append(found, cand)
				break
			}
		}
	}
	return found
}

// headingOf returns the unit of a figure in a table: that of its label, else that of the
// heading of its column, else that of the table.
func (r *reading) headingOf(t *table, row, column int, label cell) value.Scale {
	p := &r.parts[row]
	if s, ok := value.ReadScale(p.tokens[label.from:label.to], p.english); ok {
		return s
	}
	for _, k := range t.rows {
		if k >= row {
			break
		}
		head := &r.parts[k]
		if column >= len(head.cells) || len(head.cells) != len(p.cells) {
			continue
		}
		c := head.cells[column]
		if s, ok := value.ReadScale(head.tokens[c.from:c.to], head.english); ok && len(head.figuresIn(c)) == 0 {
			return s
		}
	}
	return r.unitOfTable(t)
}

// figuresIn returns the figures in a cell; a year is none.
func (p *part) figuresIn(c cell) (found []*value.Value) {
	for _, v := range p.valuesIn(c.from, c.to) {
		if v.Kind == value.Figure {
			found = append(found, v)
		}
	}
	return found
}

// unitOfTable returns the unit that a table states once: in its first row, in a row
// "Unidad", or in the line before it.
func (r *reading) unitOfTable(t *table) value.Scale {
	first := &r.parts[t.rows[0]]
	if s, ok := value.ReadScale(first.tokens[:first.cells[0].to], first.english); ok {
		return s
	}
	for _, row := range t.rows {
		p := &r.parts[row]
		if p.has("unit") {
			if s, ok := value.ReadScale(p.tokens, p.english); ok {
				return s
			}
		}
	}
	if t.before >= 0 {
		p := &r.parts[t.before]
		for _, c := range p.all("unit") {
			if s, ok := value.ReadScale(p.tokens[c.from:min(c.to+8, len(p.tokens))], p.english); ok {
				return s
			}
		}
		if s, ok := value.ReadScale(p.tokens, p.english); ok && len(p.values) == 0 {
			return s
		}
	}
	return value.Scale{}
}

// agreed returns the value that all candidates have. It reports none if there is no
// candidate, or if two differ.
func agreed(all []candidate) (candidate, bool) {
	if len(all) == 0 {
		return candidate{}, false
	}
	for _, c := range all[1:] {
		if c.read != all[0].read {
			return candidate{}, false
		}
	}
	return all[0], true
}
