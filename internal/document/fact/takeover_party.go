package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
)

// readDefinitions reads the parties from the terms that a document defines: "X, S.A. (la
// «Sociedad Afectada»)".
func (b *bid) readDefinitions(i int) {
	p := &b.r.parts[i]
	for _, n := range p.companies() {
		if p.mark(n.to) != "(" {
			continue
		}
		to := n.to
		for to < min(n.to+24, len(p.tokens)) && p.mark(to) != ")" {
			to++
		}
		bidder := p.hasBetween(n.to, to, "takeover bidder label")
		target := p.hasBetween(n.to, to, "takeover target label")
		switch {
		case bidder && !target:
			b.addName(&b.bidders, i, n)
		case target && !bidder:
			b.addName(&b.targets, i, n)
		}
	}
}

// readStatedParty reads a sentence that says who a party is: "The bidder is X, S.A., a
// Spanish company", "La sociedad afectada es X, S.A.".
func (b *bid) readStatedParty(i int) {
	const beginning = 4 // tokens
	p := &b.r.parts[i]
	companies := p.companies()
	if len(companies) == 0 || p.cells != nil {
		return
	}
	first := companies[0]
	for _, l := range p.withoutOverlap([]class{"takeover bidder label", "takeover target label"}) {
		verb := p.word(l.to)
		if l.from > beginning || verb != "is" && verb != "es" || first.from-l.to > 3 || first.from < l.to {
			continue
		}
		list := &b.bidders
		if l.class == "takeover target label" {
			list = &b.targets
		}
		b.addName(list, i, first)
		return
	}
}

// addTitled adds the target that the title names, if the document names that company:
// "Mandatory tender offer for X, S.A.". A target with another name is then not certain.
func (b *bid) addTitled() {
	title := b.r.title
	offers := title.all("takeover offer", "takeover bid")
	companies := title.companies()
	if len(offers) == 0 || len(companies) != 1 || companies[0].from < offers[0].to {
		return
	}
	if !title.leadsToTarget(companies[0].from) || b.r.isCompany(companies[0].text) {
		return
	}
	isTitled := func(c candidate) bool { return sameName(c.text, companies[0].text) }
	if slices.ContainsFunc(b.targets, isTitled) {
		return
	}
	for i := range b.r.parts {
		p := &b.r.parts[i]
		if p.aside || p.isLong() {
			continue
		}
		for _, n := range p.companies() {
			if sameName(n.text, companies[0].text) {
				b.addName(&b.targets, i, n)
				return
			}
		}
	}
}

// addOwnBid adds the company of the report as the bidder, if nobody else is, the target is
// another one, and it is the subject of the sentence that announces or withdraws the bid:
// "X comunica que, tras la compra de …, está obligada a formular una oferta".
func (b *bid) addOwnBid() {
	target, ok := agreedName(b.targets)
	if !ok || len(b.bidders) > 0 || b.r.isCompany(target.text) {
		return
	}
	for _, stage := range []string{"announced", "withdrawn", "result"} {
		for _, at := range b.told[stage] {
			if first, ok := b.ownSubject(at); ok {
				b.addName(&b.bidders, at.part, first)
				return
			}
		}
	}
}

// leadsToTarget reports whether the words before the company in a title say that the bid is for
// it: "sobre X", "de acciones de X".
func (p *part) leadsToTarget(company int) bool {
	switch p.word(company - 1) {
	case "for", "sobre", "over":
		return true
	case "de", "of":
		of := p.word(company - 2)
		return of == "acciones" || of == "shares"
	}
	return false
}

// readHeadedBidder reads the bidder in the first sentence below the heading that names it:
// "1. Identificación del oferente".
func (b *bid) readHeadedBidder(i int) {
	const longest = 6 // tokens of the heading
	p := &b.r.parts[i]
	if i == 0 || p.cells != nil {
		return
	}
	head := &b.r.parts[i-1]
	if len(head.tokens) > longest || head.cells != nil || !head.has("takeover bidder label") ||
		head.has("takeover target label") {
		return
	}
	companies := p.companies()
	if len(companies) == 0 || companies[0].from > 0 {
		return
	}
	if verb := p.word(companies[0].to); verb == "es" || verb == "is" {
		b.addName(&b.bidders, i, companies[0])
	}
}

