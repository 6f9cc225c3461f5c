package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// The words that make a value doubtful act on different parts of a sentence. A
// condition or a proposal acts on all of it, wherever it stands: "0,10 euros por acción,
// sujeto a la aprobación de la Junta". A possibility acts on what follows it, and on its
// own clause. A word about an earlier period acts on its own clause: "0,37 euros por
// acción, frente a los 0,32 del año anterior".
var (
	doubtsAnywhere = []class{"planned", "policy", "proposal", "conditional", "example", "other company", "called off"}
	doubtsBehind   = []class{"possible", "denied"}
	doubtsInClause = []class{"past", "earlier paid"}
)

// mostCues is the number of cues in a part beyond which nothing in it is certain. It
// bounds the work for each value.
const mostCues = 300

// clauses are the clauses of a sentence, and the words in it that raise doubts.
type clauses struct {
	p      *part
	starts []int        // for each token, the first token of its clause
	ends   []int        // for each token, the token behind its clause
	doubts []cue        // without the harmless ones
	valued map[int]bool // the clauses with a value, by their first tokens
	full   bool
}

// clausesOf divides a part at commas, semicolons, brackets, and where a comparison
// begins.
func clausesOf(p *part) *clauses {
	c := &clauses{
		p:      p,
		starts: make([]int, len(p.tokens)),
		ends:   make([]int, len(p.tokens)),
		valued: map[int]bool{},
		full:   len(p.cues) > mostCues,
	}
	if c.full {
		return c
	}
	begins := map[int]bool{} // the tokens at which a clause begins without a mark
	for _, q := range p.cues {
		if q.class == "comparison" {
			begins[q.from] = true
		}
	}
	for _, cell := range p.cells {
		begins[cell.from] = true
	}
	start := 0
	for i := range p.tokens {
		if i > 0 && (dividesClauses(p.tokens[i-1].Text) || begins[i]) {
			start = i
		}
		c.starts[i] = start
	}
	end := len(p.tokens)
	for i := len(p.tokens) - 1; i >= 0; i-- {
		if i+1 < len(p.tokens) && c.starts[i+1] != c.starts[i] {
			end = i + 1
		}
		c.ends[i] = end
	}
	for _, v := range p.values {
		c.valued[c.starts[v.From]] = true
	}
	c.findDoubts()
	return c
}

func dividesClauses(mark string) bool {
	switch mark {
	case ",", ";", "(", ")", "[", "]", "—", "•":
		return true
	}
	return false
}

// paidVerbs are verbs in the past that are also nouns or another tense without their
// accents.
var paidVerbs = []string{
	"pagó", "abonó", "repartió", "distribuyó", "satisfizo", "pagaron", "abonaron", "repartieron", "desembolsó", "percibieron",
}

// findDoubts collects the words that raise doubts. Those within a harmless phrase do
// not: "de conformidad con lo previsto en".
func (c *clauses) findDoubts() {
	harmless := c.p.all("harmless phrase")
	for _, q := range c.p.cues {
		covered := func(h cue) bool { return h.from <= q.from && q.to <= h.to }
		if raisesDoubt(q.class) && !slices.ContainsFunc(harmless, covered) {
			c.doubts = append(c.doubts, q)
		}
	}
	for i, t := range c.p.tokens {
		if slices.Contains(paidVerbs, strings.ToLower(t.Text)) {
			c.doubts = append(c.doubts, cue{"earlier paid", i, i + 1})
		}
	}
}

// raisesDoubt reports whether the words of a class make a value doubtful.
func raisesDoubt(c class) bool {
	return slices.Contains(doubtsAnywhere, c) || slices.Contains(doubtsBehind, c) || slices.Contains(doubtsInClause, c)
}

// unsure reports whether the words around a value say that it is no fact of this report.
func (c *clauses) unsure(at int) bool {
	if c.full {
		return true
	}
	for _, q := range c.doubts {
		switch {
		case slices.Contains(doubtsAnywhere, q.class):
			return true
		case slices.Contains(doubtsBehind, q.class):
			if q.from < c.ends[at] {
				return true
			}
		case c.starts[q.from] == c.starts[at] && !c.isOfAdded(q, at),
			c.inBracketsBehind(at, q.from),
			q.class == "earlier paid" && c.saysOf(q, at):
			return true
		case q.from < at && !c.valued[c.starts[q.from]] && !c.startsComparison(q.from) &&
			!c.p.hasBetween(q.to, at, "remaining part"):
			// A clause without a value is about what follows it: "En el ejercicio anterior,
			// la sociedad pagó 0,30 euros".
			return true
		}
	}
	return false
}

// isOfAdded reports whether a word behind a value is about the amount that is added to it: "el 2 de
// junio y que se añade al dividendo a cuenta de 0,12 euros que ya fue satisfecho".
func (c *clauses) isOfAdded(q cue, at int) bool {
	const longest = 40 // tokens
	if q.from < at || q.from-at > longest || c.p.cells != nil {
		return false
	}
	adds := -1
	for i := at; i < q.from && adds < 0; i++ {
		switch c.p.word(i) {
		case "anade", "anaden", "suma", "suman", "adicional", "adicionales", "adds", "addition", "additional":
			adds = i
		}
	}
	return adds >= 0 &&
		slices.ContainsFunc(c.p.valuesIn(adds, q.from), func(v *value.Value) bool { return v.Kind == value.Figure })
}

