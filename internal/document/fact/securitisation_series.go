package fact

import (
	"math/big"
	"slices"

	"pregon/internal/document/value"
)

// Some documents have no table with a row for each series: a form with a label and a value
// in each row, a section or a sentence for each series, or a table with a column for each.
// Then the names and codes of series say to which one the amounts behind them belong.

// bondSeries is what a document says about the payment of a series.
type bondSeries struct {
	name    string
	isin    string
	amounts map[class]string // by the classes of columns: for all bonds, or for one
}

// seriesNotes collects the series of a document.
type seriesNotes struct {
	all     []*bondSeries
	current *bondSeries
	unsure  bool // two amounts for the same thing, or amounts of no series
}

// mostSeries is the most series of a fund that are read.
const mostSeries = 60

// seriesRows returns what is paid for each series, if each has an amount of interest and one
// of redemption, for all bonds or for one bond.
func (r *reading) seriesRows() (rows []map[string]string) {
	var notes seriesNotes
	for n := range r.tables {
		r.readSeriesColumns(&notes, &r.tables[n])
	}
	if len(notes.all) == 0 {
		for i := range r.parts {
			p := &r.parts[i]
			if p.aside || p.isTooLong() || p.has("past", "possible", "policy", "example", "bond gone") {
				continue
			}
			r.readSeries(&notes, i)
		}
	}
	if notes.unsure || len(notes.all) == 0 || len(notes.all) > mostSeries {
		return nil
	}
	for _, columns := range []bondColumns{columnsTotal, columnsEach} {
		if rows := notes.rows(columns); rows != nil {
			return rows
		}
	}
	return nil
}

// rows returns the rows with the amounts of some columns, or nil if a series lacks one.
func (notes *seriesNotes) rows(columns bondColumns) (rows []map[string]string) {
	withISIN := 0
	hasCodes := slices.ContainsFunc(notes.all, func(s *bondSeries) bool { return s.isin != "" })
	for _, each := range notes.all {
		if hasCodes && each.isin == "" && len(each.amounts) == 0 {
			continue // only mentioned: "la Serie A1 quedó totalmente amortizada"
		}
		interest, redemption := each.amounts[columns.interest], each.amounts[columns.redemption]
		if interest == "" || redemption == "" {
			return nil
		}
		row := map[string]string{"interest": interest, "redemption": redemption}
		if each.name != "" {
			row["series"] = each.name
		}
		if each.isin != "" {
			row["isin"] = each.isin
			withISIN++
		}
		rows = append(rows, row)
	}
	if withISIN != 0 && withISIN != len(rows) {
		return nil
	}
	return rows
}

// named makes the series with a name the current one.
func (notes *seriesNotes) named(name string) {
	for _, each := range notes.all {
		if each.name == name {
			notes.current = each
			return
		}
	}
	if notes.current != nil && notes.current.name == "" && len(notes.current.amounts) == 0 {
		notes.current.name = name // ISIN ES…, Serie A
		return
	}
	notes.start(&bondSeries{name: name})
}

// coded makes the series with a code the current one.
func (notes *seriesNotes) coded(isin string) {
	for _, each := range notes.all {
		if each.isin == isin {
			notes.current = each
			return
		}
	}
	if notes.current != nil && notes.current.isin == "" {
		notes.current.isin = isin
		return
	}
	notes.start(&bondSeries{isin: isin})
}

func (notes *seriesNotes) start(s *bondSeries) {
	s.amounts = map[class]string{}
	notes.current = s
	if len(notes.all) <= mostSeries {
		notes.all = append(notes.all, s)
	}
}

// paid adds an amount of a series.
func (notes *seriesNotes) paid(s *bondSeries, column class, text string) {
	if s == nil || s.amounts[column] != "" && s.amounts[column] != text {
		notes.unsure = true
		return
	}
	s.amounts[column] = text
}

