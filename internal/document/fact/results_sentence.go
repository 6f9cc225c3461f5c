package fact

import (
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/value"
)

// findInSentences finds the amounts that sentences state.
func (f *resultFinder) findInSentences() {
	for i := range f.parts {
		p := &f.parts[i]
		if p.aside || p.cells != nil || f.scopes[i].segment || f.scopes[i].doubt || f.namesOther(p) {
			continue
		}
		s := &resultSentence{finder: f, part: p, index: i}
		s.measures = p.measures()
		if len(s.measures) == 0 || len(s.measures) > mostLabels {
			continue
		}
		if p.has("results minority row") && p.hasMoney() {
			f.minority = true
		}
		s.compared = p.comparisons()
		s.mentions = p.mentions(0, len(p.tokens))
		s.read()
		s.readShare()
	}
}

// resultSentence reads the amounts of a sentence, from left to right.
type resultSentence struct {
	finder   *resultFinder
	part     *part
	index    int
	measures []ledgerItem
	compared []bool
	mentions []mention
	pending  []ledgerItem // measures whose figures have not come yet
	other    bool         // a figure that is no amount came behind them
	grown    bool         // a figure is by how much a measure grew
}

func (s *resultSentence) read() {
	p := s.part
	next := 0
	for k := 0; k < len(p.values); k++ {
		v := &p.values[k]
		for next < len(s.measures) && s.measures[next].from < v.From {
			s.expect(s.measures[next], v)
			next++
		}
		if !p.isNumber(v) || s.compared[v.From] || s.isInserted(v.From) {
			continue
		}
		if former, clear := s.isFormer(k); former {
			if !clear {
				s.pending = nil
			}
			continue
		}
		got, ok := p.amount(v, p.scaleBehind(v))
		if !ok || s.isChange(v) || s.isGrowth(v) {
			s.other = true
			continue
		}
		if next < len(s.measures) && s.isOf(v, s.measures[next]) {
			s.keep(s.measures[next], got, v)
			next++
			continue
		}
		k += s.assign(k, got)
	}
	switch {
	case len(s.measures) != 1:
	case len(p.values) == 0:
		s.below()
	case len(p.values) == 1 && strings.Contains(p.text, "\n"):
		s.inLine()
	}
}

// inLine reads the figure in the second line of a part whose first line is the name of a measure,
// below lines that have the unit: "Ventas netas", "302,1".
func (s *resultSentence) inLine() {
	p := s.part
	v := &p.values[0]
	if v.Scaled() || v.Unit != "" || v.To != len(p.tokens) || v.From == 0 || !p.isLabel(0, v.From, s.measures[0]) ||
		s.finder.strict {
		return
	}
	if !strings.Contains(p.text[p.tokens[v.From-1].End():p.tokens[v.From].At], "\n") {
		return
	}
	if got, ok := p.amount(v, s.unitOfCards(s.index)); ok {
		s.finder.add(s.measures[0], got, s.finder.placeOf(s.index, v))
	}
}

// unitOfCards returns the unit that stands above lines with a measure or a figure each.
func (s *resultSentence) unitOfCards(i int) value.Scale {
	const reach = 10  // lines
	const longest = 8 // tokens of a line
	for k := i - 1; k >= max(0, i-reach); k-- {
		p := &s.finder.parts[k]
		if p.cells != nil || len(p.tokens) > longest {
			break
		}
		if scale, ok := p.scaleInBrackets(); ok {
			return scale
		}
	}
	return s.finder.formUnit()
}

