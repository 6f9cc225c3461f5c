package fact

import (
	"math/big"
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// bondRow returns a row, and adds its amounts to the sums.
func (r *reading) bondRow(
	rec record, head heading, columns bondColumns, sums map[string]*big.Rat,
) (map[string]string, bool) {
	row := map[string]string{"isin": rec.anchor.Text}
	if series := r.seriesOf(rec, head); series != "" {
		row["series"] = series
	}
	for name, column := range map[string]class{"interest": columns.interest, "redemption": columns.redemption} {
		text, ok := r.amountOf(rec, head, column)
		if !ok {
			return nil, false
		}
		amount, _ := new(big.Rat).SetString(text)
		sums[name].Add(sums[name], amount)
		row[name] = text
	}
	return row, true
}

// longestSeries is the most tokens of the name of a series.
const longestSeries = 5

// seriesOf returns the name of the series of a record: the cell of its column, or the words
// before the code of the security.
func (r *reading) seriesOf(rec record, head heading) string {
	p := &r.parts[rec.part]
	if c, ok := rec.texts["bond series"]; ok {
		return p.seriesName(c.from, c.to)
	}
	if c := p.cellAround(rec.anchor.From); p.hasBetween(c.from, c.from+1, "bond series word") {
		return p.seriesName(c.from, rec.anchor.From) // "Serie A (ES0312298005)"
	}
	named := slices.Index(head.columns, "bond series")
	if named < 0 || named > slices.Index(head.columns, "bond isin") {
		return ""
	}
	from := 0
	for i := range p.values {
		if v := &p.values[i]; v.To <= rec.anchor.From && v.Kind == value.Figure {
			from = max(from, v.To)
		}
	}
	return p.seriesName(from, rec.anchor.From)
}

// cellAround returns the cell of a token.
func (p *part) cellAround(token int) cell {
	if len(p.cells) == 0 {
		return cell{0, len(p.tokens)}
	}
	return p.cells[p.cellOf(token)]
}

// seriesName returns the words in a range of tokens without those that say that they name a
// series: A1 for "Serie A1".
func (p *part) seriesName(from, to int) string {
	for again := true; again; {
		again = false
		for _, c := range p.all("bond series word") {
			if c.from == from && c.to < to {
				from = c.to
				again = true
			}
		}
	}
	for from < to && p.word(from) == "" {
		from++
	}
	for from < to && p.word(to-1) == "" && p.mark(to-1) != ")" {
		to--
	}
	if w := p.word(to - 1); to-from > 1 && (w == "notes" || w == "note" || w == "bonds" || w == "bonos") {
		to-- // "Class A Notes"
	}
	if from >= to || to-from > longestSeries || p.isAmountText(from, to) {
		return ""
	}
	return p.text[p.tokens[from].At:p.tokens[to-1].End()]
}

// isAmountText reports whether the only word in a range of tokens is a number that names no
// series: 4.500, 0,00.
func (p *part) isAmountText(from, to int) bool {
	return to-from == 1 && p.tokens[from].IsNumber() &&
		(len(p.mark(from)) > 2 || strings.ContainsAny(p.mark(from), ".,"))
}

// amountOf returns the amount of a record in a column.
func (r *reading) amountOf(rec record, head heading, column class) (string, bool) {
	v := rec.fields[column]
	if c, ok := rec.texts[column]; ok && v == nil && r.parts[rec.part].isDash(c) {
		return "0", true
	}
	scale := head.scales[column]
	if v == nil || v.Negative || scale.Unclear || scale.Percent || v.Unit != "" && value.CurrencyCode(v.Unit) == "" {
		return "", false
	}
	power := scale.Power
	if v.Scaled() {
		power = 0
	}
	return decimal(v, power)
}

// isDash reports whether a cell has only a dash, which means nothing in a table of amounts.
func (p *part) isDash(c cell) bool {
	if c.to-c.from != 1 {
		return false
	}
	switch p.mark(c.from) {
	case "-", "–", "—":
		return true
	}
	return false
}

// statedInterest returns the totals of the interest that sentences state.
func (r *reading) statedInterest() (found []string) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.cells != nil || p.has("past") {
			continue
		}
		for _, c := range p.all("bond total interest") {
			for _, v := range p.valuesIn(c.to, min(c.to+8, len(p.tokens))) {
				if amount, ok := readMoney(p, v, value.Scale{}); ok {
					found = append(found, amount.text)
					break
				}
			}
		}
	}
	return found
}

// hasOnce reports whether a heading has each of some columns once.
func hasOnce(columns []class, wanted ...class) bool {
	for _, w := range wanted {
		n := 0
		for _, c := range columns {
			if c == w {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
}

// repeated reports whether two rows have the same value of a field.
func repeated(rows []map[string]string, name string) bool {
	seen := map[string]bool{}
	for _, row := range rows {
		if text := row[name]; text != "" {
			if seen[text] {
				return true
			}
			seen[text] = true
		}
	}
	return false
}
