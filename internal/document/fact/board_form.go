package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

var boardLabels = []class{
	"board person label",
	"board person column",
	"board role label",
	"board action label",
	"board cause label",
	"board effective label",
	"board other label",
}

// boardForms finds the changes in forms: a label and its value.
func (r *reading) boardForms() (found []boardFact) {
	record := boardFact{draft: newDraft(), part: -1}
	flush := func() {
		leaves := record.fields["action"] == "resigned" || record.fields["action"] == "removed"
		if former := record.former; leaves && !former.empty() && record.fields["role"] == "" {
			record.set("role", r.parts[former.part].textOf(former.from, former.to), former)
		}
		if record.fields["person"] != "" && record.fields["action"] != "" {
			found = append(found, record)
		}
		action, at, person := record.fields["action"], record.proof["action"], record.proof["person"]
		record = boardFact{draft: newDraft(), part: -1}
		if action != "" && isBefore(at, person) { // else each person has one
			record.set("action", action, at)
		}
	}
	last := -1
	joins := place{part: -1}
	for i := range r.parts {
		p := &r.parts[i]
		if at, ok := p.boardSection(); ok && !r.isProposalTitle() {
			if record.part >= 0 {
				flush()
				record = boardFact{draft: newDraft(), part: -1}
			}
			joins = place{i, at.from, at.to}
			continue
		}
		entries := r.boardEntries(i)
		if p.aside || len(entries) == 0 {
			continue
		}
		if last >= 0 && i-last > 6 {
			flush()
			record = boardFact{draft: newDraft(), part: -1}
		}
		last = i
		for _, e := range entries {
			if e.value.empty() {
				continue
			}
			isPerson := e.class == "board person label" || e.class == "board person column"
			if isPerson && record.fields["person"] != "" {
				flush()
			}
			r.setBoardEntry(&record, e)
			if isPerson && joins.part >= 0 && i-joins.part <= 6 && record.fields["action"] == "" &&
				strings.HasPrefix(r.parts[joins.part].word(joins.from), "alta") {
				record.set("action", "appointed", joins)
			}
		}
	}
	flush()
	return found
}

// boardEntries returns the labels of a part with their values. The value may stand in the line below
// the label, or in the next part.
func (r *reading) boardEntries(i int) []entry {
	const longestValue = 12 // tokens
	entries := r.entries(i, boardLabels)
	if len(entries) == 0 {
		if e, ok := r.boardLine(i); ok {
			entries = append(entries, e)
		}
	}
	last := len(entries) - 1
	if last < 0 || !entries[last].value.empty() || i+1 >= len(r.parts) || r.parts[i].cells != nil {
		return entries
	}
	next := &r.parts[i+1]
	_, isSection := next.boardSection()
	_, isLine := r.boardLine(i + 1)
	isFree := next.cells == nil && !next.aside && !isSection && !isLine && len(next.tokens) <= longestValue
	if isFree && len(r.entries(i+1, boardLabels)) == 0 {
		entries[last].value = place{i + 1, 0, len(next.tokens)}
	}
	return entries
}

// boardLine returns the label that is the first line of a part, without a colon: "Fecha de efectos"
// above "1 de mayo de 2026".
func (r *reading) boardLine(i int) (entry, bool) {
	const longest = 20 // tokens
	p := &r.parts[i]
	if p.cells != nil || p.aside || len(p.tokens) > longest {
		return entry{}, false
	}
	labels := p.withoutOverlap(boardLabels)
	if len(labels) == 0 {
		return entry{}, false
	}
	c := labels[0]
	if c.from > 0 || c.to > len(p.tokens) {
		return entry{}, false
	}
	isAll := c.to == len(p.tokens)
	if !isAll && !strings.Contains(p.text[p.tokens[c.to-1].End():p.tokens[c.to].At], "\n") {
		return entry{}, false
	}
	return entry{c.class, place{i, c.from, c.to}, place{i, c.to, len(p.tokens)}}, true
}

// boardSection returns the word of a line that heads the people who come to the board, "ALTA", or
// those who leave it, "BAJA".
func (p *part) boardSection() (at place, ok bool) {
	const longest = 3 // tokens: "1. Alta"
	if p.cells != nil || len(p.tokens) > longest || p.aside {
		return place{}, false
	}
	for k := range p.tokens {
		switch w := p.word(k); w {
		case "alta", "baja", "altas", "bajas":
			return place{0, k, k + 1}, true
		}
	}
	return place{}, false
}

