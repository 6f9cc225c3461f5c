package disclosure

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Merge applies a new observation to a known position and returns the names of the fields
// that changed. An empty field of the observation is unknown, and changes nothing. Lists
// only grow. A name that was erased stays erased.
func (p Position) Merge(observed Position) (merged Position, changed []string) {
	m := merge{}
	m.text("issuer_id", &p.Issuer, observed.Issuer)
	m.text("issuer_name", &p.IssuerName, observed.IssuerName)
	m.text("nif", &p.NIF, observed.NIF)
	m.text("lei", &p.LEI, observed.LEI)
	m.text("isin", &p.ISIN, observed.ISIN)
	if !p.Erased {
		m.name(&p, &observed)
	}
	m.text("number", &p.Number, observed.Number)
	m.text("date", &p.Date, observed.Date)
	m.text("registered_on", &p.RegisteredOn, observed.RegisteredOn)
	m.text("percent", &p.Percent, observed.Percent)
	m.text("percent_shares", &p.PercentShares, observed.PercentShares)
	m.text("percent_direct", &p.PercentDirect, observed.PercentDirect)
	m.text("percent_indirect", &p.PercentIndirect, observed.PercentIndirect)
	m.text("percent_instruments", &p.PercentInstruments, observed.PercentInstruments)
	m.text("relation", (*string)(&p.Relation), string(observed.Relation))
	m.list("rectifies", &p.Rectifies, observed.Rectifies)
	m.list("rectified_by", &p.RectifiedBy, observed.RectifiedBy)
	m.text("annulled_by", &p.AnnulledBy, observed.AnnulledBy)
	m.text("state", (*string)(&p.State), string(observed.State))
	m.text("source_url", &p.SourceURL, observed.SourceURL)
	m.text("document_url", &p.DocumentURL, observed.DocumentURL)
	m.trades(&p, &observed)
	return p, m.changed
}

// name takes the name of an observation. A correction of a name that was sealed needs
// another seal, which the store makes.
func (m *merge) name(p, observed *Position) {
	switch {
	case observed.Erased:
		p.Name = ""
		p.Erased = true
		m.changed = append(m.changed, "holder")
	case observed.Name != "" && observed.Name != p.Name:
		p.Name = observed.Name
		p.Natural = p.Natural || observed.Natural // so that the name before can still be erased
		p.Sealed = ""
		m.changed = append(m.changed, "holder")
	}
}

// trades takes what was read in the document, as a whole.
func (m *merge) trades(p, observed *Position) {
	same := observed.DocumentStatus == p.DocumentStatus && observed.DocumentReason == p.DocumentReason &&
		observed.DocumentSHA256 == p.DocumentSHA256 && observed.Aggregates == p.Aggregates &&
		slices.Equal(observed.Trades, p.Trades)
	if observed.DocumentStatus == "" || same {
		return
	}
	p.DocumentStatus = observed.DocumentStatus
	p.DocumentReason = observed.DocumentReason
	p.DocumentSHA256 = observed.DocumentSHA256
	p.Trades = observed.Trades
	p.Aggregates = observed.Aggregates
	m.changed = append(m.changed, "trades")
}

