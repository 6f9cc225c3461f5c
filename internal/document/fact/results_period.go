package fact

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"pregon/internal/document/value"
)

// resultPeriod is a year, or a part of a year, that results are of.
type resultPeriod struct {
	year int    // 0 if the words do not name it
	part string // Q1 to Q4, H1, H2, 9M, or "" for the whole year
}

// String returns the period as the field of a fact has it.
func (p resultPeriod) String() string {
	if p.part == "" {
		return strconv.Itoa(p.year)
	}
	return strconv.Itoa(p.year) + "-" + p.part
}

// lastMonths are the months in which the parts of a year end.
var lastMonths = map[string]time.Month{
	"": time.December, "Q1": time.March, "Q2": time.June, "H1": time.June, "Q3": time.September, "9M": time.September,
	"Q4": time.December, "H2": time.December,
}

// end returns the first moment behind the period.
func (p resultPeriod) end() time.Time {
	return time.Date(p.year, lastMonths[p.part]+1, 1, 0, 0, 0, 0, time.UTC)
}

// cumulative returns the period from the beginning of the year to the end of a month.
func cumulative(year, month int) (resultPeriod, bool) {
	part, ok := map[int]string{3: "Q1", 6: "H1", 9: "9M", 12: ""}[month]
	return resultPeriod{year, part}, ok
}

// mention is a period in the words of a part.
type mention struct {
	resultPeriod
	from int  // first token
	to   int  // behind the last token
	bare bool // only a year: "en 2025"
	day  bool // the last day of the period: "a 30 de junio de 2025"
	odd  bool // a year that does not end in December
	span bool // its months: "julio-septiembre"
}

var (
	// periodCode matches a period in short: 1T, 1T25, 9M2025, H1, FY25.
	periodCode = regexp.MustCompile(`^(?:([1-4])([tqsh])|([tqsh])([1-4])|(3|6|9|12)m|(fy))(\d{2}|20\d{2})?$`)

	ordinals = map[string]int{
		"primer": 1, "primero": 1, "1er": 1, "first": 1, "1st": 1, "1": 1, "i": 1, "segundo": 2, "2do": 2, "2o": 2, "second": 2, "2nd": 2,
		"segon": 2, "2": 2, "ii": 2, "tercer": 3, "tercero": 3, "3er": 3, "third": 3, "3rd": 3, "3": 3, "iii": 3, "cuarto": 4, "4to": 4,
		"4o": 4, "fourth": 4, "4th": 4, "quart": 4, "4": 4, "iv": 4,
	}
	monthCounts = map[string]int{
		"tres": 3, "three": 3, "3": 3, "seis": 6, "six": 6, "sis": 6, "6": 6, "nueve": 9, "nine": 9, "nou": 9, "9": 9,
		"doce": 12, "twelve": 12, "dotze": 12, "12": 12,
	}
)

// part returns the name of a part of a year, or "" if there is none.
func partOf(n int, unit string) (string, bool) {
	switch unit {
	case "trimestre", "trim", "quarter", "t", "q":
		return "Q" + strconv.Itoa(n), n >= 1 && n <= 4
	case "semestre", "half", "s", "h":
		return "H" + strconv.Itoa(n), n == 1 || n == 2
	}
	return "", false
}

// mostMentions is the number of periods that are read in one part.
const mostMentions = 60

// mentions returns the periods in a range of tokens, in their order.
func (p *part) mentions(from, to int) (found []mention) {
	for i := from; i < to && len(found) < mostMentions; {
		m, ok := p.mention(i, to)
		if !ok {
			i++
			continue
		}
		m.from = i
		found = append(found, m)
		i = max(m.to, i+1)
	}
	markOddYears(found)
	return found
}

// markOddYears marks the parts of a year that does not begin in January: beside a quarter stand
// months that are not its own, as in "primer trimestre (julio-septiembre de 2026)".
func markOddYears(all []mention) {
	const near = 6 // tokens
	for n := 1; n < len(all); n++ {
		a, b := &all[n-1], &all[n]
		isPart := a.part != "" && b.part != "" && !a.day && !b.day
		if isPart && a.span != b.span && b.from-a.to <= near && lastMonths[a.part] != lastMonths[b.part] {
			a.odd = true
			b.odd = true
		}
	}
}

