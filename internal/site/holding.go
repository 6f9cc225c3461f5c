package site

import (
	"cmp"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// holdingRegister is that of significant holdings, many of which are those of natural
// persons.
var holdingRegister = &register{
	kind:    disclosure.Holding,
	path:    "/holdings",
	name:    "holder",
	filters: []string{"watchlist", "issuer", "holder", "market", "sector", "from", "to", "current"},
	private: true,
}

// ownSharesRegister is that of the shares that issuers hold of themselves.
var ownSharesRegister = &register{
	kind:    disclosure.OwnShares,
	path:    "/own-shares",
	filters: []string{"watchlist", "issuer", "market", "sector", "from", "to", "current"},
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

// holdingParts are the parts of the bar of a holding.
func (e edition) holdingParts() []chart.Series {
	return []chart.Series{
		{Class: "of-direct", Name: e.Text("holdings.direct")},
		{Class: "of-indirect", Name: e.Text("holdings.indirect")},
		{Class: "of-instruments", Name: e.Text("holdings.instruments")},
		{Class: "of-rest", Name: e.Text("holdings.undivided")},
	}
}

// holdingsChart draws the present holdings of an issuer, each for itself: several of them
// may be the same votes.
func (d *dossierReader) holdingsChart(found []position.Entry, rows []positionRow) *chart.Chart {
	e := d.edition
	c := &chart.Chart{
		ID:      "holdings",
		Caption: e.Text("dossier.holdings"),
		Note:    e.Text("dossier.holdings.note"),
		CSV:     d.data("/holdings", "current", "true"),
		Table: &chart.Table{Columns: []chart.Column{
			{Text: e.Text("filter.holder")},
			chart.NumberColumn("", e.Text("holdings.direct")),
			chart.NumberColumn("", e.Text("holdings.indirect")),
			chart.NumberColumn("", e.Text("holdings.instruments")),
			chart.NumberColumn("", e.Text("holdings.total")),
			chart.NumberColumn("", e.Text("positions.registered")),
		}},
	}
	divided := &chart.Divided{Columns: []chart.Column{
		{Text: e.Text("filter.holder")},
		chart.NumberColumn("", e.Text("holdings.total")),
		chart.NumberColumn("", e.Text("positions.registered")),
		{Text: e.Text("positions.source")},
	}}
	parts := e.holdingParts()
	for i, entry := range found {
		p := entry.Decode()
		row := rows[i]
		name := cmp.Or(row.Name, e.Text("positions.erased"))
		source := chart.Cell{}
		if p.SourceURL != "" {
			source = chart.Cell{Text: "CNMV", URL: p.SourceURL}
		}
		divided.Rows = append(divided.Rows, chart.DividedRow{
			Name:    chart.Cell{Text: name, URL: p.DocumentURL},
			Rest:    []chart.Cell{{Text: row.Percent}, {Text: row.Date, URL: row.JSON}, source},
			Amounts: amountsOf(p, parts, row),
		})
		c.Table.Rows = append(c.Table.Rows, []chart.Cell{
			{Text: name},
			{Text: row.Direct},
			{Text: row.Indirect},
			{Text: row.Instruments},
			{Text: row.Percent},
			{Text: row.Date},
		})
	}
	c.SetDivided(divided, parts)
	return c
}

// amountsOf returns the parts of the bar of a holding. One that states only its total has
// one part.
func amountsOf(p *disclosure.Position, parts []chart.Series, row positionRow) []chart.Amount {
	values := []string{p.PercentDirect, p.PercentIndirect, p.PercentInstruments, ""}
	texts := []string{row.Direct, row.Indirect, row.Instruments, row.Percent}
	if p.PercentDirect+p.PercentIndirect+p.PercentInstruments == "" {
		values[3] = p.Percent
	}
	out := make([]chart.Amount, len(parts))
	for i := range parts {
		out[i] = chart.Amount{Value: hundredths(values[i]), Title: parts[i].Name + ": " + texts[i]}
	}
	return out
}
