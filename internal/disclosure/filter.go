package disclosure

import "slices"

// Filter selects reports and positions. Lists, streams, webhooks and agents use the same
// filters with the same meaning. The zero value selects everything. Conditions on issuers
// and days apply to both; any other condition applies to one of them, and selects nothing of
// the other: see ForReports and ForPositions.
type Filter struct {
	Search   string // free text: see package search
	Type     Type
	Issuer   string // identifiers of issuers; a report matches any of them: see IssuerKeys
	From, To Day    // Madrid days, inclusive; zero is open
	Category string // the name of one of the regulator's categories, in any spelling
	// CategoryWords means that Category is some words of a name, and selects every
	// category whose name has them: see search.NameFilter.
	CategoryWords bool
	Kind          Kind   // of the issuer
	Market        string // of the issuer in the directory: its name, in any spelling
	// MarketWords means that Market is some words of a name.
	MarketWords bool
	Sector      string // of the issuer in the directory: its name, in any spelling
	// SectorWords means that Sector is some words of a name, Spanish or English.
	SectorWords bool
	// NoSecuritisation excludes the reports of securitisation funds: see
	// IsSecuritisationFund. Their routine is a large part of all reports.
	NoSecuritisation bool
	// NoRoutine excludes routine reports: see Report.IsRoutine. It does not exclude positions.
	NoRoutine bool
	// InDocument searches the text of the document instead of the fields of the
	// report. Streams, webhooks and subscriptions have it; lists find the reports in
	// the store first.
	InDocument bool
	// Widen means that Search finds, for English market terms, also the Spanish words
	// that reports use: see package search. Filters that were stored before there was
	// such a thing do not have it, and keep their meaning.
	Widen bool
	// Fact selects the reports that state a fact of a kind and, if MinAmount is set, one
	// of which the amount is at least that, in Currency: see Fact.Amount.
	Fact FactKind
	// MinAmount is a decimal, see IsDecimal. Without a Fact it selects the dealings of at
	// least that amount: see Position.Amount.
	MinAmount string
	Currency  string // three letters; set if MinAmount is

	// Positions selects positions of some kinds.
	Positions PositionSet
	// HeldBy is words of the name of who holds a position or dealt. It selects natural
	// persons only together with exactly one Issuer.
	HeldBy string
	// MinPercent is a decimal. It selects positions of at least that percentage.
	MinPercent string
	// Side selects dealings with a trade of a side.
	Side Side

	// Watchlist is the id of a watchlist, whose entries are read each time that the filter
	// is used.
	Watchlist string
	// Entries are those of Watchlist, as they are for one request or one change. They are
	// never stored. Filters are equal if they have the same entries in memory. A filter with a
	// watchlist and without its entries selects nothing.
	Entries *Entries
}

// MatchFacts reports whether the facts of a report meet the filter's condition on facts.
func (f Filter) MatchFacts(facts []Fact) bool {
	return f.Fact == "" || slices.ContainsFunc(facts, f.MatchFact)
}

// MatchFact reports whether a fact meets the filter's condition on facts.
func (f Filter) MatchFact(fact Fact) bool {
	ofKind := fact.Kind == f.Fact || f.Fact == AnyFact
	if !ofKind || f.MinAmount == "" {
		return ofKind
	}
	amount, currency := fact.Amount()
	return IsDecimal(amount) && currency == f.Currency && CompareDecimals(amount, f.MinAmount) >= 0
}

// HasAmount reports whether facts of a kind have an amount that filters compare.
func (k FactKind) HasAmount() bool { return slices.Contains(AmountKinds, k) }

// AmountKinds are the kinds of facts with an amount that filters compare: see
// Fact.Amount.
var AmountKinds = []FactKind{BuybackProgramme, BuybackTrades, Capital}