// isBefore reports whether a place is before another.
func isBefore(a, b place) bool { return a.part < b.part || a.part == b.part && a.from < b.from }

// setBoardEntry reads the value of a label.
func (r *reading) setBoardEntry(record *boardFact, e entry) {
	p := &r.parts[e.value.part]
	record.part = e.value.part
	switch e.class {
	case "board person label", "board person column":
		if n, ok := p.person(e.value.from); ok && n.to <= e.value.to {
			record.set("person", n.text, place{e.value.part, n.from, n.to})
		}
	case "board role label":
		at, ok := p.role(e.value.from, e.value.to)
		if !ok || at.from-e.value.from > 1 || record.fields["role"] != "" {
			return
		}
		at.part = e.value.part
		if label := &r.parts[e.label.part]; label.hasBetween(e.label.from, e.label.to, "past", "board current") {
			record.former = at // "Cargo anterior"
			return
		}
		record.set("role", p.textOf(at.from, at.to), at)
	case "board action label":
		isDate := func(v *value.Value) bool { return v.From == e.value.from && v.Kind == value.Date }
		if slices.ContainsFunc(p.valuesIn(e.value.from, e.value.to), isDate) {
			return // "Date of the resolution"
		}
		delete(record.fields, "action") // that of the person before
		delete(record.proof, "action")
		if action, at, ok := p.actionNamed(e.value.from, e.value.to); ok {
			at.part = e.value.part
			record.set("action", action, at)
		} else if p.word(e.value.from) == "alta" {
			record.set("action", "appointed", place{e.value.part, e.value.from, e.value.from + 1})
		}
	case "board cause label":
		action, at, ok := p.actionNamed(e.value.from, e.value.to)
		ok = ok && !r.isCauseOfOther(p, e, action)
		old := record.fields["action"]
		if ok && (old == "" || old == "removed" && action == "resigned") {
			at.part = e.value.part
			record.set("action", action, at)
		}
	case "board effective label":
		for _, v := range p.valuesIn(e.value.from, e.value.to) {
			if text, ok := date(v); ok && r.isWithin(text, 120, 800) {
				record.set("effective", text, place{e.value.part, v.From, v.To})
			}
		}
	}
}

// isCauseOfOther reports whether the cause of a change may be that of someone else: the words are
// many, name a person, or the title says that the person of the form comes to the board.
func (r *reading) isCauseOfOther(p *part, e entry, action string) bool {
	const longest = 8 // tokens
	comes := r.title.has("board appointment", "board appoints", "board to appoint", "board reelection", "board reelected")
	return e.value.to-e.value.from > longest || len(p.people(e.value.from, e.value.to)) > 0 ||
		comes && action != "appointed"
}

// actionNamed returns the only change that a range of tokens names.
func (p *part) actionNamed(from, to int) (action string, at place, ok bool) {
	if p.isProposed(from, to) || p.hasBetween(from, to, "board unsure", "possible", "planned", "board ratified") {
		return "", place{}, false
	}
	for _, c := range p.withoutOverlap(boardClasses) {
		if c.from < from || c.from >= to {
			continue
		}
		named := actionOf(c.class)
		left := action == "removed" && named == "resigned" // "cese por dimisión"
		if action != "" && action != named && !left {
			return "", place{}, false
		}
		if action == "" || left {
			action = named
			at = place{0, c.from, c.to}
		}
	}
	return action, at, action != ""
}

// boardTable finds the changes in a table with a row for each person.
func (r *reading) boardTable(t *table) (found []boardFact) {
	head := -1
	if r.isPlanTable(t) {
		return nil
	}
	named := r.actionOfTable(t)
	for n, row := range t.rows {
		p := &r.parts[row]
		if p.aside || p.isLong() || len(found) > mostChanges {
			continue
		}
		if p.isBoardHeading() {
			head = n
			continue
		}
		if head < 0 {
			continue
		}
		if f, ok := r.boardRow(named, t.rows[head], row); ok {
			found = append(found, f)
		}
	}
	return found
}