// ownSubject returns the company of the report where it is the subject of the sentence with a
// stage of the bid.
func (b *bid) ownSubject(at place) (name, bool) {
	p := &b.r.parts[at.part]
	mentions := b.mentions(p)
	if p.cells != nil || len(mentions) == 0 || p.hasBetween(0, at.from, "takeover hears") {
		return name{}, false
	}
	first := mentions[0]
	if p.hasBetween(first.to, at.from, "other company", "takeover vehicle") {
		return name{}, false // its subsidiary makes the bid
	}
	return first, b.r.isCompany(b.textOf(first)) && first.to < at.from && p.isOpening(first)
}

// textOf returns the whole name of a mention.
func (b *bid) textOf(n name) string {
	if n.text == "" {
		return b.society.text
	}
	return n.text
}

// isOpening reports whether a company is the subject of its sentence: nothing stands before
// it, or only the law by which it reports: "Pursuant to article 16 of …, X announces".
func (p *part) isOpening(n name) bool {
	if n.from <= 1 {
		return true
	}
	const lead = 6 // tokens: "Con esta operación X pasa a"
	if n.from <= lead && p.hasBetween(n.to, n.to+2, "takeover holding") {
		return true
	}
	return p.mark(n.from-1) == "," && p.hasBetween(n.to, n.to+3, "takeover subject verb")
}

// readParties finds the parties by the words before their names.
func (b *bid) readParties(i int) {
	p := &b.r.parts[i]
	offers := p.all("takeover offer", "takeover bid")
	if len(offers) == 0 || p.has("past") && !p.hasStage() || p.has("takeover rumour") {
		return
	}
	first := offers[0].from
	end := p.ofOtherBid()
	companies := b.mentions(p)
	for n, c := range companies {
		if c.from >= end {
			break
		}
		from := 0
		if n > 0 {
			from = companies[n-1].to
		}
		next := len(p.tokens)
		if n+1 < len(companies) {
			next = companies[n+1].from
		}
		switch p.party(c, max(from, c.from-16), next, first) {
		case bidder:
			b.addName(&b.bidders, i, c)
		case target:
			b.addName(&b.targets, i, c)
		}
	}
}

// named returns the companies of a part, also those with a short name.
func (b *bid) named(p *part) []name {
	return append(p.companies(), b.aliasesIn(p)...)
}

// mentions returns the companies of a part, with those that are only called "la Sociedad".
// Their names are empty.
func (b *bid) mentions(p *part) []name {
	found := b.named(p)
	slices.SortStableFunc(found, func(a, b name) int { return a.from - b.from })
	if !b.hasSociety {
		return found
	}
	for _, c := range p.all("takeover society") {
		qualified := p.hasBetween(c.to-1, c.to+1, "takeover bidder label", "takeover target label")
		if !qualified && p.mark(c.from-1) != "(" {
			found = append(found, name{from: c.from, to: c.to})
		}
	}
	slices.SortStableFunc(found, func(a, b name) int { return a.from - b.from })
	return found
}

// alias is a short name that the document gives a company: X Industrial, S.A. («X»).
type alias struct {
	words []string // folded
	whole candidate
}

// mostAliases is the number of short names that are kept.
const mostAliases = 8

// aliases returns the short names that the document defines.
func (r *reading) aliases() (found []alias) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() {
			continue
		}
		for _, n := range p.companies() {
			words := p.aliasBehind(n)
			if len(words) > 0 && len(found) < mostAliases {
				found = append(found, alias{words, candidate{read: read{text: n.text}, at: place{i, n.from, n.to}}})
			}
		}
	}
	return found
}

// beforeAlias are the words before a short name in brackets: (en adelante, "X").
var beforeAlias = lexicon.NewSet("en adelante lo sucesivo hereinafter hereafter referred to as the o la el indistintamente")

// aliasBehind returns the words in quotes in the brackets behind a company, if they are the
// beginning of its name or part of it.
func (p *part) aliasBehind(n name) (words []string) {
	if p.mark(n.to) != "(" {
		return nil
	}
	for k := n.to + 1; k < min(n.to+12, len(p.tokens)) && p.mark(k) != ")"; k++ {
		w := p.word(k)
		if w == "" || len(words) == 0 && beforeAlias.Has(w) {
			continue
		}
		if !isCapitalAt(p, k) {
			return nil
		}
		words = append(words, w)
	}
	if len(words) == 0 || len(words) > 3 || !strings.Contains(lexicon.Fold(n.text), " "+strings.Join(words, " ")+" ") {
		return nil
	}
	return words
}

