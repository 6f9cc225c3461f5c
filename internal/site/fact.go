package site

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pregon/internal/disclosure"
	"pregon/internal/disclosure/headline"
	"pregon/internal/query"
)

// Sizes of the facts of a report on its page. The JSON has all.
const (
	shownFacts = 30
	shownRows  = 20 // of the table of a fact

	// aroundChars is how many characters before and after the words of a quote are shown,
	// and quoteChars how many of the words.
	aroundChars = 150
	quoteChars  = 300
)

// statedFact is something that the document of a report states.
type statedFact struct {
	Name     string
	Fields   []statedField
	Columns  []factColumn // of the rows
	Rows     [][]string
	MoreRows int // that are not shown
}

// statedField is a field of a fact with the words of the document that state it.
type statedField struct {
	Name  string
	Value string
	Page  int    // 0: where the document says so is not known
	Quote []span // in its paragraph
	Open  bool   // the quote is visible at first
}

// factColumn is a column of the rows of a fact.
type factColumn struct {
	Name    string
	Numeric bool
}

// stated returns the first facts of a report, and how many more it has.
func (q *request) stated(facts []query.Fact) (shown []statedFact, more int) {
	if len(facts) > shownFacts {
		more = len(facts) - shownFacts
		facts = facts[:shownFacts]
	}
	for _, f := range facts {
		shown = append(shown, q.newStatedFact(f))
	}
	if len(shown) > 0 { // one open quote shows what the others are
		for i := range shown[0].Fields {
			if field := &shown[0].Fields[i]; len(field.Quote) > 0 {
				field.Open = true
				break
			}
		}
	}
	return shown, more
}

func (q *request) newStatedFact(f query.Fact) statedFact {
	fact := disclosure.Fact{Kind: disclosure.FactKind(f.Kind), Fields: f.Fields}
	out := statedFact{Name: q.edition.nameOf("factkind.", f.Kind)}
	for _, name := range fieldsOf(fact) {
		field := statedField{
			Name:  q.edition.fieldName(fact.Kind, name),
			Value: headline.Value(fact, name, string(q.edition.Language)),
		}
		if quote, ok := f.Evidence[name]; ok {
			field.Page = quote.Page
			field.Quote = inParagraph(quote)
		}
		out.Fields = append(out.Fields, field)
	}
	q.addRows(&out, fact, f.Rows)
	return out
}

// addRows adds the first rows of a fact. Amounts in them are in its currency.
func (q *request) addRows(out *statedFact, fact disclosure.Fact, rows []map[string]string) {
	if len(rows) > shownRows {
		out.MoreRows = len(rows) - shownRows
		rows = rows[:shownRows]
	}
	columns := columnsOf(rows)
	for _, name := range columns {
		out.Columns = append(out.Columns, factColumn{
			Name:    q.edition.fieldName(fact.Kind, name),
			Numeric: headline.IsNumber(name),
		})
	}
	for _, row := range rows {
		one := disclosure.Fact{Kind: fact.Kind, Fields: maps.Clone(row)}
		if currency := fact.Fields["currency"]; currency != "" && row["currency"] == "" && row != nil {
			one.Fields["currency"] = currency
		}
		cells := make([]string, len(columns))
		for i, name := range columns {
			cells[i] = headline.ShortValue(one, name, string(q.edition.Language))
		}
		out.Rows = append(out.Rows, cells)
	}
}

// fieldsOf returns the names of the fields that a fact has, in the order in which they are
// shown. The currency is part of the amounts.
func fieldsOf(f disclosure.Fact) []string {
	hasAmount := slices.ContainsFunc(headline.Amounts(f.Kind), func(name string) bool { return f.Fields[name] != "" })
	known := f.Kind.Fields()
	names := slices.Clone(known)
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		if !slices.Contains(known, name) { // facts may be imported
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return f.Fields[name] == "" || name == "currency" && hasAmount
	})
}

// rowColumns are the fields of rows in the order in which they are shown.
var rowColumns = []string{"date", "series", "isin", "venue", "shares", "price", "interest", "redemption"}

// columnsOf returns the fields that rows have.
func columnsOf(rows []map[string]string) []string {
	has := map[string]bool{}
	for _, row := range rows {
		for name := range row {
			has[name] = true
		}
	}
	var names []string
	for _, name := range rowColumns {
		if has[name] {
			names = append(names, name)
			delete(has, name)
		}
	}
	return append(names, slices.Sorted(maps.Keys(has))...)
}

// fieldName returns the name of a field. Some mean something else in one kind of facts.
func (e edition) fieldName(kind disclosure.FactKind, field string) string {
	if special := "field." + string(kind) + "." + field; e.Known(special) {
		return e.Text(special)
	}
	return e.nameOf("field.", field)
}

// nameOf returns the text for a name, or the name if it is not known.
func (e edition) nameOf(prefix, name string) string {
	if e.Known(prefix + name) {
		return e.Text(prefix + name)
	}
	return name
}

// inParagraph returns a quote, marked, with some of the text around it.
func inParagraph(quote query.Quote) []span {
	words := []rune(quote.Quote)
	if len(words) == 0 {
		return nil
	}
	var out []span
	if before := lastChars(quote.Before, aroundChars); before != "" {
		out = append(out, span{Text: before})
	}
	if len(words) > quoteChars {
		return append(out, span{Text: string(words[:quoteChars]) + "…", Marked: true})
	}
	out = append(out, span{Text: quote.Quote, Marked: true})
	if after := firstChars(quote.After, aroundChars); after != "" {
		out = append(out, span{Text: after})
	}
	return out
}

// firstChars returns the beginning of a text, up to the end of a word.
func firstChars(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	s = string([]rune(s)[:n])
	if end := strings.LastIndexFunc(s, unicode.IsSpace); end > 0 {
		s = s[:end]
	}
	return s + "…"
}

// lastChars returns the end of a text, from the beginning of a word.
func lastChars(s string, n int) string {
	count := utf8.RuneCountInString(s)
	if count <= n {
		return s
	}
	s = string([]rune(s)[count-n:])
	if start := strings.IndexFunc(s, unicode.IsSpace); start >= 0 && start < len(s)-1 {
		s = s[start+1:]
	}
	return "…" + s
}

// sentence is a sentence of a summary, with the text that it rests on if that is another.
type sentence struct {
	Text  string
	Page  int
	Quote string
}

// sentences returns the sentences of a summary. Those that are taken from the document
// need no quote.
func sentences(evidence []query.Evidence) (out []sentence) {
	for _, e := range evidence {
		s := sentence{Text: e.Sentence, Page: e.Page}
		if plain(e.Quote) != plain(e.Sentence) {
			s.Quote = e.Quote
		}
		out = append(out, s)
	}
	return out
}

// plain returns a sentence without what two copies of it may differ in.
func plain(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(s), " "), ".")
}
