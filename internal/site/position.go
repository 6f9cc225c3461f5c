package site

import (
	"cmp"
	"strings"
	"time"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/query"
	"pregon/internal/site/chart"
	"pregon/internal/site/render"
)

// Sizes of the pages of positions.
const (
	positionRows = 50
	largestMoves = 100
	topShorts    = 12 // issuers beside the list
	shownTrades  = 20 // of a notice; the JSON has all
)

// register is a register of positions that has a page.
type register struct {
	kind disclosure.PositionKind
	path string
	// name is the parameter that selects by name. Without an issuer it selects only legal
	// persons, or is refused: there is no page about one person across issuers.
	name    string
	filters []string // the parameters of the form, in its order
	// private pages are never for search engines, whatever they show.
	private bool
}

var (
	shortRegister = &register{
		kind:    disclosure.Short,
		path:    "/shorts",
		name:    "holder",
		filters: []string{"watchlist", "issuer", "holder", "market", "sector", "from", "to", "current"},
	}
	registers = []*register{shortRegister, dealingRegister, holdingRegister, ownSharesRegister}
)

// positionPage is a list of the positions of a register.
type positionPage struct {
	Kind      disclosure.PositionKind
	Registers []choice // links to the pages of all registers
	Views     []choice // the newest or the largest
	Form      positionForm
	Rows      []positionRow
	Largest   string // the days of the largest moves, or "" for a list of the newest
	Total     int
	Page      int
	Newer     string // address of the page before, or ""
	Older     string // address of the page after, or ""
	Newest    string // address of the first page, if this is not it
	CSV       string // address
	JSON      string // address
	Top       *chart.Chart
	ReadAt    time.Time // when the register was last read, zero if never as a whole
	Partial   bool      // not everything that the register shows was read yet
	feedURL   *string   // the filter of its feeds, or nil if it has none
}

// positionForm is the filter of a list of positions.
type positionForm struct {
	Path      string
	Issuer    string
	NameField string // its parameter, or "" if it is not offered
	Name      string
	Sides     []choice
	MinAmount string
	Currency  string // of the amount, or "" if the form does not select by amount
	Markets   []choice
	Sectors   []choice
	From, To  string
	Current   bool
	HasState  bool // it selects the present positions
	Hidden    []hidden
	Active    []choice // conditions that are set, with links that remove them
	Clear     string
}

// positionRow is a position in a list.
type positionRow struct {
	ID         string
	Issuer     string
	IssuerURL  string // of its page, or ""
	Ticker     string
	Name       string // empty if it was erased
	NameURL    string // of the positions of a legal person in all issuers, or ""
	NameErased bool
	Day        disclosure.Day
	Date       string
	Percent    string
	Change     string // since the position before, or ""
	Before     string // the percentage before, or ""
	First      bool   // there is none before
	State      string // what the register says of it, or "" if it is in its present table
	Source     string // address of the register's page
	Document   string // address
	JSON       string // address

	*dealingRow // nil of other kinds
	*holdingRow // the same
}

// shorts is the page of the net short positions.
func (s *Site) shorts(q *request) (*render.Page, error) { return s.positions(q, shortRegister) }

// positions is the page of a register.
func (s *Site) positions(q *request, r *register) (*render.Page, error) {
	out, natural, err := s.positionPage(q, r)
	if err != nil {
		return nil, err
	}
	return s.renderPositions(q, r, out, natural), nil
}

// renderPositions returns a page. It is not for search engines if it has the name of
// a holder who may be a natural person.
func (s *Site) renderPositions(q *request, r *register, out *positionPage, natural bool) *render.Page {
	kind := string(r.kind)
	return &render.Page{
		Template:    "positions",
		Script:      tablesScript,
		Title:       q.edition.Text("register.title." + kind),
		Description: q.edition.Text("register.description." + kind),
		Data:        out,
		NoIndex:     r.private || natural || out.Page > 1 || len(out.Form.Active) > 0 || out.Largest != "",
		Head:        []render.HeadLink{{Rel: "alternate", Type: "application/json", URL: out.JSON}},
	}
}

