package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/passage"
	"pregon/internal/document/value"
)

// takeoverLabels are the labels of forms and tables about a takeover bid.
var takeoverLabels = []class{
	"takeover bidder label",
	"takeover target label",
	"takeover action label",
	"takeover price label",
	"takeover acceptance label",
	"takeover other label",
}

// takeoverStages are the stages of a bid, the last first: a report of a later stage
// tells of the earlier ones.
var takeoverStages = []struct {
	class  class
	action string
}{
	{"takeover withdrawn", "withdrawn"},
	{"takeover result", "result"},
	{"takeover authorised", "authorised"},
	{"takeover accepted", "accepted"},
	{"takeover announced", "announced"},
}

// bid collects what a document says about a takeover bid.
type bid struct {
	r          *reading
	bidders    []candidate
	targets    []candidate
	prices     []candidate
	acceptance []candidate
	stages     map[string]place
	told       map[string][]place // all places of each stage
	aliases    []alias
	society    candidate // the company that the document calls "la Sociedad"
	hasSociety bool
	exchanges  bool // shares are offered, perhaps with money: no price is the whole one
}

// takeovers finds the takeover bid that a document is about.
func takeovers(r *reading) []draft {
	isPeriodic := r.title.isOfResults() || r.title.has("takeover periodic report")
	isOther := isPeriodic || r.title.has("takeover other subject")
	isRequest := r.title.has("takeover request") && !r.title.has("takeover first notice")
	if isOther && !r.title.has("takeover offer", "takeover bid") || isRequest ||
		r.title.has("takeover later step") || !r.isAboutBid() || r.isDenial() {
		return nil // they tell of a bid that is known
	}
	b := bid{
		r:      r,
		stages: map[string]place{},
		told:   map[string][]place{},
	}
	b.society, b.hasSociety = r.society()
	b.aliases = r.aliases()
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() {
			continue
		}
		b.readEntries(i)
		b.readLabelLines(i)
		if p.isProse() {
			b.readSentence(i)
		}
	}
	for n := range r.tables {
		b.readTable(&r.tables[n])
	}
	b.addTitled()
	b.addOwnBid()
	return b.drafts()
}

// isAboutBid reports whether the document names a takeover bid, or a bid of one company
// for another that has reached some stage, or the report is filed as one about a bid.
func (r *reading) isAboutBid() bool {
	if r.isFiledAsBid() {
		return true
	}
	return anyPart(r.parts, func(p *part) bool {
		if p.aside || p.isLong() {
			return false
		}
		return p.has("takeover offer") || p.hasStage() && p.has("takeover bid") && len(p.companies()) > 1
	})
}

// drafts returns the fact, if the document says which stage the bid has reached and
// whose it is.
func (b *bid) drafts() []draft {
	d := newDraft()
	if announced, ok := b.stages["announced"]; ok && announced.part <= b.stages["accepted"].part {
		delete(b.stages, "accepted") // the announcement of a bid names who has promised to accept it
	}
	if at, ok := b.stages["announced"]; ok && b.isFirstNotice(at) && b.titled() == "" &&
		at.part < b.stages["authorised"].part {
		delete(b.stages, "authorised") // that of an earlier or a competing bid
	}
	if b.isInterim() {
		delete(b.stages, "result")
	}
	if at, ok := b.stages["announced"]; ok && b.isUncertain() && !b.isFirstNotice(at) {
		delete(b.stages, "announced")
	}
	for _, stage := range takeoverStages {
		if at, ok := b.stages[stage.action]; ok {
			d.set("action", stage.action, at)
			break
		}
	}
	if titled := b.titled(); titled != "" && titled != d.fields["action"] {
		return nil
	}
	bidder, hasBidder := agreedName(b.bidders)
	target, hasTarget := agreedName(b.targets)
	if hasBidder && hasTarget && sameName(bidder.text, target.text) {
		hasBidder = false
		hasTarget = false
	}
	if d.fields["action"] == "" || !hasBidder && !hasTarget {
		return nil
	}
	if d.fields["action"] != "accepted" && !b.isOfParty(bidder.text, target.text) {
		return nil
	}
	if hasBidder {
		d.set("bidder", bidder.text, bidder.at)
	}
	if hasTarget {
		d.set("target", target.text, target.at)
	}
	if price, ok := agreed(b.ownPrices(bidder, target)); ok && !b.exchanges {
		d.set("price", price.text, price.at)
		d.set("currency", price.currency, price.at)
	}
	if d.fields["action"] == "result" {
		d.setAgreed("acceptance", b.acceptance)
	}
	return []draft{d}
}

// ownPrices returns the prices without those that follow the name of a third company only,
// such as that of the bid with which this one competes.
func (b *bid) ownPrices(bidder, target candidate) (own []candidate) {
	for _, price := range b.prices {
		isParty := func(n name) bool { return sameName(n.text, bidder.text) || sameName(n.text, target.text) }
		isBehind := func(n name) bool { return n.from > price.at.from }
		names := slices.DeleteFunc(b.named(&b.r.parts[price.at.part]), isBehind)
		if len(names) == 0 || slices.ContainsFunc(names, isParty) {
			own = append(own, price)
		}
	}
	return own
}