// nothing notes that nothing is paid for the current series: "no procede amortización".
func (notes *seriesNotes) nothing(columns ...class) {
	if notes.current == nil {
		return
	}
	for _, c := range columns {
		notes.paid(notes.current, c, "0")
	}
}

// readSeries reads the series and the amounts of a part in their order.
func (r *reading) readSeries(notes *seriesNotes, i int) {
	p := &r.parts[i]
	words := p.all("bond series word", "bond no redemption", "bond no interest")
	last := 0 // the end of the value before
	r.readNameBelow(notes, i)
	for k := range p.values {
		v := &p.values[k]
		if v.Kind == value.Figure && r.readPaidBelow(notes, i, k) {
			last = v.To
			continue
		}
		words = r.readNames(notes, p, words, v.From)
		switch {
		case v.Kind == value.Code && isISIN(v.Text):
			notes.coded(v.Text)
		case v.Kind == value.Figure:
			r.readPaid(notes, p, cell{last, v.From}, v)
		}
		last = v.To
	}
	r.readNames(notes, p, words, len(p.tokens))
}

// readNames reads the names of series before a token, and returns the words behind it.
func (r *reading) readNames(notes *seriesNotes, p *part, words []cue, to int) []cue {
	for len(words) > 0 && words[0].from < to {
		switch words[0].class {
		case "bond no redemption":
			notes.nothing(columnsTotal.redemption, columnsEach.redemption)
			words = words[1:]
			continue
		case "bond no interest":
			notes.nothing(columnsTotal.interest, columnsEach.interest)
			words = words[1:]
			continue
		}
		switch p.word(words[0].from) {
		case "serie", "series", "clase", "class", "classe", "tramo", "tranche", "bono", "bonos", "bond", "notes":
			at := words[0].to
			if p.mark(at) == ":" {
				at++
			}
			if isSeriesName(p.mark(at)) {
				notes.named(p.mark(at))
			}
		}
		words = words[1:]
	}
	return words
}

// isSeriesName reports whether a word has the form of the name of a series: A, B2, 2A, AG.
func isSeriesName(word string) bool {
	if word == "" || len(word) > 3 {
		return false
	}
	letters := 0
	for k := range len(word) {
		c := word[k]
		if 'A' <= c && c <= 'Z' {
			letters++
		} else if c < '0' || c > '9' {
			return false
		}
	}
	return letters > 0
}

// readPaid reads an amount with the words before it, which say what it is.
func (r *reading) readPaid(notes *seriesNotes, p *part, label cell, v *value.Value) {
	scale, _ := value.ReadScale(p.tokens[label.from:label.to], p.english)
	column, ok := p.paidColumn(label)
	if behind, isBehind := p.conceptBehind(v); isBehind {
		column, ok = p.paidColumn(behind)
	}
	if !ok {
		return
	}
	eachBehind := p.hasBetween(v.To, v.To+3, "bond each") || p.mark(v.To) == "/" || isRate(v)
	if eachBehind && !isEachColumn(column) {
		column += " each"
	}
	plain := *v
	if isRate(v) {
		plain.Unit = v.Unit[:3]
	}
	amount, currency, ok := money(&plain, scale)
	if !ok || currency == "" || v.Negative || v.Bound != "" {
		notes.unsure = notes.unsure || v.Unit == ""
		return
	}
	if p.word(label.from) == "total" && notes.isTotal(column, amount) {
		return
	}
	notes.paid(notes.current, column, amount)
}

// isTotal reports whether an amount is the sum of those of several series: "Total intereses".
func (notes *seriesNotes) isTotal(column class, text string) bool {
	const fewest = 2
	total, ok := new(big.Rat).SetString(text)
	if !ok || len(notes.all) < fewest {
		return false
	}
	sum := new(big.Rat)
	for _, s := range notes.all {
		amount, ok := new(big.Rat).SetString(s.amounts[column])
		if !ok {
			return false
		}
		sum.Add(sum, amount)
	}
	return sum.Cmp(total) == 0
}

