package fact

import (
	"strings"

	"pregon/internal/document/value"
)

// readTable reads the totals of a table: labels in the first cells of its rows, or in
// the heading.
func (f *votesFinder) readTable(t *table) {
	f.readDayBefore(t)
	var heading *part
	f.dates = nil
	f.setRowDays(t)
	for n, row := range t.rows {
		p := &f.parts[row]
		if f.rows++; p.aside || f.earlier[row] || len(p.cells) > mostLabels || f.rows > mostRows {
			continue
		}
		if f.readPairs(row) {
			continue
		}
		if dates := f.dateColumns(p); len(dates) > 0 {
			f.dates = dates
			f.datesAt = row
			if heading != nil && p.hasBetween(0, 1, "votes date") && heading.has("votes now", "votes earlier") {
				f.readRow(t, row, heading)
			}
			continue
		}
		if len(p.values) == 0 {
			if len(p.labels("votes total", "votes shares", "votes capital")) > 0 ||
				p.has("votes now", "votes earlier") {
				heading = p
			}
			if heading == p && p.hasBetween(0, p.cells[0].to, "votes issuers") {
				return // a row for each company or holder
			}
			continue
		}
		if f.readRow(t, row, heading) || heading == nil {
			continue
		}
		f.readBelow(t, n, heading)
	}
}

// dateColumns returns the days of the columns of a table, if a row has several and
// nothing else.
func (f *votesFinder) dateColumns(p *part) (dates []*value.Value) {
	for k := range p.values {
		if _, ok := date(&p.values[k]); !ok {
			return nil
		}
		dates = append(dates, &p.values[k])
	}
	if len(dates) < 2 || len(p.labels("votes total", "votes shares", "votes capital")) > 0 {
		return nil
	}
	return dates
}

// dateCells returns the cells of a row below the days of the columns. It returns nil if the
// row has other columns.
func (f *votesFinder) dateCells(p *part) (cells []int) {
	if len(f.dates) == 0 {
		return nil
	}
	head := &f.parts[f.datesAt]
	shift := len(p.cells) - len(head.cells) // 1 if nothing heads the labels
	if shift != 0 && shift != 1 {
		return nil
	}
	for _, v := range f.dates {
		cells = append(cells, head.cellOf(v.From)+shift)
	}
	return cells
}

// latest returns the number of the column with the last day before the report, from 0.
func (f *votesFinder) latest() int {
	best, last := -1, ""
	for n, v := range f.dates {
		if day, ok := date(v); ok && f.isRecent(day) && day > last {
			best = n
			last = day
		}
	}
	return best
}

// readDayBefore reads the day in the line before a table.
func (f *votesFinder) readDayBefore(t *table) {
	if t.before < 0 {
		return
	}
	p := &f.parts[t.before]
	if p.aside || p.cells != nil ||
		len(p.labels("votes total", "votes shares", "votes capital", "votes date")) == 0 || f.hasTotal(t.before) {
		return
	}
	f.readDay(t.before, true)
}

// setRowDays sets the day of the rows of a table to that in the line before it.
func (f *votesFinder) setRowDays(t *table) {
	if t.before < 0 || f.parts[t.before].cells != nil || f.parts[t.before].aside {
		return
	}
	p := &f.parts[t.before]
	day := ""
	for n := range min(len(p.values), mostLabels) {
		got, ok := f.readVotes("as_of", p, &p.values[n], value.Scale{})
		if !ok || !f.isDay(p, p.values[n].From) {
			continue
		}
		if day != "" {
			return
		}
		day = got.text
	}
	const short = 16 // tokens
	if day == "" || len(p.tokens) > short {
		return
	}
	f.days[t.before] = day
	for _, row := range t.rows {
		f.days[row] = day
	}
}

// hasTotal reports whether a part gave a total, so that its day is known.
func (f *votesFinder) hasTotal(i int) bool {
	for _, all := range f.found {
		for _, c := range all {
			if c.at.part == i {
				return true
			}
		}
	}
	return false
}

// readPairs reads a row whose cells are labels with their values, such as a form in two
// languages, and reports whether it is one.
func (f *votesFinder) readPairs(row int) bool {
	p := &f.parts[row]
	for _, c := range p.cells {
		if colon := f.colonOf(p, c); colon < 0 || len(p.valuesIn(colon+1, c.to)) == 0 {
			return false
		}
	}
	for _, c := range p.cells {
		f.readFormLine(row, c)
	}
	return true
}

