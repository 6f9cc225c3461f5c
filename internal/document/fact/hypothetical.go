package fact

import (
	"slices"
	"strings"
)

// irregularConditionals are verbs such as "habría", of which no noun has the form.
var irregularConditionals = []string{"habría", "tendría", "podría", "vendría", "saldría", "valdría", "cabría", "debería"}

// isHypothetical reports whether a sentence only says what would be: it begins with a
// condition, or its verb is in the conditional.
func (p *part) isHypothetical() bool {
	if p.cells != nil {
		return false
	}
	if p.beginsWithCondition() {
		return true
	}
	for k := range p.tokens {
		if p.isConditionalVerb(k) {
			return true
		}
	}
	return false
}

// beginsWithCondition reports whether a sentence begins with the words of a condition.
func (p *part) beginsWithCondition() bool {
	const beginning = 2 // tokens
	return slices.ContainsFunc(p.all("conditional", "supposes"), func(c cue) bool {
		return c.from < beginning && !p.isHarmless(c)
	})
}

// isConditionalVerb reports whether a word is a verb such as "pasaría" or "quedarían". Nouns
// with the same end, such as "mayoría" and "auditoría", have an article or a preposition
// before them.
func (p *part) isConditionalVerb(k int) bool {
	text := strings.TrimSuffix(p.mark(k), "n")
	if slices.Contains(irregularConditionals, text) {
		return true
	}
	if !strings.HasSuffix(text, "aría") && !strings.HasSuffix(text, "ería") && !strings.HasSuffix(text, "iría") &&
		!strings.HasSuffix(text, "bría") && !strings.HasSuffix(text, "dría") {
		return false
	}
	switch p.word(k - 1) {
	case "", "la", "una", "de", "su", "por", "en", "y", "con", "a", "cada", "esta", "dicha", "misma", "e", "o", "gran":
		return false
	}
	return !p.tokens[k].IsCapital() && text != "varía"
}

// withoutMonths returns cues without those that take a month for a possibility: "from May 1",
// "in May 2026".
func (p *part) withoutMonths(cues []cue) []cue {
	return slices.DeleteFunc(cues, func(c cue) bool {
		if c.class != "possible" || c.to != c.from+1 || p.mark(c.from) != "May" {
			return false
		}
		isNumber := func(k int) bool { return k >= 0 && k < len(p.tokens) && p.tokens[k].IsNumber() }
		return isNumber(c.from-1) || isNumber(c.to)
	})
}
