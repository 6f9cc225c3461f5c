package query

import (
	"slices"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/push/events"
	"pregon/internal/search"
)

// positionParameters select only positions, reportParameters only reports. min_amount is
// among the former unless there is a kind of facts.
var (
	positionParameters = []string{"position", "holder", "min_percent", "side", "min_amount"}
	reportParameters   = []string{"search", "type", "category", "in", "fact"}
)

// positionConditions reads the conditions of a live filter that only positions can meet, and
// the amount, which is that of facts or of dealings. It rejects those that nothing meets,
// so that no listener waits in vain.
func (p *Params) positionConditions(s *catalog.Snapshot, f *disclosure.Filter) {
	f.Positions = p.positionKinds()
	f.HeldBy = p.words("holder")
	f.MinPercent = p.leastPercent()
	f.Side = p.dealingSide()
	switch {
	case f.Fact != "":
		f.MinAmount, f.Currency = p.amount(f.Fact, "fact", false)
	case f.Positions.Has(disclosure.Dealing), f.Side != "", p.Text("min_amount") == "":
		f.MinAmount, f.Currency = p.dealingAmount()
	default:
		p.Reject("min_amount", p.Text("min_amount"), "needs fact=%s, or position=dealing",
			kindList(disclosure.AmountKinds))
	}
	if !p.Valid() {
		return
	}
	p.checkConditions(*f)
	book := s.Positions()
	if f.HeldBy != "" && !f.NamesOneIssuer() && book.Len() > 0 && !book.HasName(f.HeldBy) {
		p.warnings = append(p.warnings, "No legal person in the registers has these words in its name, and the names of "+
			"natural persons are compared only together with one issuer.")
	}
}

// LivePositions reads the parameters of a list of positions of any kind that has those with
// which clients follow positions, so that the list is what they follow.
func (p *Params) LivePositions(s *catalog.Snapshot) PositionList {
	f := p.LiveFilter(s)
	if f.ForReports() && p.Valid() {
		name := p.firstOf(reportParameters)
		p.Reject(name, p.Text(name), "selects only reports: leave it out")
	}
	return PositionList{
		Filter:  positionFilter(f),
		Entries: f.Entries,
		Limit:   p.limit(),
		Page:    p.Integer("page", 1, 1, MaxPage),
	}
}

// positionFilter returns the filter of a book that selects the positions that a filter
// selects, but for its watchlist. The identifiers of issuers are those of the filter.
func positionFilter(f disclosure.Filter) position.Filter {
	out := position.Filter{
		Issuers:    f.IssuerKeys(),
		Name:       f.HeldBy,
		From:       f.From,
		To:         f.To,
		Side:       f.Side,
		MinAmount:  f.MinAmount,
		Currency:   f.Currency,
		MinPercent: f.MinPercent,
	}
	for _, kind := range disclosure.PositionKinds {
		if f.Positions == 0 || f.Positions.Has(kind) {
			out.Kinds = append(out.Kinds, kind)
		}
	}
	f = disclosure.Filter{
		Kind:             f.Kind,
		Market:           f.Market,
		MarketWords:      f.MarketWords,
		Sector:           f.Sector,
		SectorWords:      f.SectorWords,
		NoSecuritisation: f.NoSecuritisation,
	}
	if f != (disclosure.Filter{}) {
		matcher := search.Compile(f)
		out.Among = func(i *disclosure.Issuer) bool { return i != nil && matcher.MatchIssuer(i) }
	}
	return out
}

// positionEntries returns the filters of a book that select what a watchlist names, nil for
// none.
func positionEntries(b *position.Book, e *disclosure.Entries) []position.Filter {
	if e == nil {
		return nil
	}
	out := []position.Filter{}
	if len(e.Issuers) > 0 {
		out = append(out, position.Filter{Issuers: positionKeys(b, e.Issuers)})
	}
	for _, f := range e.Filters {
		if !f.ForReports() {
			one := positionFilter(f)
			one.Issuers = positionKeys(b, one.Issuers)
			out = append(out, one)
		}
	}
	return out
}

// resolve returns the filter of a list with the keys that a book has for issuers.
func (l PositionList) resolve(b *position.Book) position.Filter {
	f := l.Filter
	f.Issuers = positionKeys(b, f.Issuers)
	f.Any = positionEntries(b, l.Entries)
	return f
}

// positionKinds reads the parameter position.
func (p *Params) positionKinds() disclosure.PositionSet {
	s := p.LimitedText("position", maxName)
	set, ok := disclosure.ParsePositionSet(s)
	if !ok {
		p.Reject("position", s, "must be some of short, holding, own_shares and dealing, with commas between them")
	}
	return set
}

// leastPercent reads the parameter min_percent.
func (p *Params) leastPercent() string {
	s := p.LimitedText("min_percent", maxAmount)
	if s == "" {
		return ""
	}
	if !disclosure.IsDecimal(s) || strings.HasPrefix(s, "-") || disclosure.CompareDecimals(s, "100") > 0 {
		p.Reject("min_percent", s, "must be a percentage from 0 to 100, such as 3 or 0.5")
		return ""
	}
	return s
}

// checkConditions rejects conditions that no position and no report can meet together.
func (p *Params) checkConditions(f disclosure.Filter) {
	if !f.ForPositions() {
		return
	}
	if f.ForReports() {
		selecting := p.firstOf(positionParameters)
		p.Reject(selecting, p.Text(selecting), "selects only positions, and %s only reports: leave one of them out",
			p.firstOf(reportParameters))
		return
	}
	measured := slices.ContainsFunc(disclosure.PositionKinds, func(k disclosure.PositionKind) bool {
		return k.HasPercent() && (f.Positions == 0 || f.Positions.Has(k))
	})
	traded := f.Positions == 0 || f.Positions.Has(disclosure.Dealing)
	ofTrades := ""
	switch {
	case f.Side != "":
		ofTrades = "side"
	case f.MinAmount != "":
		ofTrades = "min_amount"
	}
	switch {
	case f.MinPercent != "" && !measured:
		p.Reject("min_percent", f.MinPercent, "needs position=short, holding or own_shares: a dealing has an amount, "+
			"which min_amount compares")
	case ofTrades != "" && !traded:
		p.Reject(ofTrades, p.Text(ofTrades), "needs position=dealing: other positions do not have trades")
	case f.MinPercent != "" && ofTrades != "":
		p.Reject("min_percent", f.MinPercent, "is for positions with a percentage, and %s for dealings: leave one of "+
			"them out", ofTrades)
	}
}

// firstOf returns the first of some parameters that was given.
func (p *Params) firstOf(names []string) string {
	i := slices.IndexFunc(names, func(name string) bool { return strings.TrimSpace(p.Text(name)) != "" })
	return names[max(i, 0)]
}

// CheckSelection rejects a filter that the events do not have a subject for: one for
// positions without events of positions, which no default event is, and one for reports with
// events of positions and none of reports.
func (p *Params) CheckSelection(s events.Selection) {
	if !p.Valid() {
		return
	}
	names := strings.ReplaceAll(events.EventNames(s.Names()), ", ", ",")
	switch {
	case s.Filter.ForPositions() && !s.Has(disclosure.OfPosition):
		p.Reject("events", names, "must have an event of positions, such as %s, since the filter selects "+
			"only positions", disclosure.PositionPublished)
	case s.Filter.ForReports() && s.Has(disclosure.OfPosition) && !s.Has(disclosure.OfReport):
		p.Reject("events", names, "must have an event of reports, such as %s, since the filter selects only "+
			"reports", disclosure.Published)
	}
}
