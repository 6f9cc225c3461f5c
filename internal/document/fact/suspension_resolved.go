package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/value"
)

// Long sentences of lawyers tell how a decision came about before they say what was decided, and
// forms have the decision below its label.

// longestMeasureForm is the number of lines behind a decision in which a form has its day.
const longestMeasureForm = 10

// resolvedThat returns the token at which a sentence says that the authority has decided: "the CNMV,
// by resolution of which notice was served, has resolved, pursuant to article 65, that the shares are
// excluded". It returns 0 if it does not.
func (p *part) resolvedThat() int {
	const reach = 40 // tokens between the authority and its verb
	const law = 16   // tokens between the verb and what is decided
	found := 0
	for _, c := range p.all("grants measure") {
		who := max(p.lastBefore(c.from-reach, c.from, "authority"), p.lastBefore(c.from-reach, c.from, "measure market"))
		if who < 0 || p.namesOtherDecider(who, c.from) {
			continue
		}
		for k := c.to; k < min(c.to+law, len(p.tokens)); k++ {
			if p.word(k) == "that" || p.word(k) == "que" {
				isDirect := k == c.to || p.mark(c.to) == "," && p.mark(k-1) == ","
				if isDirect && found == 0 {
					found = c.from
				}
				break
			}
		}
	}
	return found
}

// namesOtherDecider reports whether a range of tokens between the authority and a verb names someone
// else who may be its subject: the meeting, the board, the company directly before it.
func (p *part) namesOtherDecider(from, to int) bool {
	for k := from; k < to; k++ {
		switch p.word(k) {
		case "junta", "consejo", "meeting", "board", "accionistas", "shareholders", "directors", "junte", "consell":
			return true
		case "company", "sociedad", "compania", "issuer", "emisor", "emisora", "societat", "bidder", "oferente":
			if k+2 >= to {
				return true
			}
		}
	}
	return false
}

// behindToken returns the rest of a sentence, from a token, as a part.
func (p *part) behindToken(from int) *part {
	rest := &part{
		page:    p.page,
		start:   p.start,
		text:    p.text,
		tokens:  p.tokens[from:],
		english: p.english,
	}
	for _, c := range p.cues {
		if c.from >= from {
			rest.cues = append(rest.cues, cue{c.class, c.from - from, c.to - from})
		}
	}
	for _, v := range p.values {
		if v.From >= from {
			v.From -= from
			v.To -= from
			v.Partner = -1
			rest.values = append(rest.values, v)
		}
	}
	return rest
}

// isBelowDecision reports whether a line is the value of the label of a decision in the line before
// it: "Medida", and below "Levantamiento de la suspensión".
func (r *reading) isBelowDecision(i int) bool {
	if i == 0 {
		return false
	}
	label := &r.parts[i-1]
	isWhole := func(c cue) bool { return c.class == "decides" && c.to == len(label.tokens) && c.from <= 2 }
	if label.cells != nil || label.aside || !slices.ContainsFunc(label.cues, isWhole) {
		return false
	}
	switch label.word(0) {
	case "medida", "decision", "measure", "resolucion", "acuerdo", "tipo", "instruccion", "instruction", "mesura":
		return r.hasEffectBelow(i)
	}
	return false
}

// hasEffectBelow reports whether a line of a form has a line behind it with the day of the effect,
// which may be that of the report.
func (r *reading) hasEffectBelow(i int) bool {
	for k := i + 1; k < min(i+longestMeasureForm, len(r.parts)); k++ {
		p := &r.parts[k]
		if _, ok := r.momentBelowLabel(k); ok {
			return true
		}
		if p.cells != nil || p.aside || !p.has("effect row") || len(p.values) > mostCues {
			continue
		}
		for n := range p.values {
			if day, ok := date(&p.values[n]); ok && r.isRecent(day) {
				return true
			}
		}
	}
	return false
}

// isEffectLine reports whether a part has a label in its first line and a day in the next: "Fecha de
// efectos", and below "9 de septiembre de 2026".
func (p *part) isEffectLine() bool {
	const longest = 8 // words of the label
	label, rest, ok := strings.Cut(p.text, "\n")
	return ok && len(strings.Fields(label)) <= longest && !strings.ContainsAny(label, ".,;") && rest != "" &&
		len(p.tokens) <= 3*longest
}

// introducedDay returns the day of the report, if the sentence before a decision says that the
// decision was made on it: "ha adoptado hoy, 12 de marzo de 2026, el siguiente acuerdo:".
func (r *reading) introducedDay(m measure) (day string, at place, ok bool) {
	const most = 3 // values: the day, and those of its date in another notation
	i := m.proof.part - 1
	if i < 0 || r.Published.IsZero() {
		return "", place{}, false
	}
	p := &r.parts[i]
	if p.aside || p.cells != nil || p.mark(len(p.tokens)-1) != ":" || !p.has("today") || !p.has("decides") {
		return "", place{}, false
	}
	var days []*value.Value
	for k := range p.values {
		if text, isDay := date(&p.values[k]); isDay {
			day = text
			days = append(days, &p.values[k])
		}
	}
	if len(days) != 1 || len(p.values) > most || day != r.Published.Format("2006-01-02") {
		return "", place{}, false
	}
	return day, r.placeOf(i, days[0]), true
}

// momentBelowLabel returns the day and hour in the line below one that is the label of the effect of a
// measure: "Fecha de efectos", and below "6 de octubre de 2026, 9:15 horas".
func (r *reading) momentBelowLabel(i int) (m measure, ok bool) {
	const longest = 14 // tokens of the line with the day
	if i+1 >= len(r.parts) {
		return measure{}, false
	}
	label, p := &r.parts[i], &r.parts[i+1]
	isWhole := func(c cue) bool { return c.class == "effect row" && c.from == 0 && c.to == len(label.tokens) }
	if label.cells != nil || p.cells != nil || p.aside || len(p.tokens) > longest || len(p.values) == 0 ||
		!slices.ContainsFunc(label.cues, isWhole) {
		return measure{}, false
	}
	v := &p.values[0]
	day, isDay := date(v)
	if !isDay || v.From > 0 || !r.isRecent(day) || p.nextDate(v.To) < len(p.tokens) {
		return measure{}, false
	}
	clock, _, _, vague := p.hour(v.To, len(p.tokens))
	m = measure{at: day, atAt: r.placeOf(i+1, v), vague: vague}
	if clock != "" {
		m.at += "T" + clock
	}
	return m, true
}
