package fact

import (
	"strings"

	"pregon/internal/document/value"
)

// Forms may have each label in a line of its own, with its value in the next line, and tables
// the acceptances in columns.

// readLabelLines reads the labels that are lines of their own, with the values below them.
func (b *bid) readLabelLines(i int) {
	p := &b.r.parts[i]
	label, ok := p.bidLabelLine()
	if !ok {
		return
	}
	at := place{i, label.to, p.endOfBidLine(label.to)}
	if at.empty() {
		at, ok = b.valueBelow(i)
	}
	if !ok || at.empty() {
		return
	}
	switch label.class {
	case "takeover bidder label":
		b.addNameOf(&b.bidders, at)
	case "takeover target label":
		b.addNameOf(&b.targets, at)
	case "takeover action label":
		b.readStage(at.part, at.from, at.to)
	case "takeover price label":
		heading, _ := value.ReadScale(p.tokens[label.from:label.to], p.english)
		b.readPriceIn(at.part, at.from, at.to, heading)
	case "takeover acceptance label":
		b.readAcceptanceIn(at.part, at.from, at.to)
	}
}

// bidLabelLine returns the label that is the whole first line of a part. A number may stand before
// it.
func (p *part) bidLabelLine() (cue, bool) {
	first := 0
	for first < min(3, len(p.tokens)) && p.word(first) == "" {
		first++
	}
	if p.cells != nil {
		return cue{}, false
	}
	for _, c := range p.withoutOverlap(takeoverLabels) {
		if c.from == first {
			return c, p.endOfBidLine(c.from) == c.to
		}
	}
	return cue{}, false
}

// endOfBidLine returns the token behind the line of a token.
func (p *part) endOfBidLine(from int) int {
	for k := from + 1; k < len(p.tokens); k++ {
		if strings.Contains(p.text[p.tokens[k-1].End():p.tokens[k].At], "\n") {
			return k
		}
	}
	return len(p.tokens)
}

// valueBelow returns the line below a part that is a label: a short one, which is no label or
// number.
func (b *bid) valueBelow(i int) (place, bool) {
	const longest = 16 // tokens
	if i+1 >= len(b.r.parts) {
		return place{}, false
	}
	p := &b.r.parts[i+1]
	_, isLabel := p.bidLabelLine()
	end := p.endOfBidLine(0)
	if isLabel || p.aside || p.cells != nil || end > longest || p.page != b.r.parts[i].page {
		return place{}, false
	}
	return place{i + 1, 0, end}, true
}

// addNameOf adds the company that is the whole of a line.
func (b *bid) addNameOf(to *[]candidate, at place) {
	const lead = 2 // tokens: an article
	p := &b.r.parts[at.part]
	for _, n := range p.companies() {
		if n.from >= at.from && n.from <= at.from+lead && n.to <= at.to {
			b.addName(to, at.part, n)
			return
		}
	}
}

// readAcceptanceColumn reads the row of the acceptances in a table with a column for their share
// of the shares to which the bid is addressed.
func (b *bid) readAcceptanceColumn(t *table) {
	head := &b.r.parts[t.rows[0]]
	column := head.acceptanceColumn()
	if column < 0 {
		return
	}
	for _, row := range t.rows[1:] {
		p := &b.r.parts[row]
		shift := len(p.cells) - len(head.cells) // 1 if the heading of the labels is empty
		if p.aside || p.isLong() || shift < 0 || shift > 1 || column+shift < 1 {
			continue
		}
		share := p.cells[column+shift]
		label := p.cells[0]
		if !p.hasBetween(label.from, label.to, "takeover acceptance label", "takeover result") ||
			p.hasBetween(label.from, label.to, "takeover minimum") {
			continue
		}
		for _, v := range p.valuesIn(share.from, share.to) {
			figure := *v
			if figure.Unit == "" {
				figure.Unit = "%" // of the heading
			}
			if text, ok := percent(&figure); ok && v.Kind == value.Figure {
				b.acceptance = append(b.acceptance, candidate{read: read{text: text}, at: place{row, v.From, v.To}})
				return
			}
		}
	}
}

// acceptanceColumn returns the column that has the share of the acceptances, or -1.
func (p *part) acceptanceColumn() int {
	found := -1
	for n, c := range p.cells {
		isShare := false
		for k := c.from; k < c.to; k++ {
			w := p.word(k)
			isShare = isShare || p.mark(k) == "%" || w == "porcentaje" || w == "percentage" || w == "percentatge"
		}
		if !isShare || !p.hasBetween(c.from, c.to, "takeover addressed") {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = n
	}
	return found
}

// isMakerBehind reports whether a relative clause behind the bid says that a company made it: "una
// oferta que X («X») presentó el 3 de julio".
func (p *part) isMakerBehind(c name, offer int) bool {
	link := p.word(c.from - 1)
	if c.from < offer || link != "que" && link != "which" && link != "that" {
		return false
	}
	verb := p.behindBrackets(c.to)
	return p.hasBetween(verb, verb+1, "takeover maker verb")
}

// isHeardFrom reports whether a company is the one from which the decision to make a bid is heard:
// "ha recibido de X la comunicación de su decisión de formular una oferta".
func (p *part) isHeardFrom(c name, offer int) bool {
	if c.from > offer || p.lastBefore(max(0, c.from-6), c.from, "takeover hears from") != c.from {
		return false
	}
	for k := c.to; k < offer; k++ {
		own := p.word(k) == "su" || p.word(k) == "its"
		if own && p.hasBetween(k+1, offer, "takeover first notice", "takeover withdrawn") {
			return true
		}
	}
	return false
}
