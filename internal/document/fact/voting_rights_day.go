package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// isOfLastDay reports whether the day next to a figure is the last one that its sentence
// has: "5.000 a 31 de mayo de 2026 y 4.000 a 30 de abril de 2026".
func (f *votesFinder) isOfLastDay(p *part, v *value.Value) bool {
	mask := make([]bool, len(p.tokens))
	p.maskBrackets(mask)
	last, nearest, distance := "", "", len(p.tokens)
	for n := range min(len(p.values), mostLabels) {
		day := &p.values[n]
		got, ok := f.readVotes("as_of", p, day, value.Scale{})
		if !ok || !f.isDay(p, day.From) || mask[day.From] && !mask[v.From] {
			continue
		}
		last = max(last, got.text)
		if d := max(day.From-v.To, v.From-day.To); d < distance {
			distance = d
			nearest = got.text
		}
	}
	return nearest == last
}

// dropEarlierDays drops the totals of sentences about an earlier day than the last one
// that the document gives totals for. A sentence in the past tense needs a day.
func (f *votesFinder) dropEarlierDays() {
	last := ""
	title := f.title
	for k := range title.values {
		if got, ok := f.readVotes("as_of", title, &title.values[k], value.Scale{}); ok {
			last = max(last, got.text)
		}
	}
	for _, day := range f.days {
		last = max(last, day)
	}
	for field, all := range f.found {
		f.found[field] = slices.DeleteFunc(all, func(c candidate) bool {
			p := &f.parts[c.at.part]
			if field == "as_of" { // a label with another day stays: then the day is not certain
				return f.days[c.at.part] != "" && c.text < last
			}
			if p.cells != nil {
				return f.days[c.at.part] != "" && f.days[c.at.part] < last
			}
			day := f.dayOf(c.at.part)
			return day != "" && day < last || day == "" && p.tellsFormerTotal()
		})
	}
}

// dayOf returns the day of the totals of a sentence: its own, or that of a sentence before
// it in the same paragraph.
func (f *votesFinder) dayOf(i int) string {
	for k := i; k >= 0 && k > i-4 && f.parts[k].paragraph == f.parts[i].paragraph; k-- {
		if f.days[k] != "" {
			return f.days[k]
		}
	}
	return ""
}

// readDay reads the day of the totals: "a 31 de mayo de 2026".
func (f *votesFinder) readDay(i int, total bool) {
	p := &f.parts[i]
	for n := range min(len(p.values), mostLabels) {
		v := &p.values[n]
		got, ok := f.readVotes("as_of", p, v, value.Scale{})
		if !ok {
			continue
		}
		from, to := p.clause(v.From)
		said := 0 // what was said before "las cifras a 30 de abril son las siguientes:" is another matter
		if p.introducesTotals() {
			said = from
		}
		if p.hasBetween(from, to, "votes event", "votes other date") || p.namesEarlierTotals(said, v.From) ||
			p.hasBetween(v.From-8, v.From, "votes other date") {
			continue
		}
		if !f.isLabelledDay(p, v.From) && !f.opensTotals(p, v) && !(total && f.isDay(p, v.From)) {
			continue
		}
		f.add("as_of", got, f.placeOf(i, v))
		if p.cells == nil && total {
			f.days[i] = max(f.days[i], got.text)
		}
	}
}

// introducesTotals reports whether the lines behind a sentence have the totals: "las cifras a
// 30 de abril son las siguientes:".
func (p *part) introducesTotals() bool {
	return p.mark(len(p.tokens)-1) == ":" && p.has("votes intro")
}

// isDay reports whether the words before a date say that it is the day of the totals.
func (f *votesFinder) isDay(p *part, at int) bool {
	switch p.word(at - 1) {
	case "a", "at", "of", "fecha", "dia", "al", "on", "date":
		return true
	}
	if p.word(at-1) == "el" && (p.word(at-2) == "que" || at == 1) {
		return true // "hace constar que el 30 de junio de 2026 el número total"
	}
	if p.word(at-1) == "del" && strings.HasPrefix(p.word(at-2), "efecto") {
		return true
	}
	n := p.firstValue(at)
	return n < len(p.values) && p.isMonthEnd(&p.values[n])
}

// endLinks stand between the words for an end and the month.
var endLinks = lexicon.NewSet("de del of the mes month")

// isMonthEnd reports whether a month stands for its last day: "a cierre de marzo de 2026".
func (p *part) isMonthEnd(v *value.Value) bool {
	if v.Kind != value.Date || v.Day != 0 || v.Month == 0 || v.Year == 0 {
		return false
	}
	k := v.From - 1
	for k > 0 && endLinks.Has(p.word(k)) {
		k--
	}
	switch p.word(k) {
	case "cierre", "fin", "final", "finales", "end", "close", "tancament":
		return true
	}
	return false
}

// opensTotals reports whether a day heads the totals: "A 31-12-2026", or "informa que a 31 de
// gener de 2026:".
func (f *votesFinder) opensTotals(p *part, v *value.Value) bool {
	if !f.isDay(p, v.From) || p.cells != nil {
		return false
	}
	end := len(p.tokens)
	return v.To == end && v.From == 1 || v.To == end-1 && p.mark(end-1) == ":"
}

// isLabelledDay reports whether a label such as "fecha de referencia" is before a date.
func (f *votesFinder) isLabelledDay(p *part, at int) bool {
	const longestLabel = 12 // "Fecha en que se produjo la variación:"
	for _, c := range p.all("votes date") {
		if c.to == at && c.to-c.from >= 4 { // "Fecha a la que se refieren los datos"
			return true
		}
	}
	return p.hasBetween(at-5, at, "votes date") ||
		p.mark(at-1) == ":" && at <= longestLabel && p.hasBetween(0, 1, "votes date")
}