// aliasesIn returns the short names in a part, outside of the companies that it names.
func (b *bid) aliasesIn(p *part) (found []name) {
	if len(b.aliases) == 0 {
		return nil
	}
	companies := p.companies()
	for k := 0; k < len(p.tokens); k++ {
		for _, a := range b.aliases {
			to := k + len(a.words)
			inside := func(n name) bool { return n.from < to && k < n.to }
			if !isCapitalAt(p, k) || !p.isAt(k, a.words) || slices.ContainsFunc(companies, inside) {
				continue
			}
			if p.mark(to) == ")" || isQuote(p.mark(to)) { // its definition
				continue
			}
			found = append(found, name{from: k, to: to, text: a.whole.text})
			k = to - 1
			break
		}
	}
	return found
}

// isAt reports whether some words stand at a token.
func (p *part) isAt(k int, words []string) bool {
	for n, w := range words {
		if p.word(k+n) != w {
			return false
		}
	}
	return true
}

// society returns the company that the document calls "la Sociedad": the one behind
// which it says so, else that of the report, if the document has its name.
func (r *reading) society() (found candidate, ok bool) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.aside || p.isLong() {
			continue
		}
		for _, n := range p.companies() {
			c := candidate{read: read{text: n.text}, at: place{i, n.from, n.to}}
			defined := p.mark(n.to) == "(" && p.hasBetween(n.to, n.to+10, "takeover society name")
			if defined && !p.hasBetween(n.to, n.to+10, "takeover bidder label", "takeover target label") {
				return c, true
			}
			if !ok && r.isCompany(n.text) {
				found = c
				ok = true
			}
		}
	}
	return found, ok
}

// hasStage reports whether a part names a stage of a bid.
func (p *part) hasStage() bool {
	return slices.ContainsFunc(takeoverStages, func(s struct {
		class  class
		action string
	},
	) bool {
		return p.has(s.class)
	})
}

// The parties of a bid.
const (
	unknown = iota
	bidder
	target
)

// party tells which party a company is, by the words before it (from a token) and behind
// it (to another). The first words for the bid are at offer.
func (p *part) party(c name, from, next, offer int) int {
	from = max(from, p.lastBefore(from, c.from, "takeover offer"), p.lastBefore(from, c.from, "takeover bid"))
	by := p.closeBefore(from, c.from, "takeover by", 4)
	if by >= 0 && p.isBackedBy(by) {
		return unknown
	}
	of := p.closeBefore(from, c.from, "takeover of", 8)
	accepts := p.hasBetween(from, c.from, "takeover acceptor") && p.hasBetween(c.to, len(p.tokens), "takeover accepted")
	accepted := p.hasBetween(0, c.from, "takeover acceptor") && p.hasBetween(0, c.from, "takeover accepted")
	switch {
	case p.isActorOf(c, next, offer), p.isMakerBehind(c, offer), p.isHeardFrom(c, offer):
		return bidder
	case c.from < offer && accepts, p.isHeldTarget(c, from, next, offer), p.isToldTarget(c, next, offer):
		return target
	case c.from < offer && of < 0 && by < 0:
		own := (p.word(offer-1) == "its" || p.word(offer-1) == "su") && next > offer &&
			!p.hasBetween(c.to, offer, "takeover hears")
		if own || p.isSubject(c, next, offer) {
			return bidder
		}
		return unknown
	case by > of && c.from > offer:
		return bidder
	case of > by && c.from > offer:
		return target
	case p.isOffersOwn(c) && p.hasBetween(c.to, c.to+3, "takeover of"):
		return bidder
	case p.isOffersOwn(c) && accepted:
		return bidder
	}
	return unknown
}

// isBackedBy reports whether the participle before "by" says that someone does something else with
// a bid than to make it: "the bid is supported by X", "avalada por X".
func (p *part) isBackedBy(end int) bool {
	w := strings.TrimSuffix(p.word(end-2), "s")
	if by := p.word(end - 1); by != "by" && by != "por" && by != "per" || len(w) < 5 {
		return false
	}
	participle := strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "ado") || strings.HasSuffix(w, "ada") ||
		strings.HasSuffix(w, "ido") || strings.HasSuffix(w, "ida")
	return participle && !p.hasBetween(end-2, end-1, "takeover made")
}

// isActorOf reports whether a company is the one by which a bid is made, with "por" before it and
// the bid directly behind: "la presentación por X de una oferta".
func (p *part) isActorOf(c name, next, offer int) bool {
	const reach = 3 // tokens: "por la mercantil X", "de una oferta"
	if c.from > offer || next < offer || p.closeBefore(max(0, c.from-reach-4), c.from, "takeover by", reach) < 0 {
		return false
	}
	if w := p.word(offer - 2); offer-c.to == 2 || w == "de" || w == "of" || w == "d" {
		return p.hasBetween(0, c.from, "takeover making") &&
			!p.hasBetween(c.to, offer, "takeover bidder label", "takeover subject verb")
	}
	return false
}

