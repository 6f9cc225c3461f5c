package fact

import (
	"regexp"
	"slices"
	"strings"

	"pregon/internal/document/lexicon"
	"pregon/internal/document/passage"
	"pregon/internal/document/value"
)

// reading is a document as the rules see it.
type reading struct {
	Document
	title    *part    // of the report, read like a line of the document
	category *part    // allows a rule to try, and decides nothing alone
	own      []string // folded words of the name of the company
	pages    []string
	parts    []part
	tables   []table
	// inColumns says that paragraphs stand beside the same in another language: then tables
	// have words of both, which tell nothing about the notation of their figures
	inColumns bool
	// blocks that hold the slices of the parts
	tokens block[value.Token]
	cues   block[cue]
	// room for the part that is read
	words  []*word
	values []value.Value
	ofCell []value.Value
}

// part is a sentence of a paragraph, a line, or a row of a table.
type part struct {
	page    int // index
	start   int // offset of its text in the page
	text    string
	tokens  []value.Token
	values  []value.Value
	cues    []cue
	classes classSet // of the cues, once counted
	counted bool
	// the answer of reading.namesOther, once read
	namesOther bool
	namesRead  bool
	cells      []cell // of a row; nil for a sentence
	column     bool   // one of two that stand beside each other: its text has spaces in place of the other
	paragraph  int    // number of its paragraph
	english    bool
	// the number of words that only one of the languages has
	englishWords int
	spanishWords int
	heading      bool // the title of a section
	aside        bool // in a section that states nothing new: notices, definitions, contacts
}

// cell is a cell of a row, in tokens.
type cell struct{ from, to int }

// table is a sequence of rows. A table that continues on the next page is one.
type table struct {
	rows   []int // indexes of parts
	before int   // index of the part before it, or -1
}

// longestRead is the most text, in bytes, that is read. Longer documents are annual
// reports, whose first pages state what is new.
const longestRead = 1 << 20

// mostTokens is the most that is read of a sentence or row. Rules compare the values of a
// part with its cues, so that its length must have a bound.
const mostTokens = 4000

// leaders matches the dots between a label and its value.
var leaders = regexp.MustCompile(`[ \t]*(?:\.[ ]?){4,}[ \t]*|[ \t]+\.{3}[ \t]+|` +
	`[ \t]*(?:…[ ]?){2,}[ \t]*|[ \t]*(?:_){4,}[ \t]*`)

// readDocument splits a document into its parts, and finds their values and cues.
func readDocument(d Document) *reading {
	r := &reading{Document: d}
	r.title = r.readLine(d.Title)
	r.category = r.readLine(d.Category)
	r.own = strings.Fields(lexicon.Fold(d.Company))
	left := longestRead
	r.parts = make([]part, 0, expectedParts(d.Pages))
	for n, page := range d.Pages {
		if len(page) > left {
			page = page[:left]
		}
		left -= len(page)
		if hasOtherBreak(page) {
			page = passage.LineBreaks.Replace(page)
		}
		r.pages = append(r.pages, page)
		r.readPage(n, withRowsOfLines(withoutStrayGaps(withTabs(withDigits(page)))))
	}
	r.dropDoubtsInName()
	r.setLanguages()
	r.findTables()
	r.voidCorrected()
	r.markAsides()
	r.markRecalled()
	return r
}

// hasOtherBreak reports whether a page has breaks that are no line feed. Most pages have none.
func hasOtherBreak(page string) bool {
	return strings.IndexByte(page, '\r') >= 0 || strings.IndexByte(page, '\f') >= 0 ||
		strings.Contains(page, "\u2028") || strings.Contains(page, "\u2029")
}

// expectedParts returns about how many parts some pages have.
func expectedParts(pages []string) int {
	const length = 80 // bytes, of most parts
	total := 0
	for _, page := range pages {
		total += len(page)
	}
	return min(total, longestRead) / length
}

