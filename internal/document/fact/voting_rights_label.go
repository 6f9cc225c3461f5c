package fact

// votesLabelCell returns the number of the cell with the label of a row. The mark of a list may
// stand in a cell before it: "(a)", "iv)".
func (p *part) votesLabelCell() int {
	const mark = 3 // tokens
	first := p.cells[0]
	if len(p.cells) < 3 || first.to-first.from < 2 || first.to-first.from > mark {
		return 0
	}
	letters := first.to - 2
	const longest = len("viii")
	isMark := p.mark(first.to-1) == ")" && p.word(letters) != "" && len(p.word(letters)) <= longest
	if isMark && (letters == first.from || p.mark(first.from) == "(") {
		return 1
	}
	return 0
}

// isNominalOfLabel reports whether words behind a label only say how much each share is, or that
// the capital is nominal: "ordinary shares of 5 pence each", "share capital (nominal)".
func (p *part) isNominalOfLabel(l cue) bool {
	if p.mark(l.from-1) == "(" && p.mark(l.to) == ")" {
		return true
	}
	const reach = 5
	for k := max(1, l.from-reach); k < l.from; k++ {
		isOf := p.word(k) == "de" || p.word(k) == "of"
		if isOf && (p.tokens[k+1].IsNumber() || p.startsValue(k+1)) && p.hasBetween(0, k, "votes shares") {
			return true
		}
	}
	return false
}

// changeColumns reports whether a row has three figures: that before, the change and that after.
// The heading must name the order, and the sum proves it.
func (f *votesFinder) changeColumns(p *part, first int, heading *part) bool {
	if heading == nil || len(p.cells) != first+4 || len(heading.cells) < 3 {
		return false
	}
	figures := p.figuresIn(cell{p.cells[first].to, len(p.tokens)})
	if len(figures) != 3 || !addsUp(figures[0], figures[1], figures[2]) {
		return false
	}
	cells := heading.cells[len(heading.cells)-3:]
	isEarlier := func(c cell) bool { return heading.hasBetween(c.from, c.to, "votes earlier") }
	isChange := heading.hasBetween(cells[1].from, cells[1].to, "capital column change")
	isNow := heading.hasBetween(cells[2].from, cells[2].to, "votes now") || isEarlier(cells[0])
	return isChange && isNow && !isEarlier(cells[2])
}

// isOfHolder reports whether a document is the form in which a holder tells its votes: a short
// line near its beginning names the one who has to.
func (f *votesFinder) isOfHolder() bool {
	const (
		beginning = 30
		short     = 10 // tokens
	)
	for i := range f.parts[:min(len(f.parts), beginning)] {
		p := &f.parts[i]
		isLabel := p.cells != nil || len(p.tokens) <= short || p.mark(len(p.tokens)-1) != "."
		if isLabel && p.hasBetween(0, short, "votes holder") {
			return true
		}
	}
	return false
}

// isAboutChange reports whether the title announces a change of the capital, which may tell at
// its end how many votes there are now.
func (f *votesFinder) isAboutChange() bool {
	title := f.title
	return title.has("votes capital document") && !title.has("votes title", "votes other document") &&
		!title.isOfGuide() && !title.isCalledOff() && !f.votesOfOther(title)
}

// hasAllTotals reports whether one sentence or table has the votes, the shares and the capital.
func (f *votesFinder) hasAllTotals() bool {
	for _, votes := range f.found["voting_rights"] {
		if f.hasBeside("shares", votes) && f.hasBeside("capital", votes) {
			return len(capitalChanges(f.reading)) == 1
		}
	}
	return false
}

// hasBeside reports whether a field has a value in the same sentence, or table, as a candidate.
func (f *votesFinder) hasBeside(field string, of candidate) bool {
	const near = 4 // rows
	for _, c := range f.found[field] {
		isRow := f.parts[c.at.part].cells != nil && f.parts[of.at.part].cells != nil
		distance := max(c.at.part-of.at.part, of.at.part-c.at.part)
		if distance == 0 || isRow && distance <= near {
			return true
		}
	}
	return false
}
