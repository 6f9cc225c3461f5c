package query

import (
	"net/url"
	"strconv"
	"strings"

	"pregon/internal/auth/access"
	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/server/content"
	"pregon/internal/text"
)

// Limits of lists.
const (
	DefaultLimit = 10
	MaxLimit     = 50
	MaxPage      = 1<<31 - 1

	// Limits of a list as a table: see AsTable. A caller with a credential may ask for
	// MaxTable.
	DefaultTable = 500
	MaxTable     = 10_000
)

// Params reads the parameters of a request and collects all errors, so that a
// client can fix them at once. A parameter without a value counts as absent.
// Unknown parameters are ignored.
type Params struct {
	values   url.Values
	broken   error // the query string cannot be read
	bad      []fault.Field
	denied   error       // the watchlist cannot be read by the caller
	listID   string      // of the watchlist, once it was read
	inBody   bool        // the values are fields of a body: see FilterBody
	partial  func() bool // see Options.Partial
	strict   bool        // see Strict
	lists    Watchlists  // nil: there are none
	by       access.Principal
	warnings []string
	table    bool // see AsTable
	maxTable int
}

// AsTable makes List and Issuers read the limit of a table, which a spreadsheet reads as
// a whole: its rows are not shown on a page, and few programs that read one follow links.
func (p *Params) AsTable(by access.Principal) {
	p.table = true
	p.maxTable = DefaultTable
	if by.Mode != access.Anonymous {
		p.maxTable = MaxTable
	}
}

// limit reads how many rows a list has at most.
func (p *Params) limit() int {
	if !p.table {
		return p.Integer("limit", DefaultLimit, 1, MaxLimit)
	}
	if p.maxTable == MaxTable {
		return p.Integer("limit", DefaultTable, 1, MaxTable)
	}
	return p.integer("limit", DefaultTable, 1, p.maxTable, MaxTable)
}

// Dialect returns the dialect of a list as CSV.
func (p *Params) Dialect() content.Dialect {
	s := p.Text("dialect")
	d, ok := content.ParseDialect(s)
	if !ok {
		p.Reject("dialect", s, "must be %s, or be left out", content.SpanishCSV)
		return content.PlainCSV
	}
	return d
}

// ParseQuery reads the parameters of a query string.
func ParseQuery(raw string) *Params {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return &Params{broken: fault.New(fault.Invalid,
			"The query string cannot be read: use & between parameters, and %%XX for characters other than "+
				"letters and digits.")}
	}
	return NewParams(values)
}

// NewParams returns Params that read values.
func NewParams(values url.Values) *Params { return &Params{values: values} }

// SetValues replaces the values to read and keeps the errors so far.
func (p *Params) SetValues(values url.Values) { p.values = values }

// Reject records that a parameter is not valid. The reason continues its name.
func (p *Params) Reject(name, value, format string, args ...any) {
	p.bad = append(p.bad, fault.NewField(name, value, format, args...))
}

// rejectName records that a parameter names nothing that is known. The sentence says
// so, and the suggestions are values that may be meant.
func (p *Params) rejectName(parameter, value string, sentence fault.Text, suggestions []string) {
	p.bad = append(p.bad, fault.Field{
		Name:        parameter,
		Value:       value,
		Reason:      sentence.String(),
		Text:        sentence,
		Sentence:    true,
		Suggestions: suggestions,
	})
}

// Warnings returns sentences about values that were accepted and are probably wrong.
func (p *Params) Warnings() []string { return p.warnings }

// Text returns a parameter that may be given only once.
func (p *Params) Text(name string) string {
	switch v := p.values[name]; len(v) {
	case 0:
		return ""
	case 1:
		return v[0]
	default:
		p.Reject(name, strings.Join(v, ", "), "may be given once only")
		return ""
	}
}

