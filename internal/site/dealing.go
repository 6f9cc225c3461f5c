package site

import (
	"slices"

	"pregon/internal/disclosure"
	"pregon/internal/site/render"
)

// dealingRegister is that of the notices of managers' dealings, which name natural persons.
var dealingRegister = &register{
	kind:    disclosure.Dealing,
	path:    "/dealings",
	name:    "person",
	filters: []string{"issuer", "person", "side", "min_amount", "market", "from", "to"},
	private: true,
}

// dealingRow is what only notices of dealings have.
type dealingRow struct {
	Relation    string
	Sides       []disclosure.Side
	Amount      string // empty if the document was not read, or has several currencies
	Unread      string // why there are no trades, or ""
	Differ      bool   // the sums of the trades are not those that the document states
	Trades      []tradeRow
	MoreTrades  int // that are not shown
	Total       int // trades
	Rectifies   []render.Link
	RectifiedBy []render.Link
}

// tradeRow is a trade of a notice.
type tradeRow struct {
	disclosure.Trade
	Date   string
	Volume string
	Price  string
}

// dealings is the page of the notices of managers' dealings.
func (s *Site) dealings(q *request) (*render.Page, error) {
	return s.positions(q, dealingRegister)
}

func (q *request) newDealingRow(p *disclosure.Position) *dealingRow {
	e := q.edition
	out := &dealingRow{
		Differ:      p.Aggregates == disclosure.SumsDiffer,
		Total:       len(p.Trades),
		Rectifies:   dealingLinks(p.Rectifies),
		RectifiedBy: dealingLinks(p.RectifiedBy),
	}
	if p.Relation != "" {
		out.Relation = e.Text("relation." + string(p.Relation))
	}
	if amount, currency := p.Amount(); amount != "" {
		out.Amount = e.money(amount, currency)
	}
	switch {
	case p.DocumentStatus == disclosure.DocumentReady:
	case p.WantsDocument():
		out.Unread = e.Text("dealings.pending")
	default:
		out.Unread = e.Text("dealings.unread")
	}
	for i := range p.Trades {
		t := &p.Trades[i]
		if !slices.Contains(out.Sides, t.Side) {
			out.Sides = append(out.Sides, t.Side)
		}
		if i == shownTrades {
			out.MoreTrades = len(p.Trades) - shownTrades
		}
		if i >= shownTrades {
			continue
		}
		row := tradeRow{
			Trade:  *t,
			Volume: e.decimal(t.Volume),
			Price:  e.price(t.Price, t.Currency),
		}
		if day, ok := disclosure.ParseDay(t.Date); ok {
			row.Date = e.date(day)
		}
		out.Trades = append(out.Trades, row)
	}
	return out
}

// dealingLinks returns the notices with some numbers of the register.
func dealingLinks(numbers []string) (out []render.Link) {
	for _, number := range numbers {
		out = append(out, render.Link{
			Text: number,
			URL:  "/api/v1/positions/" + disclosure.PositionID(disclosure.Dealing, number, 1),
		})
	}
	return out
}