// mention reads the period that begins at a token.
func (p *part) mention(i, to int) (mention, bool) {
	if p.word(i) == "" {
		return mention{}, false // a mark
	}
	if m, ok := p.codedPeriod(i, to); ok && m.to <= to {
		return m, true
	}
	if m, ok := p.namedPart(i, to); ok && m.to <= to {
		return m, true
	}
	if m, ok := p.months(i, to); ok && m.to <= to {
		return m, true
	}
	if m, ok := p.monthRange(i, to); ok && m.to <= to {
		return m, true
	}
	if m, ok := p.wholeYear(i, to); ok && m.to <= to {
		return m, true
	}
	if m, ok := p.untilMonth(i, to); ok && m.to <= to {
		return m, true
	}
	if m, ok := p.monthColumn(i, to); ok && m.to <= to {
		return m, true
	}
	return p.dayOrYear(i)
}

// codedPeriod reads 1T25, "1T 2025", "H1 2025", 9M'25.
func (p *part) codedPeriod(i, _ int) (mention, bool) {
	w := p.word(i)
	if len(w) < 2 || len(w) > 7 || !strings.ContainsAny(w, "0123456789") && !strings.HasPrefix(w, "f") {
		return mention{}, false
	}
	f := periodCode.FindStringSubmatch(w)
	if f == nil {
		return mention{}, false
	}
	m := mention{to: i + 1}
	if p.mark(i+1) == "/" && sameCode(w, p.word(i+2)) {
		return p.codedPeriod(i+2, 0)
	}
	switch {
	case f[1] != "":
		n, _ := strconv.Atoi(f[1])
		m.part, _ = partOf(n, f[2])
	case f[3] != "":
		n, _ := strconv.Atoi(f[4])
		m.part, _ = partOf(n, f[3])
	case f[5] != "":
		n, _ := strconv.Atoi(f[5])
		c, _ := cumulative(0, n)
		m.part = c.part
	}
	if m.part == "" && f[5] != "12" && f[6] == "" {
		return mention{}, false // such as 3S
	}
	if f[7] != "" {
		m.year = shortYear(f[7])
		return m, true
	}
	if isQuote(p.mark(m.to)) && len(p.mark(m.to+1)) == 2 && p.tokens[m.to+1].IsNumber() {
		m.year = shortYear(p.mark(m.to + 1))
		m.to += 2
		return m, m.year > 0
	}
	if year, end, ok := p.shortYearOfCell(m.to); ok {
		m.year = year
		m.to = end
		return m, true
	}
	m = p.withYear(m)
	return m, m.year > 0 || f[5] == "" && f[6] == "" // "9m" alone may be nine millions
}

// sameCode reports whether two codes mean the same part of a year in two languages: "1S/H1".
func sameCode(a, b string) bool {
	partOfCode := func(code string) string {
		f := periodCode.FindStringSubmatch(code)
		if f == nil || f[7] != "" {
			return ""
		}
		n, _ := strconv.Atoi(f[1] + f[4])
		part, _ := partOf(n, f[2]+f[3])
		return part
	}
	return partOfCode(a) != "" && partOfCode(a) == partOfCode(b)
}

// shortYearOfCell reads the year of two digits that ends the heading of a column: "Q1 26",
// 1T-26, 9M/26.
func (p *part) shortYearOfCell(i int) (year, end int, ok bool) {
	if p.cells == nil || i >= len(p.tokens) {
		return 0, 0, false
	}
	cell := p.cells[p.cellOf(i-1)]
	if isDash(p.mark(i)) || p.mark(i) == "/" || p.mark(i) == "." {
		i++
	}
	if i+1 != cell.to || len(p.mark(i)) != 2 || !p.tokens[i].IsNumber() {
		return 0, 0, false
	}
	year = shortYear(p.mark(i))
	return year, i + 1, year > 2000
}

// untilMonth reads "hasta septiembre de 2026", "a cierre de junio de 2026": the period from
// the beginning of the year.
func (p *part) untilMonth(i, _ int) (mention, bool) {
	next := i + 1
	switch p.word(i) {
	case "hasta", "through", "fins":
	case "cierre", "tancament":
		if w := p.word(next); w != "de" && w != "del" {
			return mention{}, false
		}
		next++
	default:
		return mention{}, false
	}
	if p.word(next) == "a" || p.word(next) == "al" {
		next++ // fins a setembre
	}
	month := value.Months[p.word(next)]
	link := p.word(next + 1)
	if link == "de" || link == "del" {
		next++
	}
	year := p.yearBehind(next + 1)
	c, ok := cumulative(year, month)
	if year == 0 { // fins al setembre
		return mention{resultPeriod: c, to: next + 1}, ok && c.part != "" && link != "de" && link != "del"
	}
	return mention{resultPeriod: c, to: next + 2, day: true}, ok
}

func isQuote(mark string) bool { return mark == "'" || mark == "’" || mark == "‘" }

// shortYear returns the year of two or four digits.
func shortYear(digits string) int {
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil:
		return 0
	case len(digits) == 2:
		return 2000 + n
	}
	return n
}