// isFormer reports whether a figure is the one from which a measure came: "los ingresos pasaron
// de 10,1 a 12,3 millones", "rose from €10m to €12m". Without a verb it is not clear which of
// the two is that of the period.
func (s *resultSentence) isFormer(k int) (former, clear bool) {
	const reach = 4 // tokens: "a los 12,3"
	p := s.part
	if k+1 >= len(p.values) {
		return false, false
	}
	v, next := &p.values[k], &p.values[k+1]
	if !p.isNumber(next) || next.From-v.To > reach {
		return false, false
	}
	from := p.wordBeforeFigure(v.From)
	to := p.wordBeforeFigure(next.From)
	if to != v.To && !(to == v.To+1 && p.word(v.To) == "fins") {
		return false, false // "4,02 millones, frente a 31,50 millones"
	}
	switch p.word(to) {
	case "a", "to", "hasta", "fins", "als":
	default:
		return false, false
	}
	switch p.word(from) {
	case "desde", "from", "des":
		return true, true
	case "de", "dels":
		return true, p.hasBetween(from-reach, from, "results growth", "results passes") || p.mark(from-1) == ","
	}
	return false, false
}

// wordBeforeFigure returns the token of the word before a figure, without articles and the signs
// of currencies.
func (p *part) wordBeforeFigure(i int) int {
	i--
	for i >= 0 && (articles.Has(p.word(i)) && p.word(i) != "a" || p.word(i) == "" && p.mark(i) != "," ||
		value.IsCurrency(strings.ToLower(p.mark(i)))) {
		i--
	}
	return i
}

// isInserted reports whether a figure or another measure is in words between commas, directly behind the measure,
// that say what the measure includes: "el EBITDA, tras 3 millones de costes de
// reestructuración, fue de 49,8 millones".
func (s *resultSentence) isInserted(at int) bool {
	p := s.part
	last := len(s.pending) - 1
	if last < 0 {
		return false
	}
	open := s.pending[last].to
	if p.mark(open) != "," && p.mark(open) != "(" && p.mark(open) != "–" && p.mark(open) != "—" ||
		!insertingWords.Has(p.word(open+1)) {
		return false
	}
	for i := open + 1; i < at; i++ {
		switch p.mark(i) {
		case ",", ")", "–", "—", ";":
			return false
		}
	}
	return true
}

// insertingWords begin words about what a measure includes, or what it comes from.
var insertingWords = lexicon.NewSet("tras despues antes incluyendo incluido incluida incluidos incluidas incluye deducid* descontad* descontando " +
	"excluyendo excluid* sin neto neta netos netas una after before including net excluding without once despite thanks " +
	"gracias pese impulsado impulsada afectado afectada lastrado lastrada driven helped despres abans incloent inclos")

// readShare reads how much of a profit belongs to the shareholders of the company: "de los
// cuales 21 millones corresponden a la sociedad dominante". The profit itself is then that
// of others too.
func (s *resultSentence) readShare() {
	p := s.part
	first := slices.IndexFunc(s.measures, func(m ledgerItem) bool { return m.field == "net_profit" })
	if first < 0 {
		return
	}
	for _, c := range p.all("results of which") {
		k := p.firstValue(c.to)
		if c.from < s.measures[first].to || k == len(p.values) || p.values[k].From-c.to > 3 || s.compared[c.from] {
			continue
		}
		v := &p.values[k]
		end := len(p.tokens)
		if k+1 < len(p.values) {
			end = p.values[k+1].From
		}
		parent := p.hasBetween(v.To, end, "results parent share")
		if !parent && !p.hasBetween(v.To, end, "results minority row") {
			continue
		}
		s.finder.minority = true
		m := s.measures[first]
		m.tier = 0
		if got, ok := p.amount(v, value.Scale{}); ok && parent && !m.void && s.isOfPeriod(v) && !s.compared[v.From] {
			s.finder.add(m, got, s.finder.placeOf(s.index, v))
		}
	}
}

// scaleBehind returns the unit behind a figure in brackets: "(2.100) miles de euros".
func (p *part) scaleBehind(v *value.Value) value.Scale {
	if p.mark(v.From-1) != "(" || p.mark(v.To) != ")" {
		return value.Scale{}
	}
	scale, _ := value.ReadScale(p.tokens[min(v.To+1, len(p.tokens)):min(v.To+4, len(p.tokens))], p.english)
	return scale
}

