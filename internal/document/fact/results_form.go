package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// formUnit returns the unit that a form states once, in a field of its own: "Moneda y unidad: Miles de
// euros". It returns none if two fields differ.
func (f *resultFinder) formUnit() value.Scale {
	if f.unit != nil {
		return *f.unit
	}
	const longest = 12 // tokens
	f.unit = new(value.Scale)
	for i := range f.parts {
		p := &f.parts[i]
		isAmount := func(v value.Value) bool { return p.isNumber(&v) }
		isLine := p.cells == nil && !p.aside && len(p.tokens) <= longest
		if !isLine || slices.ContainsFunc(p.values, isAmount) || !p.has("results unit label") {
			continue
		}
		colon := slices.IndexFunc(p.tokens, func(t value.Token) bool { return t.Text == ":" })
		s, ok := value.ReadScale(p.tokens[colon+1:], p.english)
		if colon < 0 || !ok || s.Currency == "" || s.PerShare {
			continue
		}
		if *f.unit != (value.Scale{}) && *f.unit != s {
			*f.unit = value.Scale{}
			return *f.unit
		}
		*f.unit = s
	}
	return *f.unit
}

// tablesOfResults returns the tables of the document. A heading and the rows below it are one, even
// if a line with the unit stands between: "(miles de euros)".
func (f *resultFinder) tablesOfResults() (joined []table) {
	var divided []table
	for n := range f.tables {
		divided = append(divided, f.titled(f.tables[n])...)
	}
	for _, t := range divided {
		last := len(joined) - 1
		if last >= 0 && f.isHeadingAbove(&joined[last], &t) {
			joined[last] = table{rows: append(slices.Clone(joined[last].rows), t.rows...), before: t.rows[0] - 1}
			continue
		}
		joined = append(joined, t)
	}
	return joined
}

// isHeadingAbove reports whether a table is only the heading of another one, which begins behind a line
// with its unit.
func (f *resultFinder) isHeadingAbove(head, t *table) bool {
	const mostHeadings = 2 // rows
	n := len(head.rows)
	between := t.rows[0] - 1
	if n > mostHeadings || between < 1 || head.rows[n-1] != between-1 ||
		f.parts[between].page != f.parts[between-1].page {
		return false
	}
	if f.parts[t.rows[0]].page != f.parts[between].page {
		return false
	}
	line := &f.parts[between]
	if _, ok := line.scaleInBrackets(); !ok || strings.Contains(line.text, "\n") || line.mark(0) != "(" {
		return false
	}
	heading := &f.parts[head.rows[n-1]]
	_, isMeasure := heading.rowMeasure()
	return !isMeasure && len(f.columnsOf(heading)) > 0
}
