package fact

import (
	"slices"
	"time"

	"pregon/internal/document/value"
)

// setEffective sets the date on which a change has effect, in a range of tokens.
func (r *reading) setEffective(f *boardFact, i, from, to int) {
	p := &r.parts[i]
	for _, c := range p.all("board effective", "board from", "board namely") {
		if c.from < from || c.from >= to || c.class == "board namely" && !p.isNamelyEffective(c) {
			continue
		}
		for _, v := range p.valuesIn(c.to, min(to, p.endOfEffective(c))) {
			text, ok := date(v)
			late := 60
			if c.class == "board from" || c.class == "board namely" {
				late = 5
				ok = ok && v.From-c.to <= 2
			}
			if !ok || !r.isWithin(text, late, 800) || v.Partner >= 0 || p.hasBetween(c.to, v.From, "meeting held") {
				continue
			}
			if old := f.fields["effective"]; old != "" && old != text {
				delete(f.fields, "effective")
				delete(f.proof, "effective")
				return
			}
			f.set("effective", text, place{i, v.From, v.To})
			break
		}
	}
}

// endOfEffective returns the token up to which the day of a change is looked for. Words between that
// are not divided by a mark may be more: "amb efectes des del mateix dia 2 de novembre de 2026".
func (p *part) endOfEffective(c cue) int {
	const reach, farthest = 8, 11
	for k := c.to; k < min(c.to+farthest, len(p.tokens)); k++ {
		if m := p.mark(k); m == "," || m == ";" || m == "(" || m == "." {
			return max(c.to+reach, k)
		}
	}
	return c.to + farthest
}

// isNamelyEffective reports whether words such as "es decir" explain when a change has effect: "with
// effect from the close of the meeting, that is, 28 May 2026".
func (p *part) isNamelyEffective(c cue) bool {
	const reach = 14 // tokens
	return p.mark(c.from-1) == "," && p.hasBetween(max(0, c.from-reach), c.from, "board effective")
}

// setEffectiveToday sets the day of the report where a clause says that a change has effect on
// it: "con efectos desde el día de hoy", or at the end of a meeting that was held today.
func (r *reading) setEffectiveToday(f *boardFact, i, from, to int) {
	p := &r.parts[i]
	if f.fields["effective"] != "" || r.Published.IsZero() {
		return
	}
	r.setEffectiveThen(f, i, from, to)
	for _, c := range p.all("board effective today", "board effective then") {
		today := c.class == "board effective today" || p.isHeldToday(c.from)
		if c.from >= from && c.from < to && today && len(p.valuesIn(c.to, c.to+4)) == 0 {
			f.set("effective", r.Published.Format(time.DateOnly), place{i, c.from, c.to})
			return
		}
	}
}

// setEffectiveThen sets the day to which a clause refers: "con efectos desde esa misma fecha".
// It is the last day before with effect, else the only day of the sentence.
func (r *reading) setEffectiveThen(f *boardFact, i, from, to int) {
	for _, c := range r.parts[i].all("board effective same day") {
		if c.from < from || c.from >= to {
			continue
		}
		if day, at, ok := r.dayBefore(i, c.from); ok && r.isWithin(day, 60, 800) {
			f.set("effective", day, at)
		}
		return
	}
}

// dayBefore returns the day that words such as "la misma fecha" mean.
func (r *reading) dayBefore(i, before int) (day string, at place, ok bool) {
	const reach = 3 // sentences
	for k := i; k >= max(0, i-reach); k-- {
		p := &r.parts[k]
		if p.aside || p.cells != nil {
			break
		}
		if k < i {
			before = len(p.tokens)
		}
		days, today := p.daysBefore(before)
		switch {
		case len(days) == 0 && !today:
			continue
		case len(days) == 0:
			return r.Published.Format(time.DateOnly), place{k, 0, 1}, !r.Published.IsZero()
		}
		last := days[len(days)-1]
		day, _ = date(last)
		at = place{k, last.From, last.To}
		if p.hasBetween(last.From-5, last.From, "board effective") {
			return day, at, true
		}
		return day, at, len(days) == 1 && !today
	}
	return "", place{}, false
}

// daysBefore returns the days that a part names before a token, and whether it names today. A
// day that is named twice is one.
func (p *part) daysBefore(before int) (days []*value.Value, today bool) {
	for k := range p.values {
		v := &p.values[k]
		text, ok := date(v)
		if !ok || v.To > before {
			continue
		}
		same := slices.ContainsFunc(days, func(d *value.Value) bool {
			other, _ := date(d)
			return other == text
		})
		if !same {
			days = append(days, v)
		}
	}
	return days, p.hasBetween(0, before, "today")
}

// isHeldToday reports whether words before a token say that a meeting was held today.
func (p *part) isHeldToday(before int) bool {
	const reach = 6
	return slices.ContainsFunc(p.all("today"), func(c cue) bool {
		return c.from < before && p.hasBetween(c.from-reach, c.from, "meeting held")
	})
}

// withoutConditional drops the changes of the sentences before one that makes them depend on
// something that is still open: "El nombramiento queda sujeto a la no oposición del Banco de
// España". It refers to the changes of the last sentence that has some.
func (r *reading) withoutConditional(i int, all []boardFact) []boardFact {
	p := &r.parts[i]
	open := p.isConditional(0, len(p.tokens)) || p.isSubmitted(0, len(p.tokens)) || p.has("board awaits")
	if len(all) == 0 || !p.hasBetween(0, 6, "board reference") || !open {
		return all
	}
	last := all[len(all)-1].part
	if i-last > 3 {
		return all
	}
	return slices.DeleteFunc(all, func(f boardFact) bool { return f.part == last && f.fields["action"] != "resigned" })
}

// setAllEffective reads a sentence about all changes before it: "Los acuerdos surten efecto en el
// día de hoy".
func (r *reading) setAllEffective(i int, all []boardFact) {
	p := &r.parts[i]
	dated := slices.ContainsFunc(all, func(f boardFact) bool { return f.fields["effective"] != "" })
	if dated || p.isConditional(0, len(p.tokens)) || p.has("possible", "denied", "board except") {
		return
	}
	for n := range all {
		if r.parts[all[n].part].english == p.english {
			r.setEffective(&all[n], i, 0, len(p.tokens))
			r.setEffectiveToday(&all[n], i, 0, len(p.tokens))
		}
	}
}

// setLaterEffective reads a sentence that only says when the change of the sentence
// before it has effect: "La decisión será efectiva el …".
func (r *reading) setLaterEffective(i int, all []boardFact) {
	p := &r.parts[i]
	if len(all) == 0 || !p.hasBetween(0, 4, "board reference") || !p.has("board effective") {
		return
	}
	last := &all[len(all)-1]
	if p.hasBetween(0, 4, "board all reference") {
		r.setAllEffective(i, all)
		return
	}
	several := len(all) > 1 && all[len(all)-2].part == last.part
	if several || i-last.part > 3 || r.parts[last.part].english != p.english || last.fields["effective"] != "" {
		return
	}
	if !p.isConditional(0, len(p.tokens)) && !p.has("possible") {
		r.setEffective(last, i, 0, len(p.tokens))
		r.setEffectiveToday(last, i, 0, len(p.tokens))
	}
}