// isFirstNotice reports whether words about a stage are those of the first notice of a bid.
func (b *bid) isFirstNotice(at place) bool {
	return b.r.parts[at.part].hasBetween(at.from, at.to, "takeover first notice")
}

// titled returns the stage behind the announcement that the title of the report names.
func (b *bid) titled() string {
	title := b.r.title
	for _, stage := range takeoverStages {
		late := stage.action == "withdrawn" || stage.action == "result" || stage.action == "authorised"
		for _, c := range title.all(stage.class) {
			if late && !b.r.onlyRefers(title, c) && !title.has("takeover procedure") {
				return stage.action
			}
		}
	}
	return ""
}

// agreedName returns the name that all candidates have, without regard to case and marks.
func agreedName(all []candidate) (candidate, bool) {
	for _, c := range all {
		if !sameName(c.text, all[0].text) {
			return candidate{}, false
		}
	}
	if len(all) == 0 {
		return candidate{}, false
	}
	for _, c := range all {
		if !passage.AllCaps(c.text) { // headings are in capitals
			return c, true
		}
	}
	return all[0], true
}

func sameName(a, b string) bool { return lexicon.Fold(a) == lexicon.Fold(b) }

func (b *bid) addName(to *[]candidate, i int, n name) {
	if n.text == "" { // "la Sociedad"
		*to = append(*to, b.society)
		return
	}
	*to = append(*to, candidate{
		read: read{text: n.text},
		at:   place{i, n.from, n.to},
	})
}

// readEntries reads the labels of a form.
func (b *bid) readEntries(i int) {
	p := &b.r.parts[i]
	entries := b.r.entries(i, takeoverLabels)
	for _, e := range entries {
		if e.value.empty() {
			continue
		}
		from, to := e.value.from, e.value.to
		switch e.class {
		case "takeover bidder label", "takeover target label":
			for _, n := range p.companies() {
				if n.from < from || n.to > to {
					continue
				}
				list := &b.bidders
				if e.class == "takeover target label" {
					list = &b.targets
				}
				b.addName(list, i, n)
				break
			}
		case "takeover action label":
			b.readStage(i, from, to)
		case "takeover price label":
			heading, _ := value.ReadScale(p.tokens[e.label.from:e.label.to], p.english)
			b.readPriceIn(i, from, to, b.r.labelScale(e, heading))
		case "takeover acceptance label":
			b.readAcceptanceIn(i, from, to)
		}
	}
}

// readStage notes the stages that a range of tokens names.
func (b *bid) readStage(i, from, to int) {
	p := &b.r.parts[i]
	for _, stage := range takeoverStages {
		for _, c := range p.all(stage.class) {
			if c.from < from || c.from >= min(to, p.ofOtherBid()) || b.r.onlyRefers(p, c) || p.isOtherStep(c) {
				continue
			}
			if p.isProse() && p.isUncertainBid(c.from) || stage.action == "announced" && b.r.isToldBefore(p, c) {
				continue
			}
			b.told[stage.action] = append(b.told[stage.action], place{i, c.from, c.to})
			if _, ok := b.stages[stage.action]; !ok {
				b.stages[stage.action] = place{i, c.from, c.to}
			}
		}
	}
}

// onlyRefers reports whether words about a stage only mention it: "que fue autorizada
// el", "podrá desistir de la oferta".
func (r *reading) onlyRefers(p *part, c cue) bool {
	const reach = 3 // tokens between the words that refer to a stage and those for it
	refers := p.lastBefore(max(0, c.from-reach-4), c.from, "takeover refers")
	isClose := refers >= 0 && refers >= c.from-1 || p.hasBetween(max(0, c.from-reach), c.from, "takeover refers")
	if isClose || p.hasBetween(max(0, c.from-8), c.from, "takeover right") {
		return true
	}
	for _, v := range p.valuesIn(c.to, min(c.to+12, len(p.tokens))) {
		if text, ok := date(v); ok && !r.isWithin(text, 40, 400) && c.class != "takeover withdrawn" {
			return true
		}
	}
	return false
}

// objectReach is the number of tokens in which the bid follows the verb of a stage.
const objectReach = 14

