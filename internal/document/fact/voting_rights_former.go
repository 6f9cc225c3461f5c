package fact

import (
	"slices"

	"pregon/internal/document/value"
)

// isFormerTotal reports whether a value is in a clause that only says what was: "el capital
// social, que era de 5.000 euros, ha quedado fijado en 6.000 euros".
func (p *part) isFormerTotal(v *value.Value) bool { return p.formerClause(v.From) >= 0 }

// formerClause returns the first token of the clause of a token if it only says what was before,
// else -1. Something must follow it that says what is now.
func (p *part) formerClause(at int) int {
	if p.cells != nil {
		return -1
	}
	from, to := p.clause(at)
	if from == 0 || p.mark(from-1) != "," || p.mark(to) != "," {
		return -1
	}
	switch p.word(from) {
	case "que", "which", "cuya", "cuyo":
	default:
		return -1
	}
	if !p.hasBetween(from, to, "votes past verb") {
		return -1
	}
	return from
}

// namesEarlierTotals reports whether words in a range of tokens say that totals are earlier ones.
// "De lo anterior", "antes denominada" and a clause of its own about what was say nothing of
// those that follow.
func (p *part) namesEarlierTotals(from, to int) bool {
	for _, c := range p.all("votes earlier") {
		if c.from < from || c.from >= to || p.isForegoing(c) || p.isFormerVotesName(c) {
			continue
		}
		former := p.formerClause(c.from)
		if former < 0 || p.formerClause(min(to, len(p.tokens)-1)) == former {
			return true
		}
	}
	return false
}

// isForegoing reports whether words refer to what was said: "como consecuencia de lo anterior".
func (p *part) isForegoing(c cue) bool {
	return p.word(c.from) == "anterior" && (p.word(c.from-1) == "lo" || p.word(c.from-1) == "l")
}

// isFormerVotesName reports whether words name what the company was called: "antes denominada".
func (p *part) isFormerVotesName(c cue) bool {
	switch p.word(c.to) {
	case "denominada", "denominado", "llamada", "known", "called", "named":
		return true
	}
	return false
}

// tellsFormerTotal reports whether the verb of a sentence is in the past, outside of clauses that
// only tell what was before.
func (p *part) tellsFormerTotal() bool {
	return slices.ContainsFunc(p.all("votes past verb"), func(c cue) bool { return p.formerClause(c.from) < 0 })
}

// isSameNumber reports whether the words before a label of votes say that they are as many as the
// shares: "5.000 acciones, con igual número de derechos de voto".
func (p *part) isSameNumber(l cue) bool {
	if p.word(l.from) != "numero" && p.word(l.from) != "number" && p.word(l.from) != "nombre" {
		return false
	}
	switch p.word(l.from - 1) {
	case "igual", "mismo", "identico", "equal", "same", "mateix":
		return true
	}
	return false
}

// addSameNumber adds the total of shares that a sentence gave as that of the votes.
func (f *votesFinder) addSameNumber(i int) {
	var shares []candidate
	for _, c := range f.found["shares"] {
		if c.at.part == i {
			shares = append(shares, c)
		}
	}
	if c, ok := agreed(shares); ok {
		f.add("voting_rights", c.read, c.at)
	}
}
