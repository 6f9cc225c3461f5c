package fact

import (
	"slices"
	"time"

	"pregon/internal/document/value"
)

// period is a range of days that a document states, with the places of both ends.
type period struct {
	from, to     string
	start, close place
}

// longestPeriod is the longest period of a report of trades.
const longestPeriod = 380 * 24 * time.Hour

// longestSentence is the most tokens of a part whose values are compared with its cues. No
// sentence is longer; a longer text would cost too much.
const longestSentence = 500

func (p *part) isTooLong() bool { return len(p.tokens) > longestSentence }

// periodsIn returns the periods in a part: "del 3 al 7 de junio de 2026", "between … and
// …", "desde … hasta …".
func (r *reading) periodsIn(i int) (found []period) {
	p := &r.parts[i]
	for k := 0; k+1 < len(p.values); k++ {
		first, second := p.values[k], p.values[k+1]
		if first.Kind != value.Date || second.Kind != value.Date || first.Day == 0 || second.Day == 0 {
			continue
		}
		if !p.joinsDays(&first, &second) {
			continue
		}
		r.completeYear(&second)
		completeDay(&first, &second)
		if got, ok := r.period(place{i, first.From, first.To}, &first, place{i, second.From, second.To}, &second); ok {
			found = append(found, got)
			k++
		}
	}
	return found
}

// presentPeriods returns the periods in a part, without those behind words about an earlier
// one.
func (r *reading) presentPeriods(i int) []period {
	end := r.parts[i].beforePast()
	return slices.DeleteFunc(r.periodsIn(i), func(each period) bool { return each.start.from >= end })
}

// joinsDays reports whether the words around two dates make them the ends of a period.
func (p *part) joinsDays(first, second *value.Value) bool {
	if second.From-first.To > 6 {
		return false
	}
	if p.endsWithCue(first.From, "period start") && p.endsWithCue(second.From, "period end") {
		return true
	}
	inBrackets := p.mark(first.From-1) == "(" && p.mark(first.To) == ")"
	if inBrackets && p.hasBetween(first.From-8, first.From, "period since") &&
		p.endsWithCue(second.From, "period end") {
		return true // "desde la última comunicación (1 de julio) hasta el 31 de agosto"
	}
	listed := false // "las comunicaciones de 11 de julio y 13 de octubre" is no period
	for k := first.To; k < second.From; k++ {
		if !joinsEnds(p.tokens[k]) {
			return false
		}
		listed = listed || isAnd(p.word(k))
	}
	if listed && !p.hasBetween(first.From-6, first.From, "period between") {
		return false
	}
	inBrackets = p.mark(first.From-1) == "(" && p.mark(second.To) == ")"
	return second.From > first.To && (inBrackets || p.hasBetween(first.From-4, first.From, "period before"))
}

// endsWithCue reports whether a cue of some classes ends at most two tokens before a token.
func (p *part) endsWithCue(at int, classes ...class) bool {
	for _, c := range p.all(classes...) {
		if c.to <= at && at-c.to <= 2 {
			return true
		}
	}
	return false
}

// joinsEnds reports whether a token may stand between the ends of a period.
func joinsEnds(t value.Token) bool {
	switch t.Folded {
	case "y", "e", "i", "a", "al", "el", "dia", "hasta", "and", "to", "the", "until", "through", "fins", "de", "d", "l":
		return true
	case "":
		return t.Text != ";" && t.Text != "." && t.Text != "/"
	}
	return false
}

func isAnd(w string) bool { return w == "y" || w == "e" || w == "i" || w == "and" }

// completeYear gives a day without a year the last year in which it is not after the report:
// "el 7 de junio".
func (r *reading) completeYear(v *value.Value) {
	if v.Year > 0 || v.Month == 0 || r.Published.IsZero() {
		return
	}
	v.Year = r.Published.Year()
	if time.Date(v.Year, time.Month(v.Month), v.Day, 0, 0, 0, 0, time.UTC).After(r.Published) {
		v.Year--
	}
}

// completeDay gives the first day of a period the month and year that only the last has.
func completeDay(first, second *value.Value) {
	if first.Month == 0 {
		first.Month = second.Month
	}
	if first.Year == 0 && second.Year > 0 {
		first.Year = second.Year
		if first.Month > second.Month {
			first.Year--
		}
	}
}

// period returns the period between two days, if it is over and not too long.
func (r *reading) period(start place, first *value.Value, end place, last *value.Value) (period, bool) {
	from, okFrom := date(first)
	to, okTo := date(last)
	if !okFrom || !okTo || from > to {
		return period{}, false
	}
	a, _ := time.Parse(time.DateOnly, from)
	b, _ := time.Parse(time.DateOnly, to)
	if b.Sub(a) > longestPeriod || !r.Published.IsZero() && b.After(r.Published.Add(24*time.Hour)) {
		return period{}, false
	}
	return period{from, to, start, end}, true
}

