package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// read is a value as a field has it.
type read struct {
	text     string
	currency string
}

// candidate is a value that may be that of a field.
type candidate struct {
	read
	at  place
	cue place
	row bool // from a table or a form, not a sentence
}

// defaultReach is the number of tokens in which a value follows its cue.
const defaultReach = 25

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

// endsBetween reports whether a semicolon ends a clause in a range of tokens.
func (p *part) endsBetween(from, to int) bool {
	return slices.ContainsFunc(p.tokens[from:max(from, to)], func(t value.Token) bool { return t.Text == ";" })
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
