package site

import (
	"slices"
	"strconv"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// dealingRegister is that of the notices of managers' dealings, which name natural persons.
var dealingRegister = &register{
	kind:    disclosure.Dealing,
	path:    "/dealings",
	name:    "person",
	filters: []string{"watchlist", "issuer", "person", "side", "min_amount", "market", "sector", "from", "to"},
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

const (
	// dealingMonths is how many months the drawing of dealings has.
	dealingMonths = 36
	// drawnCurrency is that of the drawing, and of amounts that name none. The CSV has all.
	drawnCurrency = "EUR"
	million       = 1_000_000
)

// dealingsChart draws what managers bought and sold in each of the last months, or returns
// nil if there is nothing.
func (d *dossierReader) dealingsChart(months []query.DealingMonth) *chart.Chart {
	e := d.edition
	byMonth := map[string]query.DealingMonth{}
	for _, m := range months {
		if m.Currency == drawnCurrency {
			byMonth[m.Month] = m
		}
	}
	if len(byMonth) == 0 {
		return nil
	}
	c := &chart.Chart{
		ID:      "dealings",
		Caption: e.Text("dossier.dealings"),
		Note:    e.Text("dossier.dealings.note"),
		CSV:     d.data("/dealings"),
		Table:   e.dealingsTable(months),
	}
	present := disclosure.DayOf(d.now).Start()
	slots := make([]chart.BalanceSlot, dealingMonths)
	for i := range slots {
		start := time.Date(present.Year(), present.Month()-time.Month(dealingMonths-1-i), 1, 12, 0, 0, 0, disclosure.Madrid)
		slots[i] = e.dealingSlot(start, byMonth[start.Format(monthLayout)])
	}
	bought := chart.Series{Class: "of-buy", Name: e.Text("dossier.bought")}
	sold := chart.Series{Class: "of-sell", Name: e.Text("dossier.sold")}
	c.SetBars(chart.NewBalance(slots, bought, sold, e.axisMoney, ""))
	return c
}

func (e edition) dealingSlot(start time.Time, m query.DealingMonth) chart.BalanceSlot {
	out := chart.BalanceSlot{
		Above: hundredths(m.Bought) / 100,
		Below: hundredths(m.Sold) / 100,
	}
	if m.Buys+m.Sells > 0 {
		out.Title = e.Month(start.Month()) + " " + strconv.Itoa(start.Year()) + ": " +
			e.Text("dossier.bought") + " " + e.money(m.Bought, drawnCurrency) + ", " +
			e.Text("dossier.sold") + " " + e.money(m.Sold, drawnCurrency)
	}
	if start.Month()%3 == 1 {
		out.Label = e.monthLabel(start.Year(), start.Month())
		out.Minor = start.Month() != time.January
	}
	return out
}

// axisMoney writes an amount in euros at the line of an axis.
func (e edition) axisMoney(n int) string {
	if n < million {
		return e.money(strconv.Itoa(n), drawnCurrency)
	}
	amount := disclosure.AddDecimals(strconv.FormatFloat(float64(n)/million, 'f', 2, 64))
	return e.Text("dossier.millions", e.decimal(amount))
}

// dealingsTable returns the sums of months, the newest first.
func (e edition) dealingsTable(months []query.DealingMonth) *chart.Table {
	t := &chart.Table{Columns: []chart.Column{
		{Text: e.Text("chart.month")},
		chart.NumberColumn("", e.Text("dossier.bought")),
		chart.NumberColumn("", e.Text("dossier.sold")),
		chart.NumberColumn("", e.Text("dossier.buys")),
		chart.NumberColumn("", e.Text("dossier.sells")),
	}}
	for _, m := range slices.Backward(months) {
		t.Rows = append(t.Rows, []chart.Cell{
			chart.TextCell(m.Month),
			{Text: e.money(m.Bought, m.Currency)},
			{Text: e.money(m.Sold, m.Currency)},
			e.numberCell(m.Buys),
			e.numberCell(m.Sells),
		})
	}
	return t
}
