package fact

import (
	"slices"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// The commonest words of each language, to tell the language of a sentence.
var (
	englishWords = strings.Fields("the of and to in for by with has have had will at on is are was were be been this that " +
		"its it as from an or which their per share shares date payment gross net between has company board thousands " +
		"revenue revenues sales income profit expenses statement consolidated number rights voting outlook rating position " +
		"ordinary class issuer agency action period")
	spanishWords = strings.Fields("el la los las de del y en por para con se que su sus un una al es ha han sera " +
		"seran fue i els les per amb ha han sera dels d l fecha pago bruto neto sociedad euros accion acciones importe")
)

// setLanguages determines the language of each part, and reads its values: in English,
// "1,234" is more than a thousand; in Spanish it is one and some. Some English texts
// have the Spanish notation. It is taken from the figures with only one meaning.
func (r *reading) setLanguages() {
	r.tellLanguages()
	styles := map[bool]*style{true: {}, false: {}}
	for i := range r.parts {
		p := &r.parts[i]
		for k := range p.tokens {
			if p.tokens[k].IsNumber() && !p.isSection(k) {
				styles[p.english].count(p.tokens[k].Text)
			}
		}
	}
	for i := 0; i < len(r.parts); {
		end := r.endOfRows(i)
		s := styles[r.parts[i].english]
		own := r.styleOf(i, end)
		if own == (style{}) {
			own = r.styleOfCounts(i, end)
		}
		if own.spanish > 0 != (own.english > 0) {
			s = &own // a table has one notation
		}
		for ; i < end; i++ {
			r.readValues(&r.parts[i], s)
		}
	}
}

// isSection reports whether a number is that of a section or of an article of a law, which
// says nothing about the notation of figures: "los artículos 2.2 y 2.3", "1.2 Objeto".
func (p *part) isSection(k int) bool {
	major, minor, ok := strings.Cut(p.tokens[k].Text, ".")
	if !ok || len(major) > 3 || len(minor) > 2 {
		return false
	}
	if k == 0 && k+1 < len(p.tokens) && (p.cells == nil || p.cells[0].to > 1) {
		return true
	}
	const near = 6 // artículos 2.2, 2.3 y 2.4
	for i := k - 1; i >= max(0, k-near); i-- {
		switch p.word(i) {
		case "articulo", "articulos", "art", "arts", "article", "articles", "apartado", "apartados", "section", "sections",
			"seccion", "parrafo", "punto", "norma", "epigrafe", "clausula", "paragraph", "clause", "nota", "note", "anexo":
			return true
		}
	}
	return false
}

// endOfRows returns the end of the rows that begin at a part, or the next part.
func (r *reading) endOfRows(i int) int {
	end := i + 1
	for r.parts[i].cells != nil && end < len(r.parts) && r.parts[end].cells != nil &&
		r.parts[end].english == r.parts[i].english {
		end++
	}
	return end
}

// styleOf counts the figures of some parts, if they are the rows of a table.
func (r *reading) styleOf(from, to int) (s style) {
	if r.parts[from].cells == nil {
		return s
	}
	for i := from; i < to; i++ {
		for k := range r.parts[i].tokens {
			if t := &r.parts[i].tokens[k]; t.IsNumber() && !r.parts[i].isSection(k) {
				s.count(t.Text)
			}
		}
	}
	return s
}

// styleOfCounts counts the figures in the column of a table with numbers of shares, which
// have no decimals: 16.282 beside a price of 27,301 is more than sixteen thousand.
func (r *reading) styleOfCounts(from, to int) (s style) {
	column := -1
	cells := 0
	for i := from; i < to; i++ {
		p := &r.parts[i]
		if k, ok := p.countsColumn(); ok {
			column = k
			cells = len(p.cells)
			continue
		}
		if column < 0 || len(p.cells) != cells || p.cells[column].to-p.cells[column].from != 1 {
			continue
		}
		switch text := p.tokens[p.cells[column].from].Text; {
		case !p.tokens[p.cells[column].from].IsNumber() || !ambiguous(text):
		case strings.Contains(text, "."):
			s.spanish++
		default:
			s.english++
		}
	}
	return s
}

// countsColumn returns the only cell of a heading that names a number of shares.
func (p *part) countsColumn() (column int, ok bool) {
	if len(p.cells) < 3 || slices.ContainsFunc(p.tokens, value.Token.IsNumber) {
		return 0, false
	}
	for k, c := range p.cells {
		if !p.hasBetween(c.from, c.to, "trade shares") ||
			p.hasBetween(c.from, c.to, "trade price", "trade amount", "trade number", "per share", "unit") {
			continue
		}
		if ok {
			return 0, false
		}
		column = k
		ok = true
	}
	return column, ok
}

// readValues reads the values of a part in the notation of figures around it.
func (r *reading) readValues(p *part, s *style) {
	english := p.english
	if s.spanish > 0 && s.english == 0 {
		english = false
	}
	if s.english > 0 && s.spanish == 0 {
		english = true
	}
	mixed := s.english > 0 && s.spanish > 0
	r.appendValues(p, english)
	p.values = slices.Clone(withoutUnsure(p, withoutHalves(p, r.values), mixed))
	p.fillYears(r.Published)
	p.dropCuesInDates()
}

// dropCuesInDates drops the cues that are words of a date: the month of 4 May is no
// possibility.
func (p *part) dropCuesInDates() {
	next := 0
	p.cues = slices.DeleteFunc(p.cues, func(c cue) bool {
		for next < len(p.values) && p.values[next].To <= c.from {
			next++
		}
		return next < len(p.values) && p.values[next].Kind == value.Date && p.values[next].From <= c.from &&
			c.to <= p.values[next].To
	})
}

// tellLanguages tells the language of each part by its words. The rows of a table have one
// language, because most of them have only a few words. A part without such words has
// the language of the part before it.
func (r *reading) tellLanguages() {
	last := r.Language == "en"
	for i := 0; i < len(r.parts); {
		english, spanish := r.parts[i].englishWords, r.parts[i].spanishWords
		end := i + 1
		for r.parts[i].cells != nil && end < len(r.parts) && r.parts[end].cells != nil {
			english += r.parts[end].englishWords
			spanish += r.parts[end].spanishWords
			end++
		}
		switch {
		case r.inColumns && r.parts[i].cells != nil:
			last = r.Language == "en"
		case english != spanish:
			last = english > spanish
		}
		for ; i < end; i++ {
			r.parts[i].english = last
		}
	}
}

// addLanguages adds the commonest words of each language.
func (x *index) addLanguages() {
	for _, text := range englishWords {
		x.word(text).english = true
	}
	for _, text := range spanishWords {
		x.word(text).spanish = true
	}
}

// countWords counts the words that only one of the languages has.
func countWords(words []*word) (english, spanish int) {
	for _, w := range words {
		if w == nil {
			continue
		}
		if w.english {
			english++
		}
		if w.spanish {
			spanish++
		}
	}
	return english, spanish
}

// fillYears completes the dates of a sentence that leave the year to another: "el 28 de
// mayo de 2026 o el 29 de mayo", and "el próximo 28 de mayo".
func (p *part) fillYears(published time.Time) {
	full := func(k int) bool {
		return k >= 0 && k < len(p.values) && p.values[k].Kind == value.Date && p.values[k].Day > 0 &&
			p.values[k].Year > 0
	}
	before := -1
	for k := range p.values {
		v := &p.values[k]
		if v.Kind != value.Date || v.Day == 0 || v.Month == 0 {
			continue
		}
		switch {
		case v.Year > 0:
		case before >= 0 && v.Month >= p.values[before].Month:
			v.Year = p.values[before].Year
		case full(k+1) && v.Month <= p.values[k+1].Month:
			v.Year = p.values[k+1].Year
		case !published.IsZero() && p.isNext(v.From):
			v.Year = published.Year()
			if v.Month < int(published.Month()) || v.Month == int(published.Month()) && v.Day < published.Day() {
				v.Year++
			}
		}
		if v.Year > 0 {
			before = k
		}
	}
}

// isNext reports whether the word before a date is "próximo", perhaps with "día".
func (p *part) isNext(i int) bool {
	if p.word(i-1) == "dia" {
		i--
	}
	return p.word(i-1) == "proximo" || p.word(i-1) == "proper"
}

// style counts the figures that have a meaning in one notation only.
type style struct{ spanish, english int }

func (s *style) count(text string) {
	digits := strings.TrimRightFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	point, comma := strings.LastIndexByte(digits, '.'), strings.LastIndexByte(digits, ',')
	switch {
	case strings.ContainsAny(digits, "/:"), isDottedDate(digits):
	case point >= 0 && comma >= 0:
		if comma > point {
			s.spanish++
		} else {
			s.english++
		}
	case comma >= 0 && (strings.Count(digits, ",") > 1):
		s.english++
	case point >= 0 && strings.Count(digits, ".") > 1:
		s.spanish++
	case comma >= 0 && (len(digits)-comma != 4 || digits[0] == '0'):
		s.spanish++
	case point >= 0 && (len(digits)-point != 4 || digits[0] == '0'):
		s.english++
	}
}

// isDottedDate reports whether a number is a date such as 8.6.26, which tells nothing about
// the notation of figures.
func isDottedDate(digits string) bool {
	day, rest, _ := strings.Cut(digits, ".")
	month, year, ok := strings.Cut(rest, ".")
	return ok && len(day) <= 2 && len(month) <= 2 && (len(year) == 2 || len(year) == 4)
}

// ambiguous reports whether a figure means something else in the other notation.
func ambiguous(text string) bool {
	var s style
	s.count(text)
	return s == style{} && strings.ContainsAny(text, ".,")
}

// appendValues reads the values of a part into the room for them: cell by cell in a row,
// because a number in one cell has nothing to do with the next.
func (r *reading) appendValues(p *part, english bool) {
	if p.cells == nil {
		r.values = value.AppendRead(r.values[:0], p.tokens, english)
		return
	}
	r.values = r.values[:0]
	for _, c := range p.cells {
		r.ofCell = value.AppendRead(r.ofCell[:0], p.tokens[c.from:c.to], english)
		for _, v := range r.ofCell {
			v.From += c.from
			v.To += c.from
			r.values = append(r.values, v)
		}
	}
}

// withoutUnsure drops the figures that were torn. If the document mixes notations, it also
// drops those with two meanings.
func withoutUnsure(p *part, values []value.Value, mixed bool) []value.Value {
	return slices.DeleteFunc(values, func(v value.Value) bool {
		return v.Kind == value.Figure && (p.isTornFigure(v.From) || mixed && ambiguous(p.tokens[v.From].Text))
	})
}

// isTornFigure reports whether a number is part of one in which text recognition took a
// digit for a letter: 310,50 in "4O.310,50", 98.217 in "98.217,O5". Only "98.217,OO" has a
// certain value.
func (p *part) isTornFigure(k int) bool {
	joins := func(mark int) bool { // a mark without spaces around it
		t := p.mark(mark)
		return (t == "." || t == ",") && mark > 0 && mark+1 < len(p.tokens) &&
			p.tokens[mark-1].End() == p.tokens[mark].At && p.tokens[mark].End() == p.tokens[mark+1].At
	}
	if joins(k-1) && p.word(k-2) != "" {
		return true
	}
	if (p.mark(k-1) == "," || p.mark(k-1) == ".") && p.mark(k-2) == "0" { // 25 in "0, 25"
		return true
	}
	return joins(k+1) && p.word(k+2) != "" && p.word(k+2) != "oo"
}

// withoutHalves drops the parts of numbers that are spelled with more words than can be
// read: of "quince millones doscientos mil" the first would be wrong alone.
func withoutHalves(p *part, values []value.Value) []value.Value {
	if len(values) < 2 || !p.has("spelled number") {
		return values
	}
	words := map[int]bool{} // the tokens that are words for numbers
	for _, c := range p.cues {
		if c.class == "spelled number" {
			words[c.from] = true
		}
	}
	isHalf := make([]bool, len(values))
	found := false
	for k := 1; k < len(values); k++ {
		isNumber := values[k].Kind == value.Figure || values[k].Kind == value.Code
		if values[k-1].To == values[k].From && isNumber && words[values[k].From] && values[k-1].Kind != value.Date {
			isHalf[k-1] = true
			isHalf[k] = true
			found = true
		}
	}
	if !found {
		return values
	}
	kept := values[:0]
	for k, v := range values {
		if !isHalf[k] {
			kept = append(kept, v)
		}
	}
	return kept
}