// isOtherStep reports whether words about a stage belong to another step of the procedure:
// the extension of a period, the admission of an application, the report of a board, the
// decision of another authority, a settlement to come.
func (p *part) isOtherStep(c cue) bool {
	switch c.class {
	case "takeover result":
		hasShare := slices.ContainsFunc(p.values, func(v value.Value) bool { return v.Unit == "%" })
		return !hasShare && !p.heading && p.has("takeover future")
	case "takeover accepted":
		return false
	case "takeover authorised":
		isNoun := strings.HasPrefix(p.word(c.from), "autorizacion") || strings.HasPrefix(p.word(c.from), "authori") &&
			strings.HasSuffix(p.word(c.from), "ation") || p.word(c.from) == "autoritzacio"
		isSentence := p.cells == nil && p.mark(len(p.tokens)-1) == "."
		if isNoun && isSentence && !p.hasBetween(max(0, c.from-6), c.from, "takeover grants") {
			return true
		}
		isParticiple := p.hasBetween(c.from, c.from+1, "takeover bid")
		if isParticiple && isSentence {
			return true // "in its bid authorised on 16 November"
		}
		if p.hasBetween(0, c.from, "takeover other authority") ||
			p.hasBetween(c.to, c.to+6, "takeover other authority") {
			return true
		}
	case "takeover announced":
		if p.has("takeover own shares") {
			return true // a company buys back its shares
		}
		if w := p.word(c.to); p.hasBetween(c.from, c.to, "takeover tells") &&
			(w == "that" || w == "que" || p.mark(c.to) == ",") {
			return true // what is told follows: "announces that the offer has been accepted"
		}
		if p.has("takeover procedure") && !p.hasBetween(c.from, c.from+1, "takeover first notice") {
			return true
		}
	}
	return p.hasOtherObject(c)
}

// hasOtherObject reports whether what follows the verb of a stage is not the bid itself:
// "ha autorizado la ampliación del plazo de la oferta".
func (p *part) hasOtherObject(c cue) bool {
	end := c.to
	for end < min(c.to+objectReach, len(p.tokens)) && !isClauseMark(p.mark(end)) {
		end++
	}
	for _, offer := range p.all("takeover offer", "takeover bid") {
		if offer.from >= c.from && offer.to <= c.to {
			return false // "autorizar la oferta"
		}
		if offer.from >= c.to {
			end = min(end, offer.from)
		}
	}
	return p.hasBetween(c.to-1, end, "takeover other object")
}

// readSentence reads a sentence that names the bid.
func (b *bid) readSentence(i int) {
	p := &b.r.parts[i]
	b.readDefinitions(i)
	b.readStatedParty(i)
	b.readHeadedBidder(i)
	if p.has("example") || p.isBondOffer() || b.r.isBidHistory(p) ||
		!p.has("takeover offer", "takeover bid", "takeover price cue") {
		return
	}
	if p.has("takeover offer", "takeover bid") {
		b.readStage(i, 0, len(p.tokens))
		b.readParties(i)
		b.readAcceptance(i)
	}
	b.exchanges = b.exchanges || p.has("takeover exchange")
	b.readPrice(i)
}

// isBondOffer reports whether an offer is one for bonds, which is no takeover. An offer for
// shares may be one for convertible bonds too.
func (p *part) isBondOffer() bool {
	return p.has("capital bonds") && !slices.ContainsFunc(p.tokens, func(t value.Token) bool {
		return t.Folded == "acciones" || t.Folded == "shares" || t.Folded == "accions" || t.Folded == "convertibles"
	})
}

// readTable reads a table with a row for each bid, and rows with acceptances.
func (b *bid) readTable(t *table) {
	column := len(b.acceptance)
	b.readAcceptanceColumn(t)
	hasColumn := len(b.acceptance) > column
	for n, row := range t.rows {
		p := &b.r.parts[row]
		if p.aside || p.isLong() {
			continue
		}
		isHead := p.has("takeover bidder label") && p.has("takeover target label") && len(p.companies()) == 0
		if isHead && n+1 < len(t.rows) {
			b.readRow(row, t.rows[n+1])
		}
		label := p.cells[0]
		accepted := p.hasBetween(label.from, label.to, "takeover acceptance label") &&
			!p.hasBetween(label.from, label.to, "takeover minimum")
		if accepted && len(p.cells) > 1 && !hasColumn {
			b.readAcceptanceIn(row, p.cells[1].from, len(p.tokens))
		}
	}
	if t.before >= 0 && !b.r.parts[t.before].aside && !b.r.parts[t.before].isLong() {
		b.readStage(t.before, 0, len(b.r.parts[t.before].tokens))
	}
}

// readRow reads the row below the heading of a table: the companies in the order of
// their headings, and the price.
func (b *bid) readRow(head, row int) {
	h, p := &b.r.parts[head], &b.r.parts[row]
	companies := p.companies()
	labels := h.withoutOverlap([]class{"takeover bidder label", "takeover target label"})
	if len(companies) == len(labels) {
		for n, c := range companies {
			list := &b.bidders
			if labels[n].class == "takeover target label" {
				list = &b.targets
			}
			b.addName(list, row, c)
		}
	}
	for _, c := range h.withoutOverlap(takeoverLabels) {
		if c.class != "takeover price label" {
			continue
		}
		heading, _ := value.ReadScale(h.tokens[c.from:min(c.to+6, len(h.tokens))], h.english)
		for _, v := range p.values {
			got, ok := readPrice(p, &v, heading)
			if ok && v.Kind == value.Figure && v.Bound == "" && p.cellOf(v.From) >= h.cellOf(c.from) {
				b.prices = append(b.prices, candidate{read: got, at: b.r.placeOf(row, &v)})
				break
			}
		}
	}
}