// isPlanTable reports whether the line before a table, or the title of the document, says
// that its changes are proposed, or are those of an earlier year.
func (r *reading) isPlanTable(t *table) bool {
	if r.isProposalTitle() {
		return true
	}
	if t.before < 0 {
		return false
	}
	p := &r.parts[t.before]
	if p.has("board proposal") && !p.has("board on proposal") ||
		p.has("board subject to", "possible", "planned", "denied", "past") {
		return true
	}
	return slices.ContainsFunc(p.values, func(v value.Value) bool {
		return v.Kind == value.Date && v.Month == 0 && v.Year > 0 && v.Year < r.Published.Year()
	})
}

// isProposalTitle reports whether the title says that the document has proposals or calls a
// meeting. Its lists are then not adopted.
func (r *reading) isProposalTitle() bool {
	return r.title.has("board proposal") && !r.title.has("board on proposal", "board decided")
}

// isBoardHeading reports whether a row heads a table with a row for each person.
func (p *part) isBoardHeading() bool {
	person := p.has("board person label") || p.hasBetween(0, 1, "board person column") && len(p.cells) > 2
	return person && p.has("board role label") && len(p.people(0, len(p.tokens))) == 0
}

// boardRow reads a row of a table by what its cells are: a person, a role, a change and
// a date.
func (r *reading) boardRow(named boardFact, head, row int) (boardFact, bool) {
	p := &r.parts[row]
	h := &r.parts[head]
	f := boardFact{draft: newDraft(), part: row}
	dates := 0
	for _, c := range p.cells {
		if n, ok := p.person(c.from); ok && n.to <= c.to && f.fields["person"] == "" {
			f.set("person", n.text, place{row, n.from, n.to})
			continue
		}
		if action, at, ok := p.actionNamed(c.from, c.to); ok && f.fields["action"] == "" {
			at.part = row
			f.set("action", action, at)
			continue
		}
		if at, ok := p.role(c.from, c.to); ok && at.from-c.from < 2 && f.fields["role"] == "" &&
			!isFormerColumn(h, p, c) {
			at.part = row
			f.set("role", p.textOf(at.from, at.to), at)
			continue
		}
		for _, v := range p.valuesIn(c.from, c.to) {
			if text, ok := date(v); ok {
				dates++
				if h.has("board effective label") && r.isWithin(text, 120, 800) {
					f.set("effective", text, place{row, v.From, v.To})
				}
			}
		}
	}
	if dates > 1 {
		delete(f.fields, "effective")
		delete(f.proof, "effective")
	}
	if f.fields["person"] == "" || r.isOldRow(h, p) {
		return f, false
	}
	action := named.fields["action"]
	if f.fields["action"] == "" && action != "" && !h.has("board action label") {
		f.set("action", action, named.proof["action"])
	}
	return f, f.fields["action"] != ""
}

// isFormerColumn reports whether a cell has the role before the change, in a table that has
// the new one too.
func isFormerColumn(head, p *part, c cell) bool {
	if len(head.cells) != len(p.cells) {
		return len(head.all("board role label")) > 1
	}
	roles := 0
	for _, name := range head.cells {
		if head.hasBetween(name.from, name.to, "board role label") {
			roles++
		}
	}
	name := head.cells[p.cellOf(c.from)]
	return roles > 1 && head.hasBetween(name.from, name.to, "past", "board current")
}

// isOldRow reports whether the day of a change in a row is long over. A column may have the
// day on which a person came to the board.
func (r *reading) isOldRow(head, p *part) bool {
	if r.Published.IsZero() || len(head.cells) != len(p.cells) {
		return false
	}
	for k := range p.values {
		text, ok := date(&p.values[k])
		if !ok || r.isWithin(text, 150, 1200) {
			continue
		}
		name := head.cells[p.cellOf(p.values[k].From)]
		if !head.hasBetween(name.from, name.to, "board since") {
			return true
		}
	}
	return false
}

// actionOfTable takes the change from the sentence before a table: "ha acordado los
// siguientes nombramientos:".
func (r *reading) actionOfTable(t *table) boardFact {
	f := boardFact{draft: newDraft()}
	if t.before < 0 {
		return f
	}
	p := &r.parts[t.before]
	if p.has("board subject to", "possible", "planned", "denied", "board composition") ||
		len(p.people(0, len(p.tokens))) > 0 {
		return f // who the members are behind the change of one of them
	}
	action, at, ok := p.actionNamed(0, len(p.tokens))
	if ok && (p.has("board decided") || p.english && p.mark(len(p.tokens)-1) == ":") {
		at.part = t.before
		f.set("action", action, at)
	}
	return f
}