// isHeldTarget reports whether a company is the one of which the bidder has shares or votes,
// and the bid is for its others: "tras alcanzar el 33 % de los derechos de voto de X, formulará
// una oferta sobre la totalidad de sus acciones".
func (p *part) isHeldTarget(c name, from, next, offer int) bool {
	ends := p.mark(c.to) == "," || p.word(c.to) == "y" || p.word(c.to) == "and"
	if from == 0 || c.from > offer || next < offer || !ends || !p.isForItsShares(offer) {
		return false
	}
	return p.closeBefore(from, c.from, "takeover held", 1) >= 0
}

// isToldTarget reports whether a company tells of the bid of another one for its own shares:
// "X comunica que Y ha decidido formular una oferta sobre la totalidad de sus acciones".
func (p *part) isToldTarget(c name, next, offer int) bool {
	told := p.hasBetween(c.to, c.to+3, "takeover subject verb") && p.hasBetween(offer, next, "takeover by")
	if c.from <= 1 && next > offer && told && p.hasBetween(next, len(p.tokens), "takeover its shares") {
		return true // "comunica que la CNMV ha autorizado la oferta formulada por X sobre sus acciones"
	}
	link := p.word(next - 1)
	by := (link == "por" || link == "by") && p.hasBetween(c.to, next, "takeover making")
	return c.from <= 1 && next < offer && (link == "que" || link == "that" || by) && p.isForItsShares(offer)
}

// isForItsShares reports whether the bid at a token is for "its shares".
func (p *part) isForItsShares(offer int) bool {
	const reach = 16
	return p.hasBetween(offer, offer+reach, "takeover its shares")
}

// isSubject reports whether a company is the subject of the sentence that tells of its
// bid. In "X comunica que ha recibido una oferta" it is the target.
func (p *part) isSubject(c name, next, offer int) bool {
	if p.hasBetween(c.to, offer, "takeover accepted", "denied") || p.isReceiver(c.to, offer) {
		return false
	}
	if next > offer && next < len(p.tokens) && p.closeBefore(offer, next, "takeover by", 3) >= 0 {
		return false // "X informa de que la oferta formulada por Y"
	}
	if next < offer { // "X, participada por Y, ha decidido" is about X, "X comunica que Y ha decidido" about Y
		link := p.word(next - 1)
		owned := p.mark(c.to) == "," && (link == "por" || link == "by" || link == "de" || link == "of")
		return owned && !p.hasBetween(c.to, next, "takeover subject verb") &&
			p.hasBetween(next, offer, "takeover subject verb")
	}
	return p.hasBetween(c.to, offer, "takeover subject verb")
}

// isReceiver reports whether words between a company and the bid say that it only hears of the
// bid. In "ha presentado ante la CNMV una oferta" they do not.
func (p *part) isReceiver(from, to int) bool {
	return slices.ContainsFunc(p.all("takeover receives"), func(c cue) bool {
		filed := p.word(c.from-1) == "ante" || p.word(c.from-2) == "ante" || p.word(c.from-1) == "with" ||
			p.word(c.from-2) == "with"
		return c.from >= from && c.from < to && !filed
	})
}

// closeBefore is lastBefore for a cue with at most some words, and no comma, behind it.
func (p *part) closeBefore(from, to int, of class, reach int) int {
	last := p.lastBefore(max(from, to-reach-6), to, of)
	if last < 0 || to-last > reach {
		return -1
	}
	for k := last; k < to; k++ {
		if p.mark(k) == "," {
			return -1
		}
	}
	return last
}

// lastBefore returns the end of the last cue of a class in a range of tokens, or -1.
func (p *part) lastBefore(from, to int, of class) int {
	last := -1
	for _, c := range p.all(of) {
		if c.from >= from && c.to <= to {
			last = max(last, c.to)
		}
	}
	return last
}

// isOffersOwn reports whether only "de" stands between the words for a bid and a company.
func (p *part) isOffersOwn(c name) bool {
	w := p.word(c.from - 1)
	if w != "de" && w != "of" && w != "d" {
		return false
	}
	return slices.ContainsFunc(p.all("takeover offer", "takeover bid"), func(o cue) bool {
		return c.from-1-o.to <= 1 && o.to <= c.from
	})
}
