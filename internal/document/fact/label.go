package fact

import "slices"

// entry is a label of a form with the words behind it.
type entry struct {
	class class
	label place
	value place // without words if the label is the heading of a column
}

// entries returns the labels of some classes in a part, with the words up to the next
// label. The words of a label end with a colon or a cell. In texts of scanned forms
// several labels with their values may be one row, so that a cell has a value and the
// next label.
func (r *reading) entries(i int, classes []class) (found []entry) {
	p := &r.parts[i]
	if p.isLong() {
		return nil
	}
	labels := slices.DeleteFunc(p.withoutOverlap(classes), func(c cue) bool { return p.valueOf(c) < 0 })
	for n, c := range labels {
		from := p.valueOf(c)
		to := len(p.tokens)
		if n+1 < len(labels) {
			to = labels[n+1].from
		}
		if p.cells != nil && from < len(p.tokens) {
			to = min(to, p.cells[p.cellOf(from)].to)
		}
		found = append(found, entry{c.class, place{i, c.from, c.to}, place{i, from, max(from, to)}})
	}
	return found
}

// valueOf returns the first token behind a label and its colon, or -1 if neither a colon
// nor a cell ends the words, so that they are no label.
func (p *part) valueOf(c cue) int {
	from := c.to
	if from < len(p.tokens) && !p.startsCell(from) { // in a cell, brackets are a negative figure
		from = p.behindBrackets(from)
	}
	if p.mark(from) == ":" {
		return from + 1
	}
	if from < len(p.tokens) && p.startsCell(from) {
		return from
	}
	return -1
}

// longestStatement is the most tokens of a sentence or row in which names and roles are
// looked for. It bounds the cost of comparing them with one another.
const longestStatement = 500

func (p *part) isLong() bool { return len(p.tokens) > longestStatement }

// isProse reports whether a part is a sentence, or a row with one in a cell, such as two
// languages side by side.
func (p *part) isProse() bool {
	const words = 12
	return p.cells == nil || slices.ContainsFunc(p.cells, func(c cell) bool { return c.to-c.from >= words })
}

// behindBrackets returns the index behind the words in brackets at a token, such as the
// unit of a label: "Precio (euros)".
func (p *part) behindBrackets(i int) int {
	if p.mark(i) != "(" {
		return i
	}
	for k := i + 1; k < min(i+10, len(p.tokens)); k++ {
		if p.mark(k) == ")" {
			return k + 1
		}
	}
	return i
}

// withoutOverlap returns the cues of some classes that no longer one of them contains.
func (p *part) withoutOverlap(classes []class) []cue {
	all := p.all(classes...)
	slices.SortStableFunc(all, func(a, b cue) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	kept := all[:0]
	end := 0
	for _, c := range all {
		if c.from >= end {
			kept = append(kept, c)
			end = c.to
		}
	}
	return kept
}

// empty reports whether a place has no words.
func (at place) empty() bool { return at.from >= at.to }