// conceptBehind returns the words behind an amount that say what it is: "5.000 euros en
// concepto de intereses".
func (p *part) conceptBehind(v *value.Value) (cell, bool) {
	const longest = 5
	if p.word(v.To) != "en" && p.word(v.To) != "in" {
		return cell{}, false
	}
	switch p.word(v.To + 1) {
	case "concepto", "concepte", "respect":
		return cell{v.To, min(v.To+longest, len(p.tokens))}, true
	}
	return cell{}, false
}

// paidColumn returns the column to which a label belongs, if it is that of one amount that is
// paid before taxes.
func (p *part) paidColumn(label cell) (class, bool) {
	if named, ok := lastCue(p.all("bond interest", "bond redemption"), label.from, label.to); ok && p.cells == nil {
		// "…, sin retención, y amortización de principal por …"
		from, _ := p.clause(named.from)
		label.from = max(label.from, from)
	}
	has := func(classes ...class) bool { // a cue that goes on in the next cell is none
		_, ok := firstCue(p.all(classes...), label.from, label.to)
		return ok
	}
	interest := has("bond interest")
	redemption := has("bond redemption")
	if interest == redemption || has("bond not paid") {
		return "", false
	}
	column := columnsTotal.redemption
	if interest {
		column = columnsTotal.interest
	}
	if has("bond each") {
		column += " each"
	}
	return column, true
}

// bondColumn returns the column of a cell of a heading with some cues, if they name one amount: one
// of them says what it is, and the others that it is for all bonds or for one, or of what it is
// a part ("saldo tras la amortización").
func bondColumn(p *part, c cell, cues []cue) (class, bool) {
	if cues[0].class != "bond series" && cues[0].class != "bond isin" && (p.isPercentColumn(c) || p.isDueColumn(c)) {
		return "bond number", true
	}
	named := -1 // the last cue that is no addition
	isAmount := false
	for n, each := range cues {
		if n > 0 && p.isWholeSeries(each) {
			continue
		}
		if each.class == "bond series" || each.class == "bond isin" {
			return "", false
		}
		if each.class == "bond number" && p.isAddition(each) {
			continue
		}
		isApart := named >= 0 && !p.isConnected(cues[named].to, each.from) && !p.isTranslated(cues[named], each)
		if isApart && !p.isSumColumn(c) {
			return "", false
		}
		isAmount = isAmount || each.class != "bond number"
		named = n
	}
	if !isAmount || p.hasBetween(c.from, c.to, "bond not paid") || p.isSumColumn(c) {
		return "bond number", true
	}
	return p.paidColumn(c)
}

// isPercentColumn reports whether a cell is the heading of a column of percentages: "% amortizado".
func (p *part) isPercentColumn(c cell) bool {
	for k := c.from; k < c.to; k++ {
		if p.mark(k) == "%" && (k == 0 || !p.tokens[k-1].IsNumber()) {
			return true
		}
	}
	return false
}

// isDueColumn reports whether a cell is the heading of what is due, and another one that of what is
// paid: "Interest due", "Interest paid".
func (p *part) isDueColumn(c cell) bool {
	return p.hasBetween(c.from, c.to, "bond due") && !p.hasBetween(c.from, c.to, "bond settled") &&
		p.has("bond settled")
}

// isAddition reports whether a cue only says whether an amount is for all bonds or for one.
func (p *part) isAddition(c cue) bool {
	for k := c.from; k < c.to; k++ {
		switch p.word(k) {
		case "total", "totales", "totals", "importe", "bruto", "gross", "por", "per", "cada",
			"bono", "titulo", "bond", "note", "bo":
		default:
			return false
		}
	}
	return true
}

// isTranslated reports whether two cues of a cell are the same in two languages: "Intereses por bono /
// Interest per note".
func (p *part) isTranslated(a, b cue) bool {
	return a.class == b.class && p.sameHeading(a.to, b.from)
}