// readRow reads a row with a label in its first cell, and reports whether it has one.
func (f *votesFinder) readRow(t *table, row int, heading *part) bool {
	p := &f.parts[row]
	first := p.votesLabelCell()
	label := p.cells[first]
	field := ""
	for _, l := range f.withoutInclusions(p, p.labels(votesClasses...)) {
		if l.from >= label.to {
			break
		}
		if l.class == "votes nominal" && field != "" && p.isNominalOfLabel(l) {
			continue
		}
		if votesFields[l.class] == "" || field != "" && field != votesFields[l.class] {
			return true
		}
		field = votesFields[l.class]
	}
	if field == "" {
		return false
	}
	if p.hasBetween(0, label.to, "votes earlier", "possible", "planned") && !p.hasBetween(0, label.to, "votes now") {
		return true
	}
	for k := label.from; k < label.to; k++ {
		if p.isConditionalVerb(k) { // "Derechos de voto que se atribuirían"
			return true
		}
	}
	var found []candidate
	var columns []class
	if heading != nil {
		columns = heading.headings(len(p.cells), "votes now", "votes earlier", "votes column")
		if columns == nil && len(heading.cells) == len(p.cells)-1 { // nothing heads the labels
			columns = append([]class{""}, heading.headings(len(heading.cells), "votes now", "votes earlier", "votes column")...)
		}
		if len(columns) != len(p.cells) {
			columns = nil
		}
	}
	latest := -1
	dated := 0 // the column of the last day
	if dates := f.dateCells(p); dates != nil {
		latest = f.latest()
		if latest < 0 {
			return true
		}
		dated = dates[latest]
	}
	change := f.changeColumns(p, first, heading)
	for n := first + 1; n < len(p.cells); n++ {
		if change && n < len(p.cells)-1 {
			continue
		}
		if columns != nil && columns[n] == "votes earlier" || latest >= 0 && n != dated {
			continue
		}
		for _, v := range p.valuesIn(p.cells[n].from, p.cells[n].to) {
			if got, ok := f.readVotes(field, p, v, f.headingOf(t, row, n, label)); ok {
				found = append(found, candidate{read: got, at: f.placeOf(row, v)})
			}
		}
	}
	if len(found) != 1 {
		return true
	}
	f.add(field, found[0].read, found[0].at)
	if latest >= 0 {
		day, _ := date(f.dates[latest])
		f.add("as_of", read{text: day}, f.placeOf(f.datesAt, f.dates[latest]))
	}
	return true
}

// readBelow reads a row below a heading. If there are several, only the total or the
// current one counts.
func (f *votesFinder) readBelow(t *table, n int, heading *part) {
	p := &f.parts[t.rows[n]]
	if p.hasBetween(0, p.cells[0].to, "votes earlier") {
		return
	}
	if !p.hasBetween(0, p.cells[0].to, "votes total row") && f.totalBelow(t, n) {
		return
	}
	day := f.rowDay(p)
	if day != "" && (!f.isRecent(day) || f.hasLaterRow(t, n, day)) {
		return
	}
	if day != "" {
		first := p.valuesIn(0, p.cells[0].to)[0]
		f.add("as_of", read{text: day}, f.placeOf(t.rows[n], first))
	}
	columns := heading.headings(len(p.cells), votesClasses...)
	if len(heading.cells) > len(p.cells) {
		columns = heading.headingsByTab(p, votesClasses...)
	}
	for k, c := range columns {
		field := votesFields[c]
		if field == "" {
			continue
		}
		scale := f.headingOf(t, t.rows[n], k, p.cells[0])
		if len(heading.cells) != len(p.cells) {
			scale, _ = value.ReadScale(heading.tokens, heading.english)
			scale.PerShare = false
		}
		for _, v := range p.valuesIn(p.cells[k].from, p.cells[k].to) {
			if got, ok := f.readVotes(field, p, v, scale); ok {
				f.add(field, got, f.placeOf(t.rows[n], v))
				break
			}
		}
	}
}

// rowDay returns the day in the first cell of a row: each row has the totals of a day.
func (f *votesFinder) rowDay(p *part) string {
	for _, v := range p.valuesIn(0, p.cells[0].to) {
		if day, ok := date(v); ok {
			return day
		}
	}
	return ""
}

// hasLaterRow reports whether a row of a table has the totals of a later day. Rows of days
// to come do not count.
func (f *votesFinder) hasLaterRow(t *table, n int, day string) bool {
	for _, row := range t.rows[max(0, n-mostDays):min(len(t.rows), n+mostDays)] {
		other := f.rowDay(&f.parts[row])
		if other > day && f.isRecent(other) {
			return true
		}
	}
	return false
}

// mostDays is the number of rows before and behind one in which a later day is looked for.
const mostDays = 40

// totalBelow reports whether a later row of a table is its total.
func (f *votesFinder) totalBelow(t *table, n int) bool {
	for _, row := range t.rows[n+1 : min(len(t.rows), n+40)] {
		p := &f.parts[row]
		if p.hasBetween(0, p.cells[0].to, "votes total row") && len(p.values) > 0 {
			return true
		}
	}
	return false
}

// headingsByTab returns the class of the heading of each cell of a row with empty cells, by
// the tabs before them. It returns nil if the texts have other gaps.
func (p *part) headingsByTab(row *part, classes ...class) []class {
	if strings.Contains(p.text, "  ") || strings.Contains(row.text, "  ") {
		return nil
	}
	byTab := map[int]class{}
	labels := p.labels(classes...)
	for _, c := range p.cells {
		for _, l := range labels {
			if l.from >= c.from && l.from < c.to {
				byTab[p.tabsBefore(c.from)] = l.class
				break
			}
		}
	}
	columns := make([]class, 0, len(row.cells))
	for _, c := range row.cells {
		columns = append(columns, byTab[row.tabsBefore(c.from)])
	}
	return columns
}

// tabsBefore returns the number of tabs before a token.
func (p *part) tabsBefore(token int) int { return strings.Count(p.text[:p.tokens[token].At], "\t") }
