package site

import (
	"pregon/internal/disclosure"
	"pregon/internal/site/render"
)

// holdingRegister is that of significant holdings, many of which are those of natural
// persons.
var holdingRegister = &register{
	kind:    disclosure.Holding,
	path:    "/holdings",
	name:    "holder",
	filters: []string{"issuer", "holder", "market", "from", "to", "current"},
	private: true,
}

// ownSharesRegister is that of the shares that issuers hold of themselves.
var ownSharesRegister = &register{
	kind:    disclosure.OwnShares,
	path:    "/own-shares",
	filters: []string{"issuer", "market", "from", "to", "current"},
}

// holdingRow is what only holdings and own shares have: the parts of the percentage.
type holdingRow struct{ Direct, Indirect, Instruments string }

// holdings is the page of significant holdings.
func (s *Site) holdings(q *request) (*render.Page, error) {
	return s.positions(q, holdingRegister)
}

// ownShares is the page of own shares.
func (s *Site) ownShares(q *request) (*render.Page, error) {
	return s.positions(q, ownSharesRegister)
}

func (q *request) newHoldingRow(p *disclosure.Position) *holdingRow {
	return &holdingRow{
		Direct:      q.edition.percentage(p.PercentDirect),
		Indirect:    q.edition.percentage(p.PercentIndirect),
		Instruments: q.edition.percentage(p.PercentInstruments),
	}
}
