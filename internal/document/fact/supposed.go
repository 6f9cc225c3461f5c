package fact

import "slices"

// Guides and letters explain a rule with an example: "Supongamos que una sociedad tiene
// 20.000.000 de acciones". What follows is about the same supposed company, up to the next
// heading.

// supposed reports for each part whether it belongs to an example.
func (r *reading) supposed() []bool {
	found := make([]bool, len(r.parts))
	inside := false
	for i := range r.parts {
		p := &r.parts[i]
		if p.heading {
			inside = false
		}
		inside = inside || p.beginsExample()
		found[i] = inside || p.has("some company")
	}
	return found
}

// beginsExample reports whether a sentence asks to suppose something.
func (p *part) beginsExample() bool {
	const beginning = 6 // tokens
	return p.cells == nil && p.hasBetween(0, beginning, "let us suppose")
}

// isOfGuide reports whether a title is that of a document that explains, proposes or asks, and
// states nothing that took place.
func (p *part) isOfGuide() bool {
	isProposal := slices.ContainsFunc(p.all("proposal"), func(c cue) bool { return !p.isHarmless(c) })
	return isProposal || p.has("guide title")
}

// isReported reports whether a sentence repeats what others say: the press, a rumour.
func (p *part) isReported() bool { return p.has("reported by others") }

// tellsMistake reports whether a sentence says what was wrong in its own words: "se decía que
// el importe es de 5.000 euros, cuando en realidad es de 4.000 euros". Which figure is right is
// open, unless it has the words of a correction.
func (p *part) tellsMistake() bool {
	return p.has("mistaken") && !p.has("corrected") && len(p.figuresIn(cell{0, len(p.tokens)})) > 0
}
