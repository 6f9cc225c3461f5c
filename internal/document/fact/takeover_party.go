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

// addTitled adds the target that the title names, if the document names that company and
// says nothing else: "Mandatory tender offer for X, S.A.".
func (b *bid) addTitled() {
	title := b.r.title
	offers := title.all("takeover offer", "takeover bid")
	companies := title.companies()
	if len(offers) == 0 || len(companies) != 1 || len(b.targets) > 0 || companies[0].from < offers[0].to {
		return
	}
	link := title.word(companies[0].from - 1)
	if link != "for" && link != "sobre" && link != "over" || b.r.isCompany(companies[0].text) {
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
	for _, stage := range []string{"announced", "withdrawn"} {
		at, ok := b.stages[stage]
		if !ok {
			continue
		}
		p := &b.r.parts[at.part]
		mentions := b.mentions(p)
		if p.cells != nil || len(mentions) == 0 || p.hasBetween(0, at.from, "takeover hears") {
			continue
		}
		first := mentions[0]
		if text := b.textOf(first); b.r.isCompany(text) && first.to < at.from && p.isOpening(first) {
			b.addName(&b.bidders, at.part, first)
			return
		}
	}
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
	return p.mark(n.from-1) == "," && p.hasBetween(n.to, n.to+3, "takeover subject verb")
}

// readParties finds the parties by the words before their names.
func (b *bid) readParties(i int) {
	p := &b.r.parts[i]
	offers := p.all("takeover offer", "takeover bid")
	if len(offers) == 0 || p.has("past") && !p.hasStage() {
		return
	}
	first := offers[0].from
	companies := b.mentions(p)
	for n, c := range companies {
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

// mentions returns the companies of a part, with those that are only called "la Sociedad".
// Their names are empty.
func (b *bid) mentions(p *part) []name {
	found := append(p.companies(), b.aliasesIn(p)...)
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

// aliasBehind returns the words in quotes in the brackets behind a company, if they are the
// beginning of its name or part of it.
func (p *part) aliasBehind(n name) (words []string) {
	if p.mark(n.to) != "(" {
		return nil
	}
	for k := n.to + 1; k < min(n.to+8, len(p.tokens)) && p.mark(k) != ")"; k++ {
		w := p.word(k)
		if w == "" {
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
	of := p.closeBefore(from, c.from, "takeover of", 8)
	accepts := p.hasBetween(from, c.from, "takeover acceptor") && p.hasBetween(c.to, len(p.tokens), "takeover accepted")
	accepted := p.hasBetween(0, c.from, "takeover acceptor") && p.hasBetween(0, c.from, "takeover accepted")
	switch {
	case c.from < offer && accepts, p.isHeldTarget(c, from, next, offer), p.isToldTarget(c, next, offer):
		return target
	case c.from < offer && of < 0 && by < 0:
		own := (p.word(offer-1) == "its" || p.word(offer-1) == "su") && next > offer && !p.hasBetween(c.to, offer, "takeover hears")
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

// isHeldTarget reports whether a company is the one of which the bidder has shares or votes,
// and the bid is for its others: "tras alcanzar el 33 % de los derechos de voto de X, formulará
// una oferta sobre la totalidad de sus acciones".
func (p *part) isHeldTarget(c name, from, next, offer int) bool {
	if from == 0 || c.from > offer || next < offer || p.mark(c.to) != "," || !p.isForItsShares(offer) {
		return false
	}
	return p.closeBefore(from, c.from, "takeover held", 1) >= 0
}

// isToldTarget reports whether a company tells of the bid of another one for its own shares:
// "X comunica que Y ha decidido formular una oferta sobre la totalidad de sus acciones".
func (p *part) isToldTarget(c name, next, offer int) bool {
	link := p.word(next - 1)
	return c.from <= 1 && next < offer && (link == "que" || link == "that") && p.isForItsShares(offer)
}

// isForItsShares reports whether the bid at a token is for "its shares".
func (p *part) isForItsShares(offer int) bool {
	const reach = 16
	return p.hasBetween(offer, offer+reach, "takeover its shares")
}

// isSubject reports whether a company is the subject of the sentence that tells of its
// bid. In "X comunica que ha recibido una oferta" it is the target.
func (p *part) isSubject(c name, next, offer int) bool {
	if p.hasBetween(c.to, offer, "takeover accepted", "denied", "takeover receives") {
		return false
	}
	if next < offer { // "X, participada por Y, ha decidido" is about X, "X comunica que Y ha decidido" about Y
		link := p.word(next - 1)
		owned := p.mark(c.to) == "," && (link == "por" || link == "by" || link == "de" || link == "of")
		return owned && !p.hasBetween(c.to, next, "takeover subject verb") && p.hasBetween(next, offer, "takeover subject verb")
	}
	return p.hasBetween(c.to, offer, "takeover subject verb")
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
