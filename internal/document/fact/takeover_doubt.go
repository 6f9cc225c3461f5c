package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// Much that a document says about bids is not about the bid that it announces: what may
// come, what was in another year, the bids of others.

// bidHistory is the age from which the bid of a sentence is history.
const bidHistory = 400 * 24 * time.Hour

// isBidHistory reports whether all days, months and years of a sentence are long over: "In
// 2023 X launched a tender offer for Y".
func (r *reading) isBidHistory(p *part) bool {
	if r.Published.IsZero() || p.cells != nil {
		return false
	}
	old := 0
	for k := range p.values {
		v := &p.values[k]
		if v.Kind != value.Date || v.Year == 0 {
			continue
		}
		end := time.Date(v.Year, time.Month(max(1, v.Month)), max(1, v.Day), 0, 0, 0, 0, time.UTC)
		if v.Month == 0 {
			end = end.AddDate(0, 11, 30)
		}
		if r.Published.Sub(end) <= bidHistory && !(v.IsYear() && v.Year < r.Published.Year()-1) {
			return false
		}
		old++
	}
	return old > 0
}

// ofOtherBid returns the token from which a sentence is about another bid than that of the
// report: "independiente de la formulada por X sobre Y". It returns the end if there is none.
func (p *part) ofOtherBid() int {
	first := len(p.tokens)
	for _, c := range p.all("takeover other bid") {
		first = min(first, c.from)
	}
	return first
}

// isUncertainBid reports whether a sentence only says what might be: it is hypothetical, or
// a possibility or a denial stands before the words at a token.
func (p *part) isUncertainBid(at int) bool {
	if p.isHypothetical() || p.isHearsay() || p.beginsWithSupposition() {
		return true
	}
	return slices.ContainsFunc(p.all("possible", "supposes", "takeover denies"), func(c cue) bool {
		return c.from < at && !p.isHarmless(c)
	})
}

// beginsWithSupposition reports whether a sentence begins with what is only supposed: "De
// consumarse la compraventa", "De no producirse".
func (p *part) beginsWithSupposition() bool {
	if p.word(0) != "de" {
		return false
	}
	verb := p.word(1)
	if verb == "no" {
		verb = p.word(2)
	}
	return isInfinitive(verb) || len(verb) > 5 && isInfinitive(strings.TrimSuffix(verb, "se"))
}

// isHearsay reports whether the verb of a sentence says what others tell or what would be:
// "habría decidido formular una oferta", "vendría obligada a formular".
func (p *part) isHearsay() bool {
	return slices.ContainsFunc(p.tokens, func(t value.Token) bool {
		if strings.HasSuffix(strings.TrimSuffix(t.Folded, "n"), "dria") { // "vendría obligada"
			return true
		}
		switch t.Folded {
		case "habria", "habrian", "hauria", "haurien", "tendria", "tendrian", "allegedly", "reportedly", "presuntamente", "supuestamente":
			return true
		}
		return false
	})
}

// isDenial reports whether the document denies that there is a bid.
func (r *reading) isDenial() bool {
	return r.title.has("takeover denial") || anyPart(r.parts, func(p *part) bool {
		return !p.aside && !p.isLong() && p.has("takeover denial") &&
			p.has("takeover offer", "takeover bid", "takeover report")
	})
}

// isOfParty reports whether the report is one of the bidder, of the target, or of an authority,
// or its title or category say that it is about a bid. Others tell of bids in passing: the
// adviser, the owner of some shares.
func (b *bid) isOfParty(bidder, target string) bool {
	r := b.r
	return r.Company == "" || r.isOfAuthority() || r.title.has("takeover offer", "takeover bid") || r.isFiledAsBid() ||
		r.isCompany(bidder) || r.isCompany(target) || r.Title == ""
}

// isToldBefore reports whether all days before words about the announcement of a bid are over for
// long: "El 9 de enero publicó el anuncio previo".
func (r *reading) isToldBefore(p *part, c cue) bool {
	const late = 45 // days
	days := 0
	for k := range p.values {
		v := &p.values[k]
		if v.Kind != value.Date || v.Year == 0 || v.Month == 0 || v.To > c.from {
			continue
		}
		day := time.Date(v.Year, time.Month(v.Month), max(1, v.Day), 0, 0, 0, 0, time.UTC)
		told := p.toldBetween(v.To, c)
		if r.Published.Before(day.AddDate(0, 0, late)) && !(told && r.Published.After(day.AddDate(0, 0, late/4))) {
			return false
		}
		days++
	}
	return days > 0 && !r.Published.IsZero() && p.cells == nil
}

// toldBetween reports whether a verb that tells of something published before stands between a
// token and words about a stage.
func (p *part) toldBetween(from int, c cue) bool {
	return slices.ContainsFunc(p.all("recalls"), func(q cue) bool { return q.from >= from && q.to <= c.from })
}

// isInterim reports whether the document counts acceptances while the period still runs.
func (b *bid) isInterim() bool {
	return b.r.title.has("takeover interim") || anyPart(b.r.parts, func(p *part) bool {
		return !p.aside && !p.isLong() && p.has("takeover interim")
	})
}

// isFiledAsBid reports whether the category of the report is that of bids.
func (r *reading) isFiledAsBid() bool {
	return strings.Contains(lexicon.Fold(r.Category), " ofertas publicas de adquisicion ")
}

// isUncertain reports whether the document says that it is not certain whether there will be
// a bid: it answers rumours, or tells of an interest that binds nobody.
func (b *bid) isUncertain() bool {
	return anyPart(b.r.parts, func(p *part) bool {
		return !p.aside && !p.isLong() && p.has("takeover uncertain")
	}) || b.r.title.has("takeover uncertain")
}

// isWithinOther reports whether words are part of a phrase of another class: "prior" of
// "prior announcement" tells nothing about the past.
func (p *part) isWithinOther(c cue, classes ...class) bool {
	return p.isHarmless(c) || slices.ContainsFunc(p.all(classes...), func(o cue) bool {
		return o.from <= c.from && c.to <= o.to && o.to-o.from > c.to-c.from
	})
}
