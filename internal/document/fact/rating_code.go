package fact

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// longTerm matches the ratings of long-term debt, on the scales of all agencies.
	longTerm = regexp.MustCompile(`^(?:AAA|AA[+-]?|A[+-]?|BBB[+-]?|BB[+-]?|B[+-]?|CCC[+-]?|CC[+-]?|C|SD|RD|D|Aaa|Aa[1-3]|A[1-3]|Baa[1-3]|` +
		`Ba[1-3]|B[1-3]|Caa[1-3]|Ca)$`)
	// ratingBefore are the words before a rating of one letter, which may also be a word
	// or an initial.
	ratingBefore = map[string]bool{
		"a": true, "to": true, "de": true, "en": true, "from": true, "desde": true, "hasta": true, "at": true, "of": true, "rating": true,
		"calificacion": true, "nota": true, "qualificacio": true, "the": true, "una": true,
	}
)

// ratingCode is a rating of long-term debt in a part.
type ratingCode struct {
	text     string
	from, to int
	old      bool // the rating until now
}

// ratingAt reads the rating at a token. DBRS writes A (low).
func (p *part) ratingAt(i int) (ratingCode, bool) {
	text := p.mark(i)
	if bare, ok := strings.CutSuffix(text, "sf"); ok && longTerm.MatchString(bare) { // AAsf, of structured finance
		return ratingCode{text: text, from: i, to: i + 1}, true
	}
	if !longTerm.MatchString(text) {
		return ratingCode{}, false
	}
	c := ratingCode{text: text, from: i, to: i + 1}
	if p.mark(i-1) == ")" && p.word(i-2) == "p" && p.mark(i-3) == "(" { // provisional
		c.text = "(P)" + text
		c.from = i - 3
		return c, true
	}
	next := i + 1
	if p.isExpectedBehind(next) {
		return ratingCode{}, false
	}
	if isRatingSign(p.mark(next)) && !p.tokens[next].Spaced && p.isRatingEnd(next+1) { // BB-, where the text had no space
		c.text += "-"
		c.to = next + 1
		if p.mark(next) == "+" {
			c.text = text + "+"
		}
	}
	if p.mark(next) == "(" && p.mark(next+2) == ")" {
		switch p.word(next + 1) {
		case "low", "high", "alto", "bajo", "alta", "baja":
			c.text = text + " (" + strings.ToLower(p.mark(next+1)) + ")"
			c.to = next + 3
		}
	}
	if end, suffix := p.structuredAt(c.to); end > c.to {
		c.text += suffix
		c.to = end
		return c, true
	}
	if len(c.text) == 1 && len(p.tokens) > 1 && !p.isAlone(i) {
		behind := p.mark(i + 1)
		quoted := strings.ContainsAny(p.mark(i-1), "«“\"‘'") // «A (Excelente)»
		if !quoted && !ratingBefore[p.word(i-1)] || behind == "." && p.isInitial(i) {
			return ratingCode{}, false
		}
	}
	return c, true
}

// isExpectedBehind reports whether the sign of a rating that is only expected stands at a token: "BBB-(EXP)".
func (p *part) isExpectedBehind(i int) bool {
	if isRatingSign(p.mark(i)) {
		i++
	}
	return p.mark(i) == "(" && p.word(i+1) == "exp"
}

// structuredAt reads the sign of structured finance behind a rating: "A+sf", "B (sf)". It
// returns its end, or the token if there is none.
func (p *part) structuredAt(k int) (end int, text string) {
	switch {
	case p.mark(k) == "sf" && !p.tokens[k].Spaced:
		return k + 1, "sf"
	case p.mark(k) == "(" && p.word(k+1) == "sf" && p.mark(k+2) == ")":
		if p.tokens[k].Spaced {
			return k + 3, " (sf)"
		}
		return k + 3, "(sf)"
	}
	return k, ""
}

func isRatingSign(mark string) bool {
	return mark == "-" || mark == "+" || mark == "–" || mark == "−"
}

// isRatingEnd reports whether no word follows directly at a token.
func (p *part) isRatingEnd(i int) bool {
	return i >= len(p.tokens) || p.tokens[i].Spaced || p.tokens[i].Folded == ""
}

// isInitial reports whether a letter is that of a name: "D. José".
func (p *part) isInitial(i int) bool {
	return i+2 < len(p.tokens) && p.tokens[i+2].IsCapital() && p.word(i) == "d"
}

// isAlone reports whether a token is a cell of its own.
func (p *part) isAlone(i int) bool {
	if p.cells == nil {
		return false
	}
	c := p.cells[p.cellOf(i)]
	return c.from == i && c.to == i+1
}

// ratingsIn returns the long-term ratings in a range of tokens.
func (p *part) ratingsIn(from, to int) (found []ratingCode) {
	for i := from; i < to; i++ {
		c, ok := p.ratingAt(i)
		if !ok {
			continue
		}
		clause, _ := p.clause(i)
		short := p.hasBetween(max(clause, i-8), min(p.endOfTerm(c.to), to), "rating short term")
		if !short {
			c.old = p.isOldRating(i)
			found = append(found, c)
		}
		i = c.to - 1
	}
	for n := 0; n+1 < len(found); n++ { // "de BB a BBB"
		a, b := &found[n], &found[n+1]
		linked := b.from == a.to+1 &&
			(p.word(a.to) == "a" || p.word(a.to) == "to" || p.word(a.to) == "hasta" || p.word(a.to) == "fins")
		if linked && (p.word(a.from-1) == "de" || p.word(a.from-1) == "from" || p.word(a.from-1) == "desde") {
			a.old = true
		}
	}
	return found
}

// endOfTerm returns the token up to which words behind a rating say which term it has:
// "BBB (corto plazo)", but not "BBB y a corto plazo A-2".
func (p *part) endOfTerm(from int) int {
	for k := from; k < from+4; k++ {
		switch {
		case p.mark(k) == ")", p.mark(k) == ",", p.word(k) == "y", p.word(k) == "and", p.word(k) == "i":
			return k
		}
	}
	return from + 4
}

// isOldRating reports whether the words before a rating say that it was the rating until
// now: "desde BB", "frente al anterior BB". In "desde BB hasta BBB" that is the first.
func (p *part) isOldRating(i int) bool {
	if p.wasUntilNow(i) {
		return true
	}
	for k := i - 1; k >= max(0, i-3); k-- {
		for _, c := range p.all("rating from") {
			if c.from == k || c.to == i && c.from < k {
				return true
			}
		}
		switch p.word(k) {
		case "hasta", "to", "a", "fins":
			return false
		}
		if _, ok := p.ratingAt(k); ok {
			return false
		}
	}
	return false
}

// wasUntilNow reports whether a verb before a rating tells what it was: "que se situaba en
// CCC", but not "was raised to BBB".
func (p *part) wasUntilNow(i int) bool {
	const reach = 5
	for k := i - 1; k >= max(0, i-reach) && !isClauseMark(p.mark(k)); k-- {
		isAction := func(c cue) bool { return c.from <= k && k < c.to && actionName(c.class) != "" }
		switch p.word(k) {
		case "situaba", "situava", "era", "eran", "estaba", "hallaba", "ostentaba", "was", "were", "stood":
			return true
		}
		if slices.ContainsFunc(p.cues, isAction) {
			return false
		}
	}
	return false
}