// namedPart reads "primer trimestre de 2025", "first half of the year".
func (p *part) namedPart(i, _ int) (mention, bool) {
	n := ordinals[p.word(i)]
	next := i + 1
	if n == 0 {
		if (p.word(i) == "half" || p.word(i) == "mid") && p.wordBehindHyphen(i+1) == "year" { // the half-year report
			return p.withYear(mention{resultPeriod: resultPeriod{part: "H1"}, to: i + 1}), p.yearBehind(i+3) > 0
		}
		return mention{}, false
	}
	for k := 0; k < 2 && p.word(next) == "" && next < len(p.tokens) && p.mark(next) != "," && p.mark(next) != "."; k++ {
		next++ // 1º, first-half
	}
	if p.mark(next) == "." && p.word(next+1) == "er" { // 1.er
		next += 2
	}
	part, ok := partOf(n, p.word(next))
	if !ok || len(p.word(next)) < 4 {
		return mention{}, false
	}
	return p.withYear(mention{resultPeriod: resultPeriod{part: part}, to: next + 1}), true
}

func (p *part) wordBehindHyphen(i int) string {
	if p.mark(i) == "-" || p.mark(i) == "‑" {
		i++
	}
	return p.word(i)
}

// months reads "nueve primeros meses de 2025", "six months ended 30 June 2025".
func (p *part) months(i, _ int) (mention, bool) {
	next := i
	if isFirst(p.word(next)) {
		next++
	}
	n := monthCounts[p.word(next)]
	if n == 0 {
		return mention{}, false
	}
	next++
	if p.mark(next) == "-" {
		next++
	}
	if isFirst(p.word(next)) {
		next++
	}
	switch p.word(next) {
	case "meses", "months", "mesos", "month":
	default:
		return mention{}, false
	}
	c, _ := cumulative(0, n)
	m := mention{resultPeriod: c, to: next + 1}
	if ended, ok := p.endedOn(m.to); ok {
		c, known := cumulative(ended.Year, ended.Month)
		m.year = ended.Year
		m.to = ended.To
		m.odd = !known || c.part != m.part
		return m, true
	}
	return p.withYear(m), true
}

func isFirst(w string) bool {
	return w == "primeros" || w == "first" || w == "primers" || w == "ultimos"
}

// endedOn reads the date behind "cerrado el", "terminado a", "ended".
func (p *part) endedOn(i int) (value.Value, bool) {
	for k := i; k < min(i+8, len(p.tokens)); k++ {
		switch p.word(k) {
		case "cerrado", "terminado", "finalizado", "concluido", "ended", "ending", "tancat", "acabat", "finalitzat":
			n := p.firstValue(k + 1)
			if n == len(p.values) {
				return value.Value{}, false
			}
			v := &p.values[n]
			return *v, v.From <= k+4 && v.Kind == value.Date && v.Year > 0 && v.Day > 0
		}
	}
	return value.Value{}, false
}

// spans are the parts of a year that do not begin with it, by their first and last months.
var spans = map[[2]int]string{{4, 6}: "Q2", {7, 9}: "Q3", {10, 12}: "Q4", {7, 12}: "H2"}

// monthRange reads "enero-septiembre de 2025", "January to June 2025", "julio-septiembre
// 2026". Other months are no period of results.
func (p *part) monthRange(i, _ int) (mention, bool) {
	first := value.Months[p.word(i)]
	last := value.Months[p.word(i+2)]
	if first == 0 || last == 0 {
		return mention{}, false
	}
	switch strings.ToLower(p.mark(i + 1)) {
	case "-", "–", "—", "a", "to", "hasta", "/", "y", "and", "i":
	default:
		return mention{}, false
	}
	c, ok := cumulative(0, last)
	if first != 1 {
		c.part, ok = spans[[2]int{first, last}]
	}
	if !ok {
		return mention{to: i + 3, odd: true}, true
	}
	return p.withYear(mention{resultPeriod: c, to: i + 3, span: true}), true
}

// shortMonths are the months in which periods end, as the headings of columns have them.
var shortMonths = map[string]int{"mar": 3, "jun": 6, "sep": 9, "sept": 9, "dic": 12, "dec": 12, "set": 9, "des": 12}

