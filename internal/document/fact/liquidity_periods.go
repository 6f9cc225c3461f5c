package fact

import "pregon/internal/document/value"

// Some documents have a table with a row for each period since the contract began, and
// columns for purchases, sales and balances. Only the row of the document's period counts.

// isPeriodRow reports whether a row has a period and figures of it in several columns.
func (p *part) isPeriodRow() bool {
	return len(p.cells) >= 4 && len(p.figuresIn(cell{p.cells[0].to, len(p.tokens)})) >= 3
}

// addLiquidityPeriods adds the values of the row with the period of the document. It reports
// whether a table has a row for each period.
func (r *reading) addLiquidityPeriods(found *liquidity, t *table) (isOne bool) {
	var fields []string // of the columns
	head := 0
	for _, row := range t.formRows() {
		p := &r.parts[row]
		if heads, ok := periodColumns(p); ok {
			fields = heads
			head = row
			continue
		}
		if len(p.cells) != len(fields) || !p.isPeriodRow() || p.aside || p.isTooLong() {
			continue
		}
		of, ok := r.periodOfRow(row)
		if !ok {
			continue
		}
		isOne = true
		if len(found.periods) > 0 && of.from == found.periods[0].from && of.to == found.periods[0].to {
			r.addPeriodRow(found, row, head, fields)
		}
	}
	return isOne
}

// periodOfRow returns the period in the first cell of a row, which has two dates.
func (r *reading) periodOfRow(row int) (period, bool) {
	p := &r.parts[row]
	var days []*value.Value
	for _, v := range p.valuesIn(p.cells[0].from, p.cells[0].to) {
		if v.Kind == value.Date {
			days = append(days, v)
		}
	}
	if len(days) != 2 {
		return period{}, false
	}
	first, last := days[0], days[1]
	return r.period(place{row, first.From, first.To}, first, place{row, last.From, last.To}, last)
}

// periodColumns returns the fields of the columns of a heading, "" for those of none.
func periodColumns(p *part) (fields []string, ok bool) {
	if len(p.cells) < 4 || p.hasNumbers() || !p.has("liquidity bought") || !p.has("liquidity sold") {
		return nil, false
	}
	seen := map[string]bool{}
	for _, c := range p.cells {
		name := p.periodColumn(c)
		if name != "" && seen[name] {
			return nil, false
		}
		seen[name] = true
		fields = append(fields, name)
	}
	return fields, seen["bought"] && seen["sold"]
}

// periodColumn returns the field of a column, if its heading names one.
func (p *part) periodColumn(c cell) string {
	has := func(classes ...class) bool { return p.hasBetween(c.from, c.to, classes...) }
	cash := has("liquidity cash")
	shares := has("liquidity shares") && !cash
	switch {
	case has("liquidity price", "liquidity operations", "liquidity opening"):
		return ""
	case has("liquidity closing", "liquidity balance"):
		if cash != shares {
			return map[bool]string{true: "balance_cash", false: "balance_shares"}[cash]
		}
	case shares && has("liquidity bought") != has("liquidity sold"):
		return map[bool]string{true: "bought", false: "sold"}[has("liquidity bought")]
	}
	return ""
}

// addPeriodRow adds the values of a row.
func (r *reading) addPeriodRow(found *liquidity, row, head int, fields []string) {
	p := &r.parts[row]
	for k, name := range fields {
		values := p.figuresIn(p.cells[k])
		if name == "" || len(values) != 1 {
			continue
		}
		if name != "balance_cash" {
			if c, ok := countPositive(p, values[0]); ok {
				found.add(name, r.candidate(c, row, values[0], cue{}))
			}
			continue
		}
		heading := &r.parts[head]
		unit, ok := value.ReadScale(heading.tokens[heading.cells[k].from:heading.cells[k].to], heading.english)
		if !ok {
			if found.unit == nil {
				only := r.onlyCurrency()
				found.unit = &only
			}
			unit = *found.unit
		}
		if c, ok := readPositive(p, values[0], unit); ok {
			found.add(name, r.candidate(c, row, values[0], cue{}))
		}
	}
}

// onlyCurrency returns the currency of all amounts of the sentences, if there is only one and
// none is in thousands.
func (r *reading) onlyCurrency() (unit value.Scale) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.has("unit") {
			return value.Scale{}
		}
		for k := range p.values {
			v := &p.values[k]
			if p.cells != nil || v.Kind != value.Figure || value.CurrencyCode(v.Unit) == "" {
				continue
			}
			if unit.Currency != "" && unit.Currency != v.Unit || v.Scaled() {
				return value.Scale{}
			}
			unit.Currency = v.Unit
		}
	}
	return unit
}
