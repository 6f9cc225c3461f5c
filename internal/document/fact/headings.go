package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// mostLabels is the number of labels in a sentence, and of cells in a row, that are read.
// More are no text that people write, and each costs a look at the whole part.
const mostLabels = 40

// mostRows is the number of rows of tables in which a rule looks for values.
const mostRows = 500

// labels returns the cues of some classes in a part, in their order. Of those that
// overlap the longest counts.
func (p *part) labels(classes ...class) (found []cue) {
	for _, c := range p.cues {
		if !slices.Contains(classes, c.class) {
			continue
		}
		last := len(found) - 1
		if last < 0 || found[last].to <= c.from {
			found = append(found, c)
			continue
		}
		if c.to-c.from > found[last].to-found[last].from {
			found[last] = c
		}
	}
	return found
}

// headings returns the class of each column of a row that heads a table, for rows with a
// number of cells. A heading that is none of the classes is "". Some texts have several
// headings in one cell: then there must be as many of them as cells. It returns nil if
// the headings do not fit.
func (p *part) headings(cells int, classes ...class) []class {
	found := p.labels(classes...)
	if len(p.cells) == cells {
		columns := make([]class, cells)
		for n, c := range p.cells {
			for _, l := range found {
				if l.from >= c.from && l.from < c.to {
					if columns[n] != "" {
						return nil // two headings in one cell, though the number of cells fits
					}
					columns[n] = l.class
				}
			}
		}
		return columns
	}
	if len(found) != cells || len(p.cells) > cells {
		return nil
	}
	columns := make([]class, 0, cells)
	for _, l := range found {
		columns = append(columns, l.class)
	}
	return columns
}

// clause returns the range of tokens around a token between two commas, semicolons or
// colons.
func (p *part) clause(token int) (from, to int) {
	from = token
	for from > 0 && !isClauseMark(p.mark(from-1)) {
		from--
	}
	to = token
	for to < len(p.tokens) && !isClauseMark(p.mark(to)) {
		to++
	}
	return from, to
}

func isClauseMark(mark string) bool { return mark == "," || mark == ";" || mark == ":" }

// readLine reads a line that is not part of the document.
func (r *reading) readLine(text string) *part {
	p := &part{text: strings.TrimSpace(text)}
	p.tokens = value.Tokenise(p.text)
	p.cues = phrases.find(p.tokens)
	p.values = value.Read(p.tokens, r.Language == "en")
	return p
}
