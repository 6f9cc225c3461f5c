package fact

import "slices"

// isOnAttendance reports whether a range of tokens is about attendance and votes. That a meeting is
// held without them says nothing of its date: "without the physical attendance of proxies".
func (p *part) isOnAttendance(from, to int) bool {
	const near = 9 // tokens of the phrase
	return slices.ContainsFunc(p.all("attendance"), func(c cue) bool {
		if c.from < from || c.from >= to {
			return false
		}
		for i := c.from - 1; i >= max(from, c.from-near) && p.mark(i) != ","; i-- {
			if w := p.word(i); w == "without" || w == "sin" || w == "sense" {
				return !p.has("called")
			}
		}
		return true
	})
}

// callNamesAbove returns the names of calls in the line above a part, if that line is a label without
// a value: a line of its own, or the last one of a paragraph, "salón de actos / Primera convocatoria:".
func (r *reading) callNamesAbove(i int) []callName {
	if label := r.labelLine(i); label != nil {
		return label.callNames(0, "first call", "second call")
	}
	const longest = 10 // tokens
	if i == 0 || len(r.parts[i].tokens) > longest || r.parts[i-1].page != r.parts[i].page {
		return nil
	}
	label := &r.parts[i-1]
	if label.cells != nil || label.mark(len(label.tokens)-1) != ":" {
		return nil
	}
	from := len(label.tokens) - 1
	for from > 0 && !label.beginsLine(from) {
		from--
	}
	if len(label.tokens)-from > longest {
		return nil
	}
	return label.callNames(from, "first call", "second call")
}
