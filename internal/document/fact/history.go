package fact

import "time"

// Some documents recall what was published long before: "El 9 de febrero de 2024 la
// Sociedad informó de la dimisión de su consejero delegado". Such a sentence begins with
// its date, and has a verb of telling.

// recalledAfter is the age from which what a sentence tells is recalled.
const recalledAfter = 60 * 24 * time.Hour

// isRecalled reports whether a sentence says what was published long before the report.
func (r *reading) isRecalled(p *part) bool {
	const beginning = 6 // tokens before the date, such as "a)", "Con fecha"
	if p.cells != nil || r.Published.IsZero() || !p.has("recalls") {
		return false
	}
	for k := range p.values {
		v := &p.values[k]
		if v.From > beginning {
			return false
		}
		if text, ok := date(v); ok {
			day, err := time.Parse(time.DateOnly, text)
			return err == nil && r.Published.Sub(day) > recalledAfter && p.hasBetween(v.To, v.To+8, "recalls")
		}
	}
	return false
}

// markRecalled marks the sentences of a document that lists what was published before.
// One such sentence alone may introduce what is new.
func (r *reading) markRecalled() {
	const list = 3
	var recalled []int
	for i := range r.parts {
		if r.isRecalled(&r.parts[i]) {
			recalled = append(recalled, i)
		}
	}
	if len(recalled) < list {
		return
	}
	for _, i := range recalled {
		r.parts[i].aside = true
	}
}