// expect adds a measure whose figure is to come.
func (s *resultSentence) expect(m ledgerItem, v *value.Value) {
	if s.compared[m.from] || m.next && !s.follows(m, v) || s.isInserted(m.from) {
		return
	}
	last := len(s.pending) - 1
	if s.other || last >= 0 && s.part.endsBetween(s.pending[last].to, m.from) {
		s.pending = s.pending[:0]
	}
	s.other = false
	if last := len(s.pending) - 1; last >= 0 && s.pending[last].field == m.field && m.field != "" && !m.void {
		return // the same again: "los ingresos, gracias a las ventas"
	}
	s.pending = append(s.pending, m)
}

// follows reports whether a figure is directly behind a verb.
func (s *resultSentence) follows(m ledgerItem, v *value.Value) bool {
	if v.Kind != value.Figure || v.From-m.to > 2 {
		return false
	}
	for i := m.to; i < v.From; i++ {
		switch s.part.mark(i) {
		case "los", "€", "EUR", "US", "$", "els", "-", "de", "of", "USD", "£":
		default:
			return false
		}
	}
	return true
}

// isOf reports whether a measure is directly behind its figure: "3 millones de ventas".
func (s *resultSentence) isOf(v *value.Value, m ledgerItem) bool {
	w := s.part.word(v.To)
	return m.from == v.To+1 && (w == "de" || w == "of" || w == "in" || w == "d") && !m.void && m.field != "" && !m.next
}

// isChange reports whether a figure is the size of a change: "un aumento de 5 millones".
func (s *resultSentence) isChange(v *value.Value) bool {
	for _, c := range s.part.all("results change") {
		if c.to <= v.From && v.From-c.to <= 2 {
			return true
		}
	}
	switch s.part.word(v.To) {
	case "mas", "menos", "superior", "superiores", "inferior", "inferiores", "more", "less", "higher", "lower", "mes", "menys", "adicionales", "extra":
		return true
	}
	return false
}

// isGrowth reports whether a figure is by how much a measure grew: "los ingresos crecieron 10
// millones y el EBITDA 2 millones". The second one has no verb.
func (s *resultSentence) isGrowth(v *value.Value) bool {
	i := v.From - 1
	for i >= 0 && (growthFiller.Has(s.part.word(i)) || s.part.word(i) == "" && s.part.mark(i) != ",") {
		i--
	}
	if s.part.hasBetween(i, i+1, "results growth") {
		s.grown = true
		return true
	}
	return s.grown && slices.ContainsFunc(s.measures, func(m ledgerItem) bool { return m.to == i+1 })
}

// growthFiller are the words between a verb of growth and by how much.
var growthFiller = lexicon.NewSet("en unos by eur usd us casi nearly almost some")

// isLimited reports whether a measure is that of something else than the company: "ventas
// de activos", "ingresos en Francia".
func (s *resultSentence) isLimited(m ledgerItem) bool {
	p := s.part
	if limitingWords.Has(p.word(m.to)) || limitingWords.Has(p.word(m.from-1)) && p.english {
		return true
	}
	if s.finder.bank && volumeWords.Has(p.word(m.from)) {
		return true
	}
	switch p.word(m.to) {
	case "de", "del", "d", "of", "from", "por", "en", "in", "dels", "para", "con":
	default:
		return false
	}
	next := m.to + 1
	for next < len(p.tokens) && (articles.Has(p.word(next)) || isQuote(p.mark(next))) {
		next++
	}
	if next >= len(p.tokens) || p.tokens[next].Folded == "" || p.tokens[next].IsNumber() ||
		ofCompany.Has(p.word(next)) ||
		isInMention(s.mentions, next) || value.IsCurrency(strings.ToLower(p.mark(next))) {
		return false
	}
	return !slices.Contains(s.finder.own, p.word(next))
}