// LimitedText returns a parameter of at most limit bytes.
func (p *Params) LimitedText(name string, limit int) string {
	s := p.Text(name)
	if len(s) > limit {
		p.Reject(name, s, "may have %d bytes at most", limit)
		return ""
	}
	return s
}

// Integer returns a whole number from lowest to highest, or absent if there is
// none.
func (p *Params) Integer(name string, absent, lowest, highest int) int {
	return p.integer(name, absent, lowest, highest, 0)
}

// integer is Integer for a parameter that may be larger with a key or token; 0 if it may not.
func (p *Params) integer(name string, absent, lowest, highest, highestWithKey int) int {
	s := p.Text(name)
	if s == "" {
		return absent
	}
	n, err := strconv.Atoi(s)
	switch {
	case err == nil && s[0] != '+' && n >= lowest && n <= highest:
		return n
	case highestWithKey > 0:
		p.Reject(name, s, "must be a whole number from %d to %d, or to %d with a key or token", lowest, highest,
			highestWithKey)
	default:
		p.Reject(name, s, "must be a whole number from %d to %d", lowest, highest)
	}
	return absent
}

// Day returns a day in Madrid, zero if the parameter is absent.
func (p *Params) Day(name string) disclosure.Day {
	s := p.Text(name)
	if s == "" {
		return 0
	}
	d, ok := disclosure.ParseDay(s)
	if !ok {
		p.Reject(name, s, "must be a date as YYYY-MM-DD, from 1900 on")
	}
	return d
}

// Kind returns a kind of issuer.
func (p *Params) Kind() disclosure.Kind {
	s := p.Text("kind")
	k, ok := disclosure.ParseKind(s)
	if !ok && s != "" {
		p.Reject("kind", s, "must be company, fund, manager or other")
	}
	return k
}

// without reads what a list leaves out.
func (p *Params) without() string {
	s := p.Text("without")
	if s != "" && s != WithoutSecuritisation && s != WithoutRoutine {
		p.Reject("without", s, "must be %s or %s, or be left out", WithoutRoutine, WithoutSecuritisation)
	}
	return s
}

// The values of the parameter without.
const (
	WithoutSecuritisation = "securitisation" // see disclosure.IsSecuritisationFund
	WithoutRoutine        = "routine"        // see disclosure.Report.IsRoutine
)

// MaxSearch is the largest size of a search text in bytes. URLs are shorter,
// but the arguments of a tool may not be.
const MaxSearch = 64 << 10

// Search returns the text to search for, empty if it is blank.
func (p *Params) Search() string {
	s := p.LimitedText("search", MaxSearch)
	switch {
	case text.Wordless(s):
		p.Reject("search", s, "does not have a word to search for: use letters or digits, or leave it out")
	case strings.TrimSpace(s) == "":
		return ""
	}
	return s
}

// LiveFilter reads the common filter, the conditions on positions and the parameter in for
// a client that follows changes.
func (p *Params) LiveFilter(s *catalog.Snapshot) disclosure.Filter {
	f := p.commonFilter(s)
	f.Issuer = joinedIssuers(p.issuers(s, registeredKey))
	p.positionConditions(s, &f)
	switch in := p.Text("in"); in {
	case "":
	case InDocument:
		f.InDocument = true
		p.requireSearch(f)
		if _, err := document.NewMatcher(search.ParseFilter(f)); f.Search != "" && err != nil {
			p.Reject("search", f.Search, "%v", err)
		}
	default:
		p.Reject("in", in, "must be document, or be left out")
	}
	return f
}

// Filter reads the parameters of the common filter and resolves the issuers in
// the snapshot.
func (p *Params) Filter(s *catalog.Snapshot) disclosure.Filter {
	f := p.commonFilter(s)
	f.Issuer = joinedIssuers(p.issuers(s, issuerKey))
	f.MinAmount, f.Currency = p.amount(f.Fact, "fact", false)
	return f
}