// isWholeSeries reports whether a cue behind the name of an amount says that it is that of all bonds of
// a series: "Intereses totales serie".
func (p *part) isWholeSeries(c cue) bool {
	if c.class != "bond series" || c.to != c.from+1 {
		return false
	}
	switch p.word(c.from) {
	case "serie", "series", "clase", "class", "tramo", "tranche":
		return true
	}
	return false
}

// isSumColumn reports whether a cell is the heading of the sum of both amounts: "Intereses y
// amortización".
func (p *part) isSumColumn(c cell) bool {
	interest, isInterest := firstCue(p.all("bond interest"), c.from, c.to)
	redemption, isRedemption := firstCue(p.all("bond redemption"), c.from, c.to)
	if !isInterest || !isRedemption {
		return false
	}
	for k := min(interest.to, redemption.to); k < max(interest.from, redemption.from); k++ {
		if isAnd(p.word(k)) || p.mark(k) == "+" {
			return true
		}
	}
	return false
}

// isConnected reports whether only prepositions and articles are in a range of tokens.
func (p *part) isConnected(from, to int) bool {
	for k := from; k < to; k++ {
		switch p.word(k) {
		case "de", "del", "la", "el", "los", "d", "l", "tras", "despues", "antes", "sobre",
			"of", "the", "after", "before", "on":
		default:
			return false
		}
	}
	return to > from
}

func isEachColumn(column class) bool {
	return column == columnsEach.interest || column == columnsEach.redemption
}

// readSeriesColumns reads a table with a column for each series: a row with their codes, and
// rows with the amounts.
func (r *reading) readSeriesColumns(notes *seriesNotes, t *table) {
	var columns []*bondSeries
	for n, row := range t.formRows() {
		p := &r.parts[row]
		if p.aside || p.isTooLong() || len(p.cells) < 3 {
			continue
		}
		codes := anchorsOf(&bondsGrid, p)
		if len(codes) > 1 && len(codes) == len(p.cells)-1 && columns == nil {
			columns = notes.startColumns(codes)
			if n > 0 {
				r.nameColumns(columns, t.rows[n-1])
			}
			continue
		}
		if len(columns) != len(p.cells)-1 {
			continue
		}
		r.readPaidRow(notes, t, row, columns)
	}
}

func (notes *seriesNotes) startColumns(codes []*value.Value) (columns []*bondSeries) {
	for _, v := range codes {
		if slices.ContainsFunc(notes.all, func(s *bondSeries) bool { return s.isin == v.Text }) {
			notes.unsure = true
		}
		notes.start(&bondSeries{isin: v.Text})
		columns = append(columns, notes.current)
	}
	return columns
}

// nameColumns gives the series of columns the names in the row above their codes.
func (r *reading) nameColumns(columns []*bondSeries, row int) {
	p := &r.parts[row]
	if len(p.cells) != len(columns)+1 {
		if len(p.cells) != len(columns) {
			return
		}
		for n, c := range p.cells { // the first cell is empty
			columns[n].name = p.seriesName(c.from, c.to)
		}
		return
	}
	for n, c := range p.cells[1:] {
		columns[n].name = p.seriesName(c.from, c.to)
	}
}

// readPaidRow reads a row with an amount for each series.
func (r *reading) readPaidRow(notes *seriesNotes, t *table, row int, columns []*bondSeries) {
	p := &r.parts[row]
	column, ok := p.paidColumn(p.cells[0])
	if !ok {
		return
	}
	scale := r.headingOf(t, row, 1, p.cells[0])
	for n, c := range p.cells[1:] {
		figures := p.figuresIn(c)
		if len(figures) != 1 {
			notes.unsure = true
			return
		}
		power := scale.Power
		v := figures[0]
		if v.Scaled() {
			power = 0
		}
		text, ok := decimal(v, power)
		if !ok || v.Negative || scale.Unclear || scale.Percent || v.Unit != "" && value.CurrencyCode(v.Unit) == "" {
			notes.unsure = true
			return
		}
		notes.paid(columns[n], column, text)
	}
}