var (
	// limitingWords are adjectives that make a measure that of a part of the business.
	limitingWords = lexicon.NewSet("minorista* mayorista* internacional* nacional* domestic* digital* online comercial* bancari* hoteler* inmobiliari* " +
		"gestionad* asegurador* aseguradora* retail wholesale international domestic overseas european american iberian spanish rental hotel " +
		"advertising subscription licence license export service services product products commercial banking managed segment divisional " +
		"industrial* turistic* publicitari* agricol* ganader* energetic* logistic* editorial* farmaceutic* regulad* regulated exterior* " +
		"individual* standalone proportional proporcional* contratad* contracted pendient* unitari* medi* average " +
		"anualizad* potencial* contractual* annualised annualized extraordinari* atipic* recurrent* recurring comparabl* subyacent* underlying ajustad* adjusted organic* equivalent* latent* teoric*")
	// volumeWords begin the names of a volume of business.
	volumeWords = lexicon.NewSet("volumen volum business cifra turnover")
	articles    = lexicon.NewSet("la el los las the l its su sus un una unos unas a an dicho este esta this els les")
	// ofCompany are words behind "ingresos de" that mean the whole company or period.
	ofCompany = lexicon.NewSet("grupo sociedad compania empresa group company ejercicio periodo year period ano trimestre semestre quarter half " +
		"importe valor total totales cierre perimetro entidad fondo parent dominant holding socimi grup societat companyia exercici periode conjunto matriz dominante " +
		"explotacion forma mas menos casi unos unas hasta torno cerca eur usd us linea")
)

// isSettled reports whether nothing behind the figure of a verb changes what it means, as
// in "gana 5 millones por la venta de su sede".
func (s *resultSentence) isSettled(v *value.Value) bool {
	p := s.part
	if v.To >= len(p.tokens) || p.tokens[v.To].Folded == "" {
		return true
	}
	switch p.word(v.To) {
	case "y", "and", "i", "frente", "netos", "net", "hasta", "al", "en", "durante", "in", "for", "during", "a":
	default:
		return false
	}
	next := v.To + 1
	for next < len(p.tokens) && articles.Has(p.word(next)) {
		next++
	}
	switch p.word(v.To) {
	case "en", "in", "durante", "for", "during":
		return isInMention(s.mentions, next) || ofCompany.Has(p.word(next)) ||
			next < len(p.tokens) && p.isPeriodWord(next)
	}
	return true
}

// isPeriodWord reports whether a token is the first of a period behind words such as
// "periodo de los nueve primeros meses".
func (p *part) isPeriodWord(i int) bool {
	switch p.word(i) {
	case "periodo", "primer", "primera", "primeros", "ultimo", "pasado", "period", "first", "mismo", "conjunto":
		return true
	}
	return false
}

// assign gives the figures from one on to the measures that wait for them, and returns
// how many more than one it took.
func (s *resultSentence) assign(k int, got read) int {
	p := s.part
	waiting := s.pending
	s.pending = nil
	s.other = false
	if len(waiting) == 0 {
		return 0
	}
	if len(waiting) == 1 {
		s.keep(waiting[0], got, &p.values[k])
		return 0
	}
	// "los ingresos y el EBITDA ascendieron a 10 y 2 millones, respectivamente"
	amounts := []read{got}
	last := k
	for n := k + 1; n < len(p.values) && len(amounts) <= len(waiting); n++ {
		v := &p.values[n]
		if v.From-p.values[last].To > 4 || s.compared[v.From] {
			break
		}
		more, ok := p.amount(v, value.Scale{})
		if !ok {
			break
		}
		amounts = append(amounts, more)
		last = n
	}
	if len(amounts) != len(waiting) {
		return 0
	}
	for n, m := range waiting {
		s.keep(m, amounts[n], &p.values[k+n])
	}
	return last - k
}