// dropDoubtsInName drops the cues within the name of the company that would raise doubts
// about a sentence: "Cerámicas del Nunca Jamás, S.A. comunica", and those that name figures:
// "Inversiones Záncara gana".
func (r *reading) dropDoubtsInName() {
	var name []string
	for _, t := range value.Tokenise(r.Company) {
		if t.Folded == "" {
			break // the legal form follows
		}
		name = append(name, t.Folded)
	}
	if len(name) < 2 || len(name) > 12 {
		return
	}
	for i := range r.parts {
		p := &r.parts[i]
		var ends map[int]int // for the tokens of a name, its end
		for k := 0; k < len(p.tokens); k++ {
			end, ok := wordsAt(p.tokens, k, name)
			if !ok {
				continue
			}
			if ends == nil {
				ends = map[int]int{}
			}
			for ; k < end; k++ {
				ends[k] = end
			}
			k--
		}
		if len(ends) > 0 {
			p.cues = slices.DeleteFunc(p.cues, func(c cue) bool {
				return c.to <= ends[c.from] && (raisesDoubt(c.class) || isResultClass(c.class))
			})
		}
	}
}

// wordsAt reports whether words begin at a token, and returns the end. Hyphens, quotes,
// brackets and apostrophes between the words do not matter.
func wordsAt(tokens []value.Token, i int, words []string) (end int, ok bool) {
	for n, word := range words {
		if n > 0 {
			i = behindLinks(tokens, i)
		}
		if i >= len(tokens) || tokens[i].Folded != word {
			return 0, false
		}
		i++
	}
	return i, true
}

// withTabs returns a page with a tab in place of the dots between two cells. Its length
// stays the same, so that offsets are those of the page.
func withTabs(page string) string {
	if !strings.Contains(page, "...") && !strings.Contains(page, ". . .") && !strings.Contains(page, "……") &&
		!strings.Contains(page, "____") {
		return page
	}
	return leaders.ReplaceAllStringFunc(page, func(dots string) string {
		return "\t" + strings.Repeat(" ", len(dots)-1)
	})
}

func (r *reading) readPage(n int, page string) {
	paragraph := 0
	if len(r.parts) > 0 {
		paragraph = r.parts[len(r.parts)-1].paragraph
	}
	columns := paragraphsBeside(page)
	for _, block := range passage.Blocks(page) {
		paragraph++
		for len(columns) > 0 && block.Start >= columns[0].at.End {
			columns = columns[1:]
		}
		if len(columns) > 0 && block.Start >= columns[0].at.Start {
			if at := &columns[0]; !at.read {
				at.read = true
				r.inColumns = true
				r.readBeside(n, at, paragraph)
				paragraph++
			}
			continue
		}
		if hasGapInLine(block.Of(page)) {
			if columns := proseColumns(page, block); columns != nil {
				r.inColumns = true
				for _, column := range columns {
					for _, sentence := range passage.Sentences(page, column) {
						r.addPart(n, page, sentence, paragraph, false)
					}
					paragraph++
				}
				continue
			}
			for _, row := range splitForm(page, block) {
				r.addPart(n, page, row, paragraph, true)
			}
			continue
		}
		for _, lines := range splitLines(page, block) {
			for _, sentence := range passage.Sentences(page, lines) {
				r.addPart(n, page, sentence, paragraph, false)
			}
		}
	}
}

// hasGapInLine reports whether a line has a gap between cells. The indent of a line is none.
func hasGapInLine(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if passage.HasGap(strings.Trim(line, " ")) {
			return true
		}
	}
	return false
}