// Validate completes Natural and returns an error that lists every invalid field of a
// position from outside.
func (p *Position) Validate() error {
	var bad problems
	if _, ok := ParsePositionKind(string(p.Kind)); !ok {
		bad.add("kind", string(p.Kind), "use short, holding, own_shares or dealing")
	} else if k, ok := KindOfPosition(p.ID); !ok || k != p.Kind {
		bad.add("id", p.ID, "must begin with "+p.Kind.prefix())
	}
	for _, id := range []struct{ name, value string }{
		{"id", p.ID},
		{"issuer_id", p.Issuer},
		{"nif", p.NIF},
		{"number", p.Number},
		{"annulled_by", p.AnnulledBy},
		{"holder_sealed", p.Sealed},
		{"document_sha256", p.DocumentSHA256},
	} {
		bad.ident(id.name, id.value)
	}
	if p.LEI != "" && !IsLEI(p.LEI) {
		bad.add("lei", p.LEI, "is not a LEI")
	}
	if p.ISIN != "" && !IsISIN(p.ISIN) {
		bad.add("isin", p.ISIN, "is not an ISIN")
	}
	bad.name("issuer_name", p.IssuerName)
	bad.name("holder", p.Name)
	bad.text("document_reason", p.DocumentReason, false)
	bad.day("date", p.Date, p.Kind == Short)
	bad.day("registered_on", p.RegisteredOn, p.Kind != Short)
	p.validatePercentages(&bad)
	if p.State != "" && !slices.Contains(positionStates, p.State) {
		bad.add("state", string(p.State), "is not a state of a position")
	}
	if p.Relation != "" && p.Relation != RelationManager && p.Relation != RelationAssociated {
		bad.add("relation", string(p.Relation), "use manager or associated")
	}
	for _, number := range slices.Concat(p.Rectifies, p.RectifiedBy) {
		bad.ident("rectifies", number)
	}
	bad.link("source_url", p.SourceURL)
	bad.link("document_url", p.DocumentURL)
	p.validateTrades(&bad)
	bad.instant("first_seen_at", &p.FirstSeenAt)
	bad.instant("available_at", &p.AvailableAt)
	if p.Name != "" {
		p.Natural = p.Kind != OwnShares && !IsLegalEntity(p.Name)
	}
	return bad.err("position")
}

func (p *Position) validatePercentages(bad *problems) {
	for _, percent := range []struct{ name, value string }{
		{"percent", p.Percent},
		{"percent_shares", p.PercentShares},
		{"percent_direct", p.PercentDirect},
		{"percent_indirect", p.PercentIndirect},
		{"percent_instruments", p.PercentInstruments},
	} {
		bad.decimal(percent.name, percent.value, false)
	}
	if p.Kind == Short && p.Percent == "" {
		bad.add("percent", "", "is missing")
	}
}

func (p *Position) validateTrades(bad *problems) {
	if len(p.Trades) > MaxTrades {
		bad.add("trades", strconv.Itoa(len(p.Trades)), "are more than "+strconv.Itoa(MaxTrades))
		return
	}
	for i := range p.Trades {
		t := &p.Trades[i]
		bad.text("trades.nature", t.Nature, true)
		bad.text("trades.instrument", t.Instrument, false)
		bad.text("trades.quote", t.Quote, false)
		bad.ident("trades.isin", t.ISIN)
		bad.ident("trades.venue", t.Venue)
		bad.ident("trades.currency", t.Currency)
		bad.day("trades.date", t.Date, true)
		bad.decimal("trades.volume", t.Volume, true)
		bad.decimal("trades.price", t.Price, true)
		if !slices.Contains(Sides, t.Side) {
			bad.add("trades.side", string(t.Side), "use buy, sell or other")
		}
	}
}

// maxName is the number of bytes that the name of an issuer or of who holds a position
// may have.
const maxName = 1000

func (p *problems) name(name, value string) {
	if len(value) > maxName {
		p.add(name, value, "is too long")
		return
	}
	p.text(name, value, false)
}

// day checks a date.
func (p *problems) day(name, value string, required bool) {
	if value == "" && !required {
		return
	}
	if _, ok := ParseDay(value); !ok {
		p.add(name, value, "must be a date such as 2026-04-22")
	}
}

// maxDecimal is the number of characters that a decimal of a position may have.
const maxDecimal = 40

func (p *problems) decimal(name, value string, required bool) {
	if value == "" && !required {
		return
	}
	if !IsDecimal(value) || utf8.RuneCountInString(value) > maxDecimal || strings.HasPrefix(value, "-") {
		p.add(name, value, "must be a decimal such as 5.033")
	}
}