// keep keeps an amount if it is that of the period, and certain.
func (s *resultSentence) keep(m ledgerItem, got read, v *value.Value) {
	if m.field == "" || m.void || v.From-m.to > defaultReach || s.part.endsBetween(m.to, v.From) {
		return
	}
	if s.isLimited(m) || m.next && !s.isSettled(v) || s.isDoubtful(m, v) || !s.isOfPeriod(v) {
		return
	}
	if m.field != "revenue" && s.saysLoss(m.to, v.From) {
		// "el beneficio, tras las pérdidas": whose figure it is, is not certain
		adjacent := lossWords.Has(s.part.word(m.to)) && !s.saysLoss(m.to+1, v.From) // "the EBITDA loss narrowed to"
		if s.saysProfit(m) || !adjacent && !s.isLossOf(m, v) {
			return
		}
		m.loss = true
	}
	s.finder.add(m, got, s.finder.placeOf(s.index, v))
}

// saysLoss reports whether words in a range make a result a loss: "el resultado arroja unas
// pérdidas de".
func (s *resultSentence) saysLoss(from, to int) bool {
	for i := from; i < to; i++ {
		if !s.compared[i] && lossWords.Has(s.part.word(i)) {
			return true
		}
	}
	return false
}

// isLossOf reports whether the word for a loss is directly before a figure: "pérdidas netas
// por importe de".
func (s *resultSentence) isLossOf(m ledgerItem, v *value.Value) bool {
	for i := v.From - 1; i >= m.to; i-- {
		w := s.part.word(i)
		if lossWords.Has(w) {
			return true
		}
		if w != "" && !lossFiller.Has(w) {
			return false
		}
	}
	return false
}

var lossFiller = lexicon.NewSet("de d por importe valor neta netas neto netos net consolidada consolidadas atribuida atribuidas atribuible atribuibles " +
	"en of los las unos unas total eur usd us a per un una the with")

// saysProfit reports whether the name of a measure is that of a profit only.
func (s *resultSentence) saysProfit(m ledgerItem) bool {
	for i := m.from; i < m.to; i++ {
		if profitWords.Has(s.part.word(i)) {
			return true
		}
	}
	return false
}

var profitWords = lexicon.NewSet("beneficio* profit* benefici ganancia* earnings gana gano guany*")

var lossWords = lexicon.NewSet("perdida* perdua perdues loss losses negativ* rojos deficit deficits negatiu* quebranto*")

// doubts are the classes of the words that make a figure a plan or a possibility.
var doubts = []class{"possible", "planned", "conditional", "policy", "example", "results doubt"}

// isDoubtful reports whether words around a figure say that it is a plan, of an earlier
// period, or of a part of the business. Words behind a comma are about something else.
func (s *resultSentence) isDoubtful(m ledgerItem, v *value.Value) bool {
	p := s.part
	from := 0
	for i := v.From - 1; i > 0; i-- {
		if p.mark(i) == ";" {
			from = i
			break
		}
	}
	to := v.To
	for to < len(p.tokens) && p.mark(to) != "," && p.mark(to) != ";" && p.word(to) != "y" && p.word(to) != "and" {
		to++
	}
	if s.ofMonth(from, v.From) {
		return true
	}
	for _, c := range p.cues {
		if c.from < from || c.from >= to || s.compared[c.from] {
			continue
		}
		switch {
		case isOneOf(c.class, doubts):
			if p.word(c.from) == "si" && p.word(c.from+1) == "bien" || p.isInDate(c.from) {
				continue
			}
			return true
		case c.class == "results earlier", c.class == "results accumulated" && isPartial(s.finder.period.part):
			return true
		case c.class == "results segment" && !s.isMeasured(c) && !s.isSource(c):
			return true
		case c.class == "denied" && c.from >= m.to && c.from < v.From:
			return true
		}
	}
	return false
}

// isSource reports whether "de los que" refers to no figure, but to that from which the figures
// are taken: "los estados financieros, de los que resultan los siguientes datos".
func (s *resultSentence) isSource(c cue) bool {
	p := s.part
	isFigure := func(v value.Value) bool { return v.Kind == value.Figure && v.To <= c.from }
	return p.hasBetween(c.from, c.from+1, "results of which") && !slices.ContainsFunc(p.values, isFigure)
}