// periodsOfRows returns the periods of a form: a row with the first day, and the next row
// with the last one.
func (r *reading) periodsOfRows(t *table) (found []period) {
	for n := 0; n+1 < len(t.rows); n++ {
		first, ok := r.labelledDay(t.rows[n], "period start")
		if !ok {
			continue
		}
		last, ok := r.labelledDay(t.rows[n+1], "period end")
		if !ok {
			continue
		}
		start := place{t.rows[n], first.From, first.To}
		end := place{t.rows[n+1], last.From, last.To}
		if got, ok := r.period(start, first, end, last); ok {
			found = append(found, got)
		}
	}
	return found
}

// labelledDay returns the only value of a row with a label of a class, if it is a day.
func (r *reading) labelledDay(row int, label class) (*value.Value, bool) {
	p := &r.parts[row]
	if len(p.cells) != 2 || len(p.values) != 1 || !p.hasBetween(p.cells[0].from, p.cells[0].to, label) {
		return nil, false
	}
	v := &p.values[0]
	return v, v.Kind == value.Date && v.From >= p.cells[1].from
}

// setPeriod sets the ends of the period on which all agree.
func (d *draft) setPeriod(all []period) bool {
	if len(all) == 0 {
		return false
	}
	for _, other := range all[1:] {
		if other.from != all[0].from || other.to != all[0].to {
			return false
		}
	}
	d.set("from", all[0].from, all[0].start)
	d.set("to", all[0].to, all[0].close)
	return true
}

// mostFormRows is the most rows of a table that are read as a form. Looking for the unit of
// a value costs as much as the table is long.
const mostFormRows = 200

// formRows returns the rows of a table that are read as a form.
func (t *table) formRows() []int { return t.rows[:min(len(t.rows), mostFormRows)] }

// labelled is a value of a form with its label, in tokens.
type labelled struct {
	label cell
	value *value.Value
}

// labelledValues returns the values of a row of a form: a label and a value, or several of
// them one after the other.
func (p *part) labelledValues() (found []labelled) {
	if len(p.cells) != 2 {
		return nil
	}
	values := p.valuesIn(p.cells[1].from, p.cells[1].to)
	if len(values) == 1 {
		found = append(found, labelled{p.cells[0], values[0]})
	}
	return found
}

// quartersOf returns the quarters that the document names with their year: "el primer
// trimestre de 2026".
func (r *reading) quartersOf(i int) (found []period) {
	p := &r.parts[i]
	for k := 0; k+1 < len(p.values); k++ {
		v, year := &p.values[k], &p.values[k+1]
		quarter := quarterOf(v.Text)
		if v.Kind != value.Code || quarter < 0 || !year.IsYear() || year.From-v.To > 2 {
			continue
		}
		first := time.Date(year.Year, time.Month(3*quarter+1), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 3, -1)
		at := place{i, v.From, year.To}
		if !r.Published.IsZero() && last.After(r.Published) {
			continue
		}
		found = append(found, period{first.Format(time.DateOnly), last.Format(time.DateOnly), at, at})
	}
	return found
}

// quarterOf returns the number of a quarter, from 0, or -1: "Q2nd" (of "segundo trimestre"), "2T",
// "Q2".
func quarterOf(code string) int {
	if n := slices.Index([]string{"Q1st", "Q2nd", "Q3rd", "Q4th"}, code); n >= 0 {
		return n
	}
	if len(code) != 2 {
		return -1
	}
	letter, number := code[0], code[1]
	if number == 'T' || number == 'Q' {
		letter, number = number, letter
	}
	if (letter != 'T' && letter != 'Q') || number < '1' || number > '4' {
		return -1
	}
	return int(number - '1')
}

// readPositive reads an amount of money that cannot be negative. In a sentence, brackets
// around it are brackets, not a minus.
func readPositive(p *part, v *value.Value, unit value.Scale) (read, bool) {
	positive := *v
	positive.Negative = v.Negative && p.cells != nil
	found, ok := readMoney(p, &positive, unit)
	return found, ok && !positive.Negative
}

// countPositive reads a number of shares, which may have brackets around it in a sentence.
func countPositive(p *part, v *value.Value) (read, bool) {
	positive := *v
	positive.Negative = v.Negative && p.cells != nil
	return readCount(p, &positive, value.Scale{})
}

// beforePast returns the token at which a part begins to speak of an earlier period, or its
// end: "5.000 acciones, frente a 4.000 en el trimestre anterior".
func (p *part) beforePast() int {
	end := len(p.tokens)
	for _, c := range p.all("past") {
		end = min(end, c.from)
	}
	return end
}
