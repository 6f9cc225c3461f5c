package fact

import (
	"time"
)

// isLongOver reports whether a period has ended long before the report, which then recalls
// it.
func (r *reading) isLongOver(to string) bool {
	const longest = 75 // days
	return !r.isWithin(to, longest, 2)
}

// tellsPurchases reports whether a report about something else, such as results, tells of
// purchases without a table of them.
func (r *reading) tellsPurchases(found *trades) bool {
	if len(found.rows) > 0 || len(r.title.tokens) == 0 {
		return false
	}
	return !r.title.has("buyback", "programme", "generic title", "own shares", "bought") &&
		!r.category.has("buyback", "own shares")
}

// tellsEnd reports whether a sentence first says that a programme has ended, and then what
// was bought: that is all of the programme.
func (p *part) tellsEnd() bool {
	end, ok := firstCue(p.all("buyback end"), 0, len(p.tokens))
	if !ok || !p.hasBetween(0, len(p.tokens), "bought") {
		return false
	}
	return !p.hasBetween(0, end.from, "bought") && p.hasBetween(end.to, end.to+6, "buyback", "programme")
}

// isOfPastYear reports whether a sentence begins with an earlier year: "En 2025 se compraron".
func (p *part) isOfPastYear(published time.Time) bool {
	const beginning = 5 // tokens, such as "Durante el ejercicio"
	if len(p.values) == 0 || published.IsZero() {
		return false
	}
	first := &p.values[0]
	return first.IsYear() && first.From <= beginning && first.Year < published.Year()
}

// deniesTrades reports whether a sentence says that nothing was bought in the period.
func (r *reading) deniesTrades() bool {
	return anyPart(r.parts, func(p *part) bool { return p.cells == nil && !p.aside && p.has("no trades") })
}