// positionPage reads the parameters of a page of positions and finds them. natural
// reports whether one of the names may be that of a natural person.
func (s *Site) positionPage(q *request, r *register) (out *positionPage, natural bool, err error) {
	list := q.params.PositionList(q.snapshot, r.kind)
	list.Limit = positionRows
	largest := false
	switch view := q.params.Text("view"); view {
	case "", "newest":
	case "largest":
		largest = true
	default:
		q.params.Reject("view", view, "must be newest or largest")
	}
	if err := q.params.Err(); err != nil {
		return nil, false, err
	}
	out = &positionPage{
		Kind:      r.kind,
		Registers: q.registerChoices(r),
		Views: []choice{
			{Text: q.edition.Text("positions.newest"), URL: q.with(r.path, "view", ""), Selected: !largest},
			{Text: q.edition.Text("positions.largest"), URL: q.with(r.path, "view", "largest"), Selected: largest},
		},
		Form: q.positionForm(r),
		Page: list.Page,
		CSV:  "/api/v1" + r.path + ".csv" + q.registerParameters(r),
		JSON: "/api/v1" + r.path + q.registerParameters(r),
	}
	known := s.Query.Register(strings.ReplaceAll(r.path[1:], "-", "_"))
	if known.ReadAt != nil {
		out.ReadAt = *known.ReadAt
	}
	out.Partial = known.WholeUntil == nil
	if !q.aboutOne(r) {
		filter := q.registerParameters(r)
		out.feedURL = &filter
	}
	var moves []position.Move
	if largest {
		moves, err = s.addLargest(q, out, list)
	} else {
		moves, err = s.addNewest(q, out, list)
	}
	if err != nil {
		return nil, false, err
	}
	for _, m := range moves {
		p := m.Entry.Decode()
		natural = natural || p.Natural && p.Name != ""
		out.Rows = append(out.Rows, q.newPositionRow(r, m, p))
	}
	if r.kind == disclosure.Short && list.Filter.Issuers == nil {
		out.Top = s.topShorts(q, list)
	}
	return out, natural, nil
}

// addNewest adds a page of the newest positions.
func (s *Site) addNewest(q *request, out *positionPage, list query.PositionList) ([]position.Move, error) {
	book := q.snapshot.Positions()
	found, err := s.Query.Positions(q.Context(), book, list)
	if err != nil {
		return nil, err
	}
	path := q.URL.EscapedPath()
	out.Total = found.Total
	if list.Page > 1 {
		out.Newer = q.with(path, "page", pageNumber(list.Page-1))
		out.Newest = q.with(path, "page", "")
	}
	if int64(list.Page)*int64(list.Limit) < int64(found.Total) {
		out.Older = q.with(path, "page", pageNumber(list.Page+1))
	}
	return book.MovesOf(q.Context(), found.Entries)
}

// addLargest adds the largest moves of the days of the request, or of the last month.
func (s *Site) addLargest(q *request, out *positionPage, list query.PositionList) ([]position.Move, error) {
	found, err := s.Query.Moves(q.Context(), q.snapshot.Positions(), list, largestMoves)
	if err != nil {
		return nil, err
	}
	out.Page = 1
	out.Total = len(found.Moves)
	out.Largest = q.edition.Text("positions.days", q.edition.date(found.From), q.edition.date(found.To))
	return found.Moves, nil
}

// date returns a date with an abbreviated month.
func (e edition) date(d disclosure.Day) string { return e.ShortDate(d.Start()) }

// registerChoices returns the links to all registers. They keep the issuer.
func (q *request) registerChoices(selected *register) []choice {
	out := make([]choice, len(registers))
	for i, r := range registers {
		out[i] = choice{
			Text:     q.edition.Text("register.tab." + string(r.kind)),
			URL:      q.edition.Link(r.path + queryOf("issuer", q.values.Get("issuer"))),
			Selected: r == selected,
		}
	}
	return out
}

// registerParameters returns the filter of a page of positions as a query string, or "".
func (q *request) registerParameters(r *register) string {
	var pairs []string
	for _, name := range append([]string{"currency"}, r.filters...) {
		pairs = append(pairs, name, q.values.Get(name))
	}
	return queryOf(pairs...)
}

func (q *request) newPositionRow(r *register, m position.Move, p *disclosure.Position) positionRow {
	e := q.edition
	row := positionRow{
		ID:         p.ID,
		Issuer:     cmp.Or(p.IssuerName, p.ISIN, p.LEI),
		Name:       strings.ReplaceAll(p.Name, " ,", ","),
		NameErased: p.NameErased(),
		Day:        m.Entry.Day(),
		Date:       e.date(m.Entry.Day()),
		Percent:    e.percentage(p.Percent),
		First:      m.First,
		Source:     p.SourceURL,
		Document:   p.DocumentURL,
		JSON:       "/api/v1/positions/" + p.ID,
	}
	switch r.kind {
	case disclosure.Dealing:
		row.dealingRow = q.newDealingRow(p)
		row.First = false
	case disclosure.Holding, disclosure.OwnShares:
		row.holdingRow = q.newHoldingRow(p)
	}
	if i := m.Entry.Issuer(); i != nil {
		row.Issuer = i.Name
		row.Ticker = i.Ticker
	}
	if p.Issuer != "" && q.snapshot.KnowsIssuer(p.Issuer) {
		row.IssuerURL = e.Link(issuerPath(p.Issuer))
	}
	if r.name == "holder" && p.Name != "" && !p.Natural {
		row.NameURL = e.Link(r.path + queryOf("holder", p.Name))
	}
	if !p.IsCurrent() && p.State != "" && len(p.RectifiedBy) == 0 { // the link says so
		row.State = e.Text("positionstate." + string(p.State))
	}
	if m.Change != "" && !m.First {
		row.Before = e.percentage(m.Previous.Percent())
		row.Change = e.decimal(m.Change)
		if !strings.HasPrefix(m.Change, "-") {
			row.Change = "+" + row.Change
		}
	}
	return row
}