// commonFilter is Filter without the issuer and the amount, which those who follow changes
// may also know from the registers of positions.
func (p *Params) commonFilter(s *catalog.Snapshot) disclosure.Filter {
	without := p.without()
	f := disclosure.Filter{
		Search:           p.Search(),
		From:             p.Day("from"),
		To:               p.Day("to"),
		Kind:             p.Kind(),
		NoSecuritisation: without == WithoutSecuritisation,
		NoRoutine:        without == WithoutRoutine,
	}
	if subject := p.subject(s); subject != "" {
		f.Search = strings.TrimSpace(subject + " " + f.Search)
	} else {
		f.Category, f.CategoryWords = p.category(s)
	}
	f.Widen = f.Search != "" && s.Directory().Widens(f.Search)
	f.Market, f.MarketWords = p.Market(s)
	f.Sector, f.SectorWords = p.Sector(s)
	if text := p.Text("type"); text != "" {
		t, ok := disclosure.ParseType(text)
		if !ok {
			p.Reject("type", text, "must be IP, HR or OIR, in upper case")
		}
		f.Type = t
	}
	f.Fact = p.factKind("fact")
	f.Watchlist, f.Entries = p.watchlist()
	p.checkDays(&f)
	return f
}

// checkDays rejects days in the wrong order.
func (p *Params) checkDays(f *disclosure.Filter) {
	if f.From != 0 && f.To != 0 && f.From > f.To {
		p.Reject("from", f.From.String(), "must not be later than to, %s", f.To)
	}
}

// factKind reads a parameter that is a kind of facts.
func (p *Params) factKind(name string) disclosure.FactKind {
	s := p.Text(name)
	k, ok := disclosure.ParseFactKind(s)
	if s == "" {
		return ""
	}
	if !ok {
		p.rejectValue(name, s, FactKinds, kindList(disclosure.FactKinds()))
		return ""
	}
	return k
}

// maxAmount is the number of characters of an amount.
const maxAmount = 40

// defaultCurrency is the currency of an amount without one.
const defaultCurrency = "EUR"

// amount reads the least amount of facts of a kind, and the currency in which amounts are
// compared. The kind is that of a parameter. If facts are ordered by amounts, they are
// compared without a least amount too.
func (p *Params) amount(kind disclosure.FactKind, parameter string, ordered bool) (least, currency string) {
	least = p.LimitedText("min_amount", maxAmount)
	currency = p.Text("currency")
	if least == "" && !ordered {
		// The default is accepted: clients that build a form of the parameters send it.
		if currency != "" && currency != defaultCurrency {
			p.Reject("currency", currency, "is the currency of min_amount, which is missing")
		}
		return "", ""
	}
	if least != "" && (!disclosure.IsDecimal(least) || strings.HasPrefix(least, "-")) {
		p.Reject("min_amount", least, "must be a number of units that is not negative, such as 50000000 or 0.25")
	}
	if least != "" && !kind.HasAmount() {
		p.Reject("min_amount", least, "needs %s=%s: other facts have no amount to compare",
			parameter, kindList(disclosure.AmountKinds))
	}
	if currency == "" {
		currency = defaultCurrency
	}
	if !isCurrency(currency) {
		p.Reject("currency", currency, "must be three capital letters, such as EUR")
	}
	return least, currency
}

func isCurrency(s string) bool {
	return len(s) == 3 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// kindList returns the names of kinds of facts for a sentence.
func kindList(kinds []disclosure.FactKind) fault.Alternatives {
	names := make(fault.Alternatives, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return names
}

// Valid reports whether no error was found so far.
func (p *Params) Valid() bool { return p.Err() == nil }

// Err returns all errors as one, nil if there are none. That the caller may not read the
// watchlist comes first.
func (p *Params) Err() error {
	if p.denied != nil {
		return p.denied
	}
	if len(p.bad) == 0 {
		return p.broken
	}
	return &fault.Error{Kind: fault.Invalid, Message: fault.Describe(p.bad), Fields: p.bad}
}
