package fact

import "slices"

// ratingLabels are the classes of labels of forms and tables about ratings.
var ratingLabels = []class{
	"rating label agency", "rating label action", "rating label now", "rating label before", "rating label short",
	"rating label outlook", "rating label other",
}

// readTable reads a form, whose labels are in the first cells of its rows, or a table,
// whose labels are in its heading.
func (f *ratingFinder) readTable(t *table) {
	var heading *part
	form := map[string][]candidate{}
	var agency *rated
	column := 0 // of the new ratings, beside those until now
	for _, row := range t.rows {
		p := &f.parts[row]
		if f.rows++; p.aside || len(p.cells) > mostLabels || len(p.tokens) > longestRating || f.rows > mostRows {
			continue
		}
		if p.isRatingHeading() {
			heading = p
			continue
		}
		if now, ok := p.nowColumn(); ok {
			column = now
			continue
		}
		if column > 0 && len(p.cells) == 3 {
			f.readChange(row, column, form)
			continue
		}
		if heading != nil {
			f.readRow(row, heading)
			continue
		}
		if a := f.readForm(row, form); a != nil {
			agency = a
		}
	}
	target := f.open
	if agency != nil {
		target = agency.fields
	}
	for name, all := range form {
		target[name] = append(target[name], all...)
	}
}

// nowColumn returns the cell of the new ratings in rows below a heading that has only the columns of
// those until now and the new ones: "Anterior, Actual".
func (p *part) nowColumn() (column int, ok bool) {
	if n := len(p.cells); n != 2 && n != 3 {
		return 0, false
	}
	before, after := -1, -1
	for n, c := range p.cells {
		switch {
		case c.to-c.from > 3:
			return 0, false
		case p.hasBetween(c.from, c.to, "rating label before"):
			before = n
		case p.hasBetween(c.from, c.to, "rating label after"):
			after = n
		}
	}
	if before < 0 || after < 0 || len(p.cells) == 3 && min(before, after) == 0 {
		return 0, false
	}
	return after + 3 - len(p.cells), true
}

// readChange reads a row with a label, the rating until now and the new one.
func (f *ratingFinder) readChange(row, column int, fields map[string][]candidate) {
	p := &f.parts[row]
	label := p.cells[0]
	switch {
	case p.hasBetween(label.from, label.to, "rating short term", "rating label short"):
	case p.hasBetween(label.from, label.to, "rating outlook"):
		f.readCell(row, p.cells[column], "rating label outlook", fields)
	case p.hasBetween(label.from, label.to, "rating label now", "rating of issuer"):
		f.readCell(row, p.cells[column], "rating label now", fields)
	}
}

// isRatingHeading reports whether a row heads a table: the agency and the rating are
// columns.
func (p *part) isRatingHeading() bool {
	agency, rating := false, false
	for _, l := range p.labels(ratingLabels...) {
		// the ratings of series before and after an action of the agency that the text names
		agency = agency || l.class == "rating label agency" || l.class == "rating label before" && len(p.cells) > 2
		rating = rating || l.class == "rating label now" || l.class == "rating label outlook"
	}
	if !agency || !rating {
		return false
	}
	for n := range p.cells {
		if len(p.ratingsIn(p.cells[n].from, p.cells[n].to)) > 0 {
			return false
		}
	}
	return len(p.cells) > 2 || p.cellOf(p.labels(ratingLabels...)[0].from) == 0 && len(p.labels(ratingLabels...)) > 2
}

// readRow reads a row below a heading.
func (f *ratingFinder) readRow(row int, heading *part) {
	p := &f.parts[row]
	columns := heading.headings(len(p.cells), ratingLabels...)
	var fields map[string][]candidate
	for n, c := range columns {
		if c == "rating label agency" {
			if a := f.cellAgency(row, p.cells[n]); a != nil {
				fields = a.fields
			}
		}
	}
	if fields == nil && heading.has("rating label agency") {
		return
	}
	if fields == nil {
		fields = f.open
	}
	for n, c := range columns {
		f.readCell(row, p.cells[n], c, fields)
	}
}