// topShorts are the issuers with the largest sums of present short positions.
func (s *Site) topShorts(q *request, list query.PositionList) *chart.Chart {
	e := q.edition
	found := s.Query.ShortTotals(q.snapshot.Positions(), query.ShortTotalsList{
		Among:   list.Filter.Among,
		Entries: list.Entries,
		Page:    1,
		Limit:   topShorts,
	})
	if len(found.Data) == 0 {
		return nil
	}
	table := &chart.Table{Columns: []chart.Column{
		{Name: "issuer", Text: e.Text("filter.issuer")},
		chart.NumberColumn("percent", e.Text("positions.percent")),
	}}
	for _, total := range found.Data {
		name := chart.Cell{}
		for _, known := range []*string{total.IssuerName, total.ISIN, total.LEI} {
			if known != nil && name.Text == "" {
				name.Text = disclosure.DisplayName(*known)
			}
		}
		if total.IssuerID != nil && q.snapshot.KnowsIssuer(*total.IssuerID) {
			name.URL = e.Link(issuerPath(*total.IssuerID))
		}
		table.Rows = append(table.Rows, []chart.Cell{name, {
			Text:   e.percentage(total.Percent),
			Number: hundredths(total.Percent),
		}})
	}
	return &chart.Chart{
		Table: table,
		Ranks: chart.RanksOf(table),
		CSV: "/api/v1/shorts/totals.csv" + queryOf("market", q.values.Get("market"),
			"sector", q.values.Get("sector"), "watchlist", q.values.Get("watchlist")),
	}
}

// positionForm returns the filter of the request.
func (q *request) positionForm(r *register) positionForm {
	f := positionForm{
		Path:   r.path,
		Issuer: q.values.Get("issuer"),
		From:   q.values.Get("from"),
		To:     q.values.Get("to"),
		Clear:  q.edition.Link(r.path),
	}
	for _, name := range r.filters {
		value := q.values.Get(name)
		switch name {
		case "holder", "person":
			if name == "holder" || f.Issuer != "" {
				f.NameField = name
				f.Name = value
			}
		case "side":
			f.Sides = q.sideChoices(disclosure.Side(value))
		case "min_amount":
			f.MinAmount = value
			f.Currency = q.amountCurrency()
		case "market":
			f.Markets = q.positionNames(marketNames, value)
		case "sector":
			f.Sectors = q.positionNames(sectorNames, value)
		case "current":
			f.HasState = true
			f.Current = value == "true"
		}
		if value != "" && value != "false" {
			change := []string{name, ""}
			if name == "issuer" && r.name == "person" {
				change = append(change, "person", "") // which needs it
			}
			f.Active = append(f.Active, choice{
				Text: q.positionCondition(name, value),
				URL:  q.with(r.path, change...),
			})
		}
	}
	for _, name := range []string{"view", "currency", "watchlist", "lang"} {
		if v := q.values.Get(name); v != "" {
			f.Hidden = append(f.Hidden, hidden{name, v})
		}
	}
	return f
}

// sideChoices returns the sides of trades.
func (q *request) sideChoices(selected disclosure.Side) []choice {
	out := []choice{{Text: q.edition.Text("any"), Selected: selected == ""}}
	for _, side := range disclosure.Sides {
		out = append(out, choice{
			Value:    string(side),
			Text:     q.edition.Text("side." + string(side)),
			Selected: side == selected,
		})
	}
	return out
}

// positionCondition describes a condition.
func (q *request) positionCondition(name, value string) string {
	switch name {
	case "current":
		return q.edition.Text("filter.current")
	case "side":
		value = q.edition.Text("side." + value)
	case "min_amount":
		return q.edition.Text("positions.amount") + ": " + q.edition.money(value, q.amountCurrency())
	case "issuer":
		if key, ok := q.snapshot.Positions().Key(value); ok {
			value = key
		}
	}
	return q.conditionText(name, value)
}

// amountCurrency returns the currency of the least amount.
func (q *request) amountCurrency() string { return cmp.Or(q.values.Get("currency"), drawnCurrency) }

// positionNames returns the markets or the sectors of issuers.
func (q *request) positionNames(names issuerName, selected string) []choice {
	out := q.nameChoices(q.snapshot.Directory().Issuers(), names, selected, 0)
	if len(out) < 2 {
		return nil
	}
	return out
}