// monthColumn reads the heading of a column such as Jun-26 or "junio 2026": the period to
// the end of the month.
func (p *part) monthColumn(i, _ int) (mention, bool) {
	month := shortMonths[p.word(i)]
	if month == 0 {
		month = value.Months[p.word(i)]
	}
	if p.cells == nil || month == 0 || i > 0 && p.tokens[i-1].IsNumber() && p.cellOf(i-1) == p.cellOf(i) {
		return mention{}, false
	}
	next := i + 1
	for k := 0; k < 2 &&
		(isDash(p.mark(next)) || isQuote(p.mark(next)) || p.mark(next) == "." || p.word(next) == "de"); k++ {
		next++
	}
	digits := p.mark(next)
	if len(digits) != 2 && len(digits) != 4 || !p.tokens[next].IsNumber() || p.cellOf(next) != p.cellOf(i) {
		return mention{}, false
	}
	c, ok := cumulative(shortYear(digits), month)
	return mention{resultPeriod: c, to: next + 1, day: true}, ok && c.year > 2000 && c.year < 2100
}

// wholeYear reads "ejercicio 2025", "full year 2025", and "ejercicio terminado el 31 de
// diciembre de 2025".
func (p *part) wholeYear(i, _ int) (mention, bool) {
	switch p.word(i) {
	case "ejercicio", "ano", "year", "exercici", "any", "anual", "annual":
	default:
		return mention{}, false
	}
	m := p.withYear(mention{to: i + 1})
	if m.year > 0 {
		return m, true
	}
	if before := p.word(i - 1); before == "full" || before == "whole" || before == "del" && p.word(i-2) == "conjunto" {
		return m, true // "en el conjunto del ejercicio"
	}
	ended, ok := p.endedOn(i + 1)
	if !ok || ended.From-i > 12 {
		return mention{}, false
	}
	m.year = ended.Year
	m.to = ended.To
	m.odd = ended.Month != 12
	return m, true
}

// withYear reads the year behind a part of a year.
func (p *part) withYear(m mention) mention {
	for k := m.to; k <= m.to+5; k++ {
		if year := p.yearBehind(k); year > 0 {
			m.year = year
			m.to = k + 1
			break
		}
		switch strings.ToLower(p.mark(k)) { // "PRIMER SEMESTRE DE 2026"
		case "de", "del", "of", "the", "l", "'", "’", "(", "-", "–", "d":
			continue
		}
		switch p.word(k) {
		case "ano", "ejercicio", "year", "financial", "fiscal", "any", "exercici", "social", "economico", "fy":
			continue
		}
		if k == m.to && m.part != "" && p.describesPeriod(k) {
			continue
		}
		break
	}
	return m
}

// describesPeriod reports whether a word between a part of a year and its year only describes it:
// "tercer trimestre estanco de 2026".
func (p *part) describesPeriod(k int) bool {
	w := p.word(k)
	link := p.word(k + 1)
	if len(w) < 4 || isCapitalAt(p, k) || p.tokens[k].IsNumber() || value.StopWords.Has(w) || value.Months[w] > 0 {
		return false
	}
	if link != "de" && link != "del" && link != "of" || p.yearBehind(k+2) == 0 {
		return false
	}
	return !p.hasBetween(k, k+1, "results comparison", "results earlier")
}

// yearBehind returns the year at a token, or 0. The first of two years, such as
// 2024-2026, is none.
func (p *part) yearBehind(i int) int {
	text := p.mark(i)
	if len(text) != 4 || text[0] != '2' || text[1] != '0' {
		return 0
	}
	year, err := strconv.Atoi(text)
	if err != nil || isDash(p.mark(i+1)) && i+2 < len(p.tokens) && p.tokens[i+2].IsNumber() && !p.tokens[i+1].Spaced {
		return 0
	}
	if isDash(p.mark(i-1)) && i >= 2 && p.tokens[i-2].IsNumber() && !p.tokens[i-1].Spaced {
		return 0
	}
	return year
}

func isDash(mark string) bool { return mark == "-" || mark == "–" || mark == "—" }

// dayOrYear reads the last day of a quarter, or a year alone.
func (p *part) dayOrYear(i int) (mention, bool) {
	n := p.firstValue(i)
	if n == len(p.values) {
		return mention{}, false
	}
	v := &p.values[n]
	if v.From != i || v.Kind != value.Date || v.Year == 0 {
		return mention{}, false
	}
	if v.IsYear() {
		year := p.yearBehind(i)
		return mention{resultPeriod: resultPeriod{year: year}, to: v.To, bare: true}, year > 0
	}
	last := time.Date(v.Year, time.Month(v.Month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	c, ok := cumulative(v.Year, v.Month)
	return mention{resultPeriod: c, to: v.To, day: true}, ok && v.Day == last
}

// firstValue returns the index of the first value that begins at a token or behind it.
func (p *part) firstValue(token int) int {
	return sort.Search(len(p.values), func(n int) bool { return p.values[n].From >= token })
}
