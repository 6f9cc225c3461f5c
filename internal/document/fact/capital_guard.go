package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// isCapitalAgenda reports whether a part says what a meeting will be asked to decide. An item
// of the agenda that was approved is a reference: "aprobada bajo el punto séptimo del orden
// del día".
func (p *part) isCapitalAgenda() bool {
	for _, c := range p.all("capital agenda") {
		if !p.hasBetween(0, c.from, "capital asked") {
			return true
		}
	}
	return false
}

// deniesChange reports whether a sentence says that nothing was decided.
func (p *part) deniesChange() bool { return p.isProse() && p.has("capital denied") }

// isOfOldYear reports whether a sentence says what took place in an earlier year or some
// months ago: "En 2021 ampliamos capital", "el ejecutado en julio de 2022". A year of what was
// decided or granted then says nothing of the kind: "aprobado en 2024".
func (r *reading) isOfOldYear(p *part) bool {
	const days = 92
	if r.Published.IsZero() {
		return false
	}
	for k := range min(len(p.values), mostLabels) {
		v := &p.values[k]
		if v.Kind != value.Date || v.Day != 0 || v.Year == 0 && v.Month == 0 || !p.isWhen(v.From) {
			continue
		}
		year := v.Year
		if year == 0 {
			year = r.lastYearOf(v.Month)
		}
		if v.Month == 0 && year < r.Published.Year() {
			return true
		}
		if v.Month > 0 && r.Published.Sub(endOfMonth(year, v.Month)).Hours() > days*24 {
			return true
		}
	}
	return false
}

// isWhen reports whether words such as "en" before a year or month say when a change took
// place, not when it was decided.
func (p *part) isWhen(at int) bool {
	switch p.word(at - 1) {
	case "en", "in", "durante", "during", "de", "of", "since", "desde", "el", "ano", "ejercicio":
	default:
		return false
	}
	return !p.hasBetween(max(0, at-7), at, "capital granted")
}

// continuesOld reports whether a sentence follows one about an old year in its paragraph, and
// has no date of its own: "En septiembre ampliamos capital. Emitimos 3.000.000 de acciones".
func (c *capitalChange) continuesOld(i int) bool {
	const reach = 4
	for k := i - 1; k >= 0 && k > i-reach && c.r.parts[k].paragraph == c.r.parts[i].paragraph; k-- {
		p := &c.r.parts[k+1]
		if slices.ContainsFunc(p.values, func(v value.Value) bool { return v.Kind == value.Date }) {
			return false
		}
		old := &c.r.parts[k]
		if old.has("capital increase", "capital reduction") && (c.r.isOfOldYear(old) || c.r.isFormer(old)) {
			return true
		}
	}
	return false
}

// noteDoubted notes the figures of a sentence that proposes something, or repeats what others
// say. Elsewhere in the document they are no more than that.
func (c *capitalChange) noteDoubted(p *part) {
	isProposed := slices.ContainsFunc(p.all("proposal"), func(q cue) bool { return !p.isHarmless(q) })
	if !isProposed && !p.isReported() && !p.isHypothetical() || len(c.doubted) > mostRows {
		return
	}
	for _, v := range p.wholeValues(0, len(p.tokens)) {
		if text, ok := decimal(v, 0); ok && v.Kind == value.Figure {
			c.doubted[text] = true
		}
	}
}