func (r *reading) addPart(n int, page string, at passage.Span, paragraph int, row bool) {
	p := part{
		page:      n,
		start:     at.Start,
		text:      at.Of(page),
		paragraph: paragraph,
	}
	tokens := value.AppendTokens(r.tokens.room(), p.text)
	tokens = tokens[:min(len(tokens), mostTokens)]
	r.words = phrases.appendWords(r.words[:0], tokens)
	tokens, words := phrases.repair(tokens, r.words)
	p.tokens = r.tokens.keep(tokens)
	p.cues = p.withoutMonths(r.cues.keep(phrases.appendCues(r.cues.room(), p.tokens, words)))
	p.englishWords, p.spanishWords = countWords(words)
	if row {
		p.cells = cellsOf(p.text, p.tokens)
	}
	r.parts = append(r.parts, p)
}

// cellsOf returns the cells of a row: between two tabs, or two spaces.
func cellsOf(text string, tokens []value.Token) []cell {
	var cells []cell
	from := 0
	for i := range tokens {
		if i == 0 {
			continue
		}
		gap := text[tokens[i-1].End():tokens[i].At]
		if strings.Contains(gap, "\t") || strings.Contains(gap, "  ") {
			cells = append(cells, cell{from, i})
			from = i
		}
	}
	return append(cells, cell{from, len(tokens)})
}

// splitForm splits a form whose lines were joined into its rows: "Agencia .... Fiel Ratings
// Decisión .... Confirmación". A cell then has a value and the next label, which begins
// with a capital letter.
func splitForm(page string, at passage.Span) (rows []passage.Span) {
	text := at.Of(page)
	if strings.Count(text, "\t  ") < 2 { // withTabs writes them in place of dots
		return []passage.Span{at}
	}
	tokens := value.Tokenise(text)
	cells := cellsOf(text, tokens)
	start := 0
	for _, c := range cells[1:max(1, len(cells)-1)] {
		label := labelStart(tokens, c)
		if label == c.from {
			return []passage.Span{at}
		}
		cut := tokens[label].At
		rows = append(rows, passage.Span{Start: at.Start + start, End: at.Start + tokens[label-1].End()})
		start = cut
	}
	return append(rows, passage.Span{Start: at.Start + start, End: at.End})
}

// labelStart returns the token of a cell at which the label behind a value begins: the
// last capital letter outside of brackets, else behind the first figure or date. It
// returns the first token if there is none.
func labelStart(tokens []value.Token, c cell) int {
	depth := 0
	for i := c.to - 1; i > c.from; i-- {
		switch {
		case tokens[i].Text == ")":
			depth++
		case tokens[i].Text == "(":
			depth--
		case depth > 0 || !tokens[i].IsCapital() || !tokens[i].Spaced:
		default:
			first := i
			for first > c.from && tokens[first-1].IsCapital() { // "Payment Date"
				first--
			}
			if first > c.from {
				return first
			}
			return i
		}
	}
	values := value.Read(tokens[c.from:c.to], false)
	if len(values) > 0 && values[0].From == 0 { // "5.000 de los que, por lealtad"
		return min(c.from+values[0].To, c.to-1)
	}
	return c.from
}

// findTables joins rows that follow one another. A table may continue on the next page,
// behind the footer of one page and the header of the other.
func (r *reading) findTables() {
	for i := range r.parts {
		if r.parts[i].cells == nil {
			continue
		}
		if n := len(r.tables) - 1; n >= 0 && r.continues(&r.tables[n], i) {
			r.tables[n].rows = append(r.tables[n].rows, i)
			continue
		}
		r.tables = append(r.tables, table{rows: []int{i}, before: i - 1})
	}
}

// longestBetween is the number of parts that may stand between the rows of a table at the
// end of a page: a footer, and the header of the next page.
const longestBetween = 4

// continues reports whether a row belongs to a table.
func (r *reading) continues(t *table, i int) bool {
	last := t.rows[len(t.rows)-1]
	if r.parts[last].page == r.parts[i].page {
		return last == i-1
	}
	if r.parts[i].page != r.parts[last].page+1 || i-last > longestBetween {
		return false
	}
	first := &r.parts[t.rows[0]]
	if len(first.cells) != len(r.parts[i].cells) {
		return false
	}
	for k := last + 1; k < i; k++ {
		if len(r.parts[k].text) > 120 { // a paragraph, not a footer or header
			return false
		}
	}
	return true
}