// inBracketsBehind reports whether a value is in brackets directly behind the clause of a
// word: "respecto al pagado en mayo de 2025 (0,227 euros)".
func (c *clauses) inBracketsBehind(at, word int) bool {
	start := c.starts[at]
	return start > 1 && c.p.mark(start-1) == "(" && c.ends[word] >= start-1 && word < start
}

// saysOf reports whether a verb at the beginning of a clause has the value of the clause before
// it: "una parte, por importe de 0,20 euros por acción, fue anticipada en julio".
func (c *clauses) saysOf(verb cue, at int) bool {
	start := c.starts[verb.from]
	if start == 0 || c.ends[at] != start || c.p.mark(start-1) != "," {
		return false
	}
	if c.p.word(verb.from) == "que" || c.p.word(verb.from) == "por" || c.p.word(verb.from) == "same" {
		return false
	}
	return verb.from == start || verb.from == start+1 && len(c.p.word(start)) <= 5
}

// startsComparison reports whether the clause of a token begins with a comparison.
func (c *clauses) startsComparison(i int) bool {
	return c.p.hasBetween(c.starts[i], c.starts[i]+1, "comparison")
}

// closingForms end the name of a company.
var closingForms = []string{"SA", "SAU", "SE", "plc", "PLC", "SL", "SLU", "SCA", "NV", "AG", "SpA", "Inc", "Ltd", "SOCIMI"}

// namesOther reports whether a part is about another company: it speaks of the
// shareholders, the shares or the meeting of a company with another name.
func (r *reading) namesOther(p *part) bool {
	if !p.namesRead {
		p.namesRead = true
		p.namesOther = r.readsOther(p)
	}
	return p.namesOther
}

// readsOther is namesOther, read from the words of the part. Most rules ask for it.
func (r *reading) readsOther(p *part) bool {
	if r.Company == "" || len(p.tokens) > longestNamed {
		return false
	}
	if name := p.companyAt(0); len(name) > 0 && !r.sharesName(name) {
		return true // the subject of the sentence
	}
	for i := range p.tokens {
		switch p.word(i) {
		case "accionistas", "shareholders", "acciones", "shares", "ordinaria", "extraordinaria", "meeting", "entidad", "cotizacion",
			"accions", "bonistas", "filial":
		default:
			continue
		}
		if link := p.word(i + 1); link != "de" && link != "of" && link != "d" {
			continue
		}
		if name := p.companyAt(i + 2); len(name) > 0 && !r.sharesName(name) {
			return true
		}
	}
	return false
}

// longestNamed is the length of a part, in tokens, in which names of companies are read.
const longestNamed = 2000

// companyAt returns the words of the name of a company that begins at a token, if it has
// its legal form behind it.
func (p *part) companyAt(i int) (name []string) {
	const longest = 10
	if i >= len(p.tokens) || !p.tokens[i].IsCapital() {
		return nil
	}
	for k := i; k < min(i+longest, len(p.tokens)); k++ {
		if slices.Contains(closingForms, p.mark(k)) || p.mark(k) == "S" && p.mark(k+1) == "." {
			return name
		}
		switch word := p.word(k); {
		case p.tokens[k].IsCapital():
			name = append(name, word)
		case len(word) > 3:
			return nil
		}
	}
	return nil
}

// sharesName reports whether a name has a word with that of the company of the report.
func (r *reading) sharesName(name []string) bool {
	return slices.ContainsFunc(name, func(word string) bool { return word != "del" && slices.Contains(r.own, word) })
}

// longest returns the cues of some classes, in their order, without those within a
// longer one: "dejarán de cotizar con derecho" has the cue "con derecho" of a different
// meaning.
func (p *part) longest(classes ...class) []cue {
	all := p.all(classes...)
	var kept []cue
	for n, c := range all {
		covered := false
		// Cues are in the order of their beginnings, and phrases are short.
		for k := max(0, n-8); k < min(len(all), n+8); k++ {
			o := all[k]
			covered = covered || o.from <= c.from && c.to <= o.to && o.to-o.from > c.to-c.from
		}
		if !covered {
			kept = append(kept, c)
		}
	}
	return kept
}

// lastCue returns the last cue that lies in a range of tokens.
func lastCue(cues []cue, from, to int) (found cue, ok bool) {
	for _, c := range cues {
		if c.from >= from && c.to <= to && (!ok || c.to >= found.to) {
			found, ok = c, true
		}
	}
	return found, ok
}

// firstCue returns the first cue that lies in a range of tokens.
func firstCue(cues []cue, from, to int) (cue, bool) {
	for _, c := range cues {
		if c.from >= from && c.to <= to {
			return c, true
		}
	}
	return cue{}, false
}