// ofMonth reports whether words in a range name a month alone: "en junio".
func (s *resultSentence) ofMonth(from, to int) bool {
	for k := s.part.firstValue(from); k < len(s.part.values) && s.part.values[k].From < to; k++ {
		v := &s.part.values[k]
		if v.Kind == value.Date && v.Month > 0 && v.Day == 0 && !s.compared[v.From] &&
			!isInMention(s.mentions, v.From) {
			return true
		}
	}
	return false
}

func isOneOf(c class, all []class) bool {
	for _, other := range all {
		if c == other {
			return true
		}
	}
	return false
}

// isInDate reports whether a token is part of a date, such as May.
func (p *part) isInDate(token int) bool {
	n := p.firstValue(token + 1)
	return n > 0 && p.values[n-1].Kind == value.Date && p.values[n-1].To > token
}

// isMeasured reports whether a cue overlaps the name of a measure.
func (s *resultSentence) isMeasured(c cue) bool {
	for _, m := range s.measures {
		if c.from < m.to && m.from < c.to && !m.void {
			return true
		}
	}
	return false
}

// isOfPeriod reports whether a figure is of the period of the document: the words before
// it name that period, or those behind it, or the sentences before, or none do.
func (s *resultSentence) isOfPeriod(v *value.Value) bool {
	f := s.finder
	before, after := mention{}, mention{}
	for _, m := range s.mentions {
		switch {
		case s.compared[m.from] || s.part.endsBetween(min(m.to, v.From), v.From) ||
			s.part.endsBetween(v.To, max(m.from, v.To)):
		case m.to <= v.From:
			before = m
		case m.from >= v.To && after.to == 0 && !s.figureBetween(v.To, m.from):
			after = m
		}
	}
	switch {
	case before.to > 0 && after.to > 0:
		return f.isCurrent(before) && (f.isCurrent(after) || s.commaBetween(v.To, after.from))
	case before.to > 0:
		return f.isCurrent(before)
	case after.to > 0:
		return f.isCurrent(after) || s.commaBetween(v.To, after.from) && !f.strict
	}
	for i := s.index - 1; i >= 0 && i > s.index-8 && f.parts[i].paragraph == s.part.paragraph; i-- {
		p := &f.parts[i]
		compared := p.comparisons()
		for _, m := range p.mentions(0, len(p.tokens)) {
			if !compared[m.from] {
				before = m
			}
		}
		if before.to > 0 {
			return f.isCurrent(before)
		}
	}
	if h := f.scopes[s.index].heading; h >= 0 {
		for _, m := range f.parts[h].mentions(0, len(f.parts[h].tokens)) {
			before = m
			if f.isCurrent(m) {
				return true
			}
		}
		if before.to > 0 && !before.day {
			return false
		}
	}
	return !f.strict
}

func (s *resultSentence) figureBetween(from, to int) bool {
	n := s.part.firstValue(from)
	return n < len(s.part.values) && s.part.values[n].Kind == value.Figure && s.part.values[n].Unit != "%" &&
		s.part.values[n].From < to
}

func (s *resultSentence) commaBetween(from, to int) bool {
	for i := from; i < to; i++ {
		if s.part.mark(i) == "," {
			return true
		}
	}
	return false
}

// below reads the amount in the line behind a line that has only the measure.
func (s *resultSentence) below() {
	f := s.finder
	p := s.part
	if !p.isLabel(0, len(p.tokens), s.measures[0]) || s.index+1 >= len(f.parts) {
		return
	}
	next := &f.parts[s.index+1]
	if next.cells != nil || next.page != p.page || len(next.values) != 1 || len(next.tokens) > 6 || f.strict {
		return
	}
	heading, ok := value.ReadScale(p.tokens, p.english)
	if !ok {
		heading = s.unitOfCards(s.index)
	}
	if got, ok := next.amount(&next.values[0], heading); ok {
		f.add(s.measures[0], got, f.placeOf(s.index+1, &next.values[0]))
	}
}