// markAsides marks headings, and the parts of sections that state nothing new.
func (r *reading) markAsides() {
	aside := false
	for i := range r.parts {
		p := &r.parts[i]
		alone := (i == 0 || r.parts[i-1].paragraph != p.paragraph) &&
			(i == len(r.parts)-1 || r.parts[i+1].paragraph != p.paragraph)
		p.heading = alone && p.cells == nil && isHeading(p)
		if p.heading {
			aside = p.beginsAside()
		}
		p.aside = aside
	}
}

// beginsAside reports whether a heading begins with the words of a section that states
// nothing new. Within a heading they mean something else: "Comunicación sobre el pago".
func (p *part) beginsAside() bool {
	first := 0
	for first < len(p.tokens) && !p.tokens[first].IsCapital() {
		first++ // a number, a bullet
	}
	for _, c := range p.all("aside") {
		topic := p.word(c.from) == "sobre" || p.word(c.from) == "about" // of a company, not of what is announced
		if c.from == first && (!topic || c.to < len(p.tokens) && p.tokens[c.to].IsCapital()) {
			return true
		}
	}
	return false
}

// isHeading reports whether a line is the title of a section.
func isHeading(p *part) bool {
	if len(p.text) > 90 || len(p.tokens) == 0 || len(p.tokens) > 14 {
		return false
	}
	last := p.tokens[len(p.tokens)-1].Text
	return last != "." && last != ":" && last != ";" && last != "," && p.tokens[0].IsCapital()
}

// mayHave reports whether a part may have a cue of one of some classes. Rules ask for
// dozens of classes, and most parts have none of them.
func (p *part) mayHave(classes []class) bool {
	if !p.counted {
		p.counted = true
		for _, c := range p.cues {
			p.classes.add(c.class)
		}
	}
	for _, c := range classes {
		if p.classes.mayHave(c) {
			return true
		}
	}
	return false
}

// has reports whether a part has a cue of one of some classes.
func (p *part) has(classes ...class) bool {
	return p.mayHave(classes) &&
		slices.ContainsFunc(p.cues, func(c cue) bool { return slices.Contains(classes, c.class) })
}

// all returns the cues of some classes.
func (p *part) all(classes ...class) (found []cue) {
	if !p.mayHave(classes) {
		return nil
	}
	for _, c := range p.cues {
		if slices.Contains(classes, c.class) {
			found = append(found, c)
		}
	}
	return found
}

// hasBetween reports whether a part has a cue of one of some classes that begins in a
// range of tokens.
func (p *part) hasBetween(from, to int, classes ...class) bool {
	return p.mayHave(classes) && slices.ContainsFunc(p.cues, func(c cue) bool {
		return c.from >= from && c.from < to && slices.Contains(classes, c.class)
	})
}

// word returns the folded word at a token, or "" for marks and beyond the ends.
func (p *part) word(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].Folded
}

// mark returns the text of a token, or "" beyond the ends.
func (p *part) mark(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].Text
}

// cellOf returns the number of the cell of a token.
func (p *part) cellOf(token int) int {
	for n, c := range p.cells {
		if token < c.to {
			return n
		}
	}
	return len(p.cells) - 1
}

// valuesIn returns the values in a range of tokens.
func (p *part) valuesIn(from, to int) (found []*value.Value) {
	for i := range p.values {
		if v := &p.values[i]; v.From >= from && v.To <= to {
			found = append(found, v)
		}
	}
	return found
}

// place is a range of tokens of a part: the words that prove a value.
type place struct {
	part int
	from int
	to   int
}

// anyPart reports whether a condition is true of one of some parts.
func anyPart(parts []part, is func(*part) bool) bool {
	for i := range parts {
		if is(&parts[i]) {
			return true
		}
	}
	return false
}
