package fact

// A footnote may change what a measure means: "EBITDA (2)", and below the table "(2) Ajustado
// por gastos de reestructuración".

// findNotes collects the footnotes that make a measure another one.
func (f *resultFinder) findNotes() {
	f.notes = map[string]bool{}
	for i := range f.parts {
		p := &f.parts[i]
		if len(f.notes) < mostLabels && p.has("results segment", "results no measure") {
			if note := p.noteAt(0); note != "" {
				f.notes[note] = true
			}
		}
	}
}

// noteAt returns the mark of a footnote at a token: 2 in "(2)", or a star.
func (p *part) noteAt(i int) string {
	if p.mark(i) == "*" {
		return "*"
	}
	if p.mark(i) == "(" && p.mark(i+2) == ")" && len(p.mark(i+1)) == 1 {
		return p.mark(i + 1)
	}
	return ""
}

// isNoted reports whether the label of a row has a footnote that makes it another measure.
func (f *resultFinder) isNoted(p *part, label cell) bool {
	for i := label.from; i < label.to && len(f.notes) > 0; i++ {
		if note := p.noteAt(i); note != "" && f.notes[note] {
			return true
		}
	}
	return false
}