// readForm reads a row with a label and a value. It returns the agency if the row names
// it.
func (f *ratingFinder) readForm(row int, form map[string][]candidate) *rated {
	p := &f.parts[row]
	if len(p.cells) != 2 {
		return nil
	}
	label := p.cells[0]
	var found class
	for _, l := range p.labels(ratingLabels...) {
		if l.from >= label.to {
			break
		}
		if found != "" && found != l.class {
			// "Perspectiva anterior": the limiting label counts
			if l.class == "rating label before" || l.class == "rating label short" || l.class == "rating label other" {
				found = l.class
			}
			continue
		}
		found = l.class
	}
	if found == "rating label agency" {
		return f.cellAgency(row, p.cells[1])
	}
	f.readCell(row, p.cells[1], found, form)
	return nil
}

// readLines reads the lines of a form whose labels end with a colon, and reports whether a
// part is one: "Agencia: Fitch. Rating: BBB".
func (f *ratingFinder) readLines(i int) bool {
	entries := f.entries(i, ratingLabels)
	p := &f.parts[i]
	if len(entries) == 0 || entries[0].label.from > 1 || len(entries) > mostLabels || p.cells != nil {
		return false
	}
	fields := f.open
	for _, e := range entries {
		c := cell{e.value.from, e.value.to}
		if c.to > c.from && p.mark(c.to-1) == "." {
			c.to--
		}
		if e.class == "rating label agency" {
			if a := f.cellAgency(i, c); a != nil {
				fields = a.fields
			}
			continue
		}
		f.readCell(i, c, e.class, fields)
	}
	return true
}

// cellAgency returns the agency that a cell names.
func (f *ratingFinder) cellAgency(row int, c cell) *rated {
	p := &f.parts[row]
	const longestCell = 14 // "Fitch Ratings España, S.A.U."
	if c.to-c.from > longestCell || c.from == c.to || p.hasBetween(c.from, c.to, "rating doubt") {
		return nil
	}
	if a, ok := p.knownAgency(c.from); ok {
		return f.agencyOf(a.name, place{row, a.from, a.to})
	}
	if !p.tokens[c.from].IsCapital() {
		return nil
	}
	return f.agencyOf(p.shortName(c.from, c.to), place{row, c.from, c.to})
}

// readCell reads the value of a cell below or beside a label.
func (f *ratingFinder) readCell(row int, c cell, label class, fields map[string][]candidate) {
	p := &f.parts[row]
	if c.from == c.to || p.hasBetween(c.from, c.to, "rating doubt") {
		return
	}
	switch label {
	case "rating label action":
		classes := make([]class, 0, 2*len(ratingActions))
		for _, a := range ratingActions {
			classes = append(classes, a.verb, a.noun)
		}
		for _, q := range p.labels(classes...) {
			if q.from >= c.from && q.from < c.to {
				keepIn(fields, "action", actionName(q.class), place{row, q.from, q.to})
			}
		}
	case "rating label now":
		codes := p.ratingsIn(c.from, c.to)
		for _, code := range codes {
			if !code.old {
				keepIn(fields, "rating", code.text, place{row, code.from, code.to})
			}
		}
		f.readOutlookIn(row, c, "rating outlook", fields)
	case "rating label outlook":
		f.readOutlookIn(row, c, "", fields)
	}
}

// readOutlookIn reads the outlook of a cell. If a class is given, the cell must have it:
// "BBB, perspectiva estable".
func (f *ratingFinder) readOutlookIn(row int, c cell, needs class, fields map[string][]candidate) {
	p := &f.parts[row]
	if needs != "" {
		if name, at, ok := p.outlook(c.from, c.to); ok {
			at.part = row
			keepIn(fields, "outlook", name, at)
		}
		return
	}
	var found []cue
	for _, q := range p.labels("rating stable", "rating positive", "rating negative", "rating developing") {
		if q.from >= c.from && q.from < c.to && !p.hasBetween(q.from-2, q.from, "rating from") {
			found = append(found, q)
		}
	}
	isSame := func(q cue) bool { return outlooks[q.class] == outlooks[found[0].class] } // "Estable / Stable"
	if len(found) > 0 && !slices.ContainsFunc(found, func(q cue) bool { return !isSame(q) }) {
		keepIn(fields, "outlook", outlooks[found[0].class], place{row, found[0].from, found[0].to})
	}
}
