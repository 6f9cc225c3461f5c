package fact

import "pregon/internal/document/value"

// Some forms of payments have each label in a line above its value:
//
//	2. Fecha de pago
//	22 de junio de 2026
//	3. Serie
//	A2

// bondLabelAbove returns the line above a part that has only one value, its first one, if that line is a
// label without a value, or nil.
func (r *reading) bondLabelAbove(i, k int) *part {
	const longest = 4 // tokens of other words: "euros", "2."
	p := &r.parts[i]
	if k != 0 || p.cells != nil || p.values[0].From > 0 || len(p.tokens)-p.values[0].To > longest {
		return nil
	}
	return r.labelLine(i)
}

// namesPayment reports whether a label is that of the date of payment, and not of another date.
func (p *part) namesPayment() bool {
	payment, ok := firstCue(p.all("bond payment"), 0, len(p.tokens))
	return ok && payment.to >= len(p.tokens)-1 && !p.has("bond other date")
}

// readNameBelow makes the series current whose name stands alone in a line, below the label "Serie".
func (r *reading) readNameBelow(notes *seriesNotes, i int) {
	p := &r.parts[i]
	label := r.labelLine(i)
	if label == nil || len(p.tokens) != 1 || !isSeriesName(p.mark(0)) {
		return
	}
	if c, ok := firstCue(label.all("bond series word"), 0, 1); ok && c.to >= len(label.tokens)-1 {
		notes.named(p.mark(0))
	}
}

// readPaidBelow reads an amount whose label stands in the line above, and reports whether it has one.
func (r *reading) readPaidBelow(notes *seriesNotes, i, k int) bool {
	label := r.bondLabelAbove(i, k)
	if label == nil {
		return false
	}
	whole := cell{0, len(label.tokens)}
	column, ok := label.paidColumn(whole)
	if !ok {
		return false
	}
	p := &r.parts[i]
	v := &p.values[k]
	scale, _ := value.ReadScale(label.tokens, label.english)
	amount, currency, ok := money(v, scale)
	if !ok || currency == "" || v.Negative || v.Bound != "" || isRate(v) {
		notes.unsure = true
		return true
	}
	notes.paid(notes.current, column, amount)
	return true
}
