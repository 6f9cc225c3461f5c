package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/disclosure"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
)

// Limits of positions in a result. A notice of dealings may have thousands of trades.
const (
	maxTrades    = 5 // of a notice
	spokenTrades = 3 // of a notice in the text
)

// What the registers of positions do not have, which a model would guess otherwise.
const (
	shortLimits = "Net short positions are published from 0.5 % of the capital on, and once when they fall below: " +
		"smaller ones are not known here, and one that is no longer listed may still exist."
	dealingLimits = "Amounts are known once the document of a notice was read. A notice says what its author " +
		"declared, not why."
	holdingLimits = "Holders below the thresholds of the law, usually 3 % of the votes, are not known here. " +
		"Percentages of holders are never added: chains of holders repeat the same votes."
)

// positionRow has the fields of a position that the text shows, read from its JSON.
type positionRow struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"`
	IssuerID   string          `json:"issuer_id"`
	IssuerName string          `json:"issuer_name"`
	ISIN       string          `json:"isin"`
	LEI        string          `json:"lei"`
	HeldBy     string          `json:"holder"`
	DealtBy    string          `json:"person"`
	Date       string          `json:"date"`
	Registered string          `json:"registered_on"`
	State      string          `json:"state"`
	Percent    string          `json:"percent"`
	Total      string          `json:"percent_total"`
	Direct     string          `json:"percent_direct"`
	Indirect   string          `json:"percent_indirect"`
	Derived    string          `json:"percent_instruments"`
	Relation   string          `json:"relation"`
	Rectified  []string        `json:"rectified_by"`
	Document   string          `json:"document_url"`
	Status     string          `json:"document_status"`
	Source     string          `json:"source_url"`
	Amount     string          `json:"amount"`
	Currency   string          `json:"currency"`
	Aggregates string          `json:"aggregates"`
	Trades     []tradeRow      `json:"trades"`
	More       int             `json:"more_trades"`
	JSON       json.RawMessage `json:"-"` // as the result has it
}

type tradeRow struct {
	Instrument string `json:"instrument"`
	Nature     string `json:"nature"`
	Side       string `json:"side"`
	Date       string `json:"date"`
	Volume     string `json:"volume"`
	Price      string `json:"price"`
	Currency   string `json:"currency"`
	Page       int    `json:"page"`
}

// readPosition returns the row of a position in JSON, with the first of its trades.
func readPosition(b json.RawMessage) (row positionRow, err error) {
	if b, err = fewTrades(b); err != nil {
		return row, err
	}
	b = shrink(b, maxRow)
	err = json.Unmarshal(b, &row)
	row.JSON = b
	return row, err
}

func readPositions(all []json.RawMessage) ([]positionRow, error) {
	rows := make([]positionRow, len(all))
	for i, b := range all {
		var err error
		if rows[i], err = readPosition(b); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// fewTrades returns a position with maxTrades trades and the number of the others.
func fewTrades(b json.RawMessage) (json.RawMessage, error) {
	var few struct {
		Trades []json.RawMessage `json:"trades"`
	}
	if err := json.Unmarshal(b, &few); err != nil {
		return nil, err
	}
	more := len(few.Trades) - maxTrades
	if more <= 0 {
		return b, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	shown, err := query.Encode(few.Trades[:maxTrades])
	if err != nil {
		return nil, err
	}
	all["trades"] = shown
	all["more_trades"] = fmt.Append(nil, more)
	return query.Encode(all)
}

// link returns where a position can be checked: its document, the page of the register, or
// its record here.
func (s *Service) positionLink(p *positionRow) string {
	for _, address := range []string{p.Document, p.Source} {
		if link := quote.Link(address); address != "" && link != "" {
			return link
		}
	}
	return s.BaseURL + "/api/v1/positions/" + url.PathEscape(p.ID)
}

// issuer returns the name of the issuer of a position with an identifier.
func (p *positionRow) issuer() string {
	for _, ident := range []string{p.IssuerID, p.ISIN, p.LEI} {
		if ident != "" {
			return quote.Text(p.IssuerName, 80) + " (" + quote.Word(ident) + ")"
		}
	}
	return quote.Text(p.IssuerName, 80)
}

// name returns who holds or dealt.
func (p *positionRow) name() string {
	name := p.HeldBy + p.DealtBy
	if name == "" {
		return "name erased"
	}
	name = quote.Text(name, 80)
	if p.Relation != "" {
		name += " (" + quote.Word(p.Relation) + ")"
	}
	return name
}

// stateWords are the states that a text must not leave out.
var stateWords = map[disclosure.PositionState]string{
	disclosure.StatePast:      "replaced later",
	disclosure.StateEnded:     "no longer listed",
	disclosure.StateClosed:    "closed",
	disclosure.StateRectified: "RECTIFIED LATER",
	disclosure.StateAnnulled:  "ANNULLED LATER",
}

// appendPositionLine appends a position as one line, with its issuer unless the whole text
// is about that.
func (s *Service) appendPositionLine(b []byte, p *positionRow, withIssuer bool) []byte {
	day := p.Registered
	if p.Kind == string(disclosure.Short) {
		day = p.Date
	}
	b = fmt.Appendf(b, "- %s, %s", quote.Word(day), p.name())
	if withIssuer {
		b = append(append(b, " in "...), p.issuer()...)
	}
	switch disclosure.PositionKind(p.Kind) {
	case disclosure.Dealing:
		b = p.appendTrades(b)
	case disclosure.Short:
		b = fmt.Appendf(b, ": %s %% of the capital", quote.Word(p.Percent))
	default:
		b = p.appendVotes(b)
	}
	if state := stateWords[disclosure.PositionState(p.State)]; state != "" {
		b = append(append(b, ", "...), state...)
	}
	for i, number := range p.Rectified[:min(len(p.Rectified), 2)] {
		b = append(append(b, []string{" by ", ", "}[i]...), quote.Word(number)...)
	}
	return append(append(b, ": "...), s.positionLink(p)...)
}

// appendVotes appends the percentages of a holding.
func (p *positionRow) appendVotes(b []byte) []byte {
	if p.Total == "" {
		return append(b, ": percentage not stated"...)
	}
	b = fmt.Appendf(b, ": %s %%", quote.Word(p.Total))
	sep := " ("
	for _, part := range []struct{ name, value string }{
		{"direct", p.Direct},
		{"indirect", p.Indirect},
		{"instruments", p.Derived},
	} {
		if disclosure.IsDecimal(part.value) && disclosure.CompareDecimals(part.value, "0") != 0 {
			b = fmt.Appendf(b, "%s%s %s", sep, part.name, quote.Word(part.value))
			sep = ", "
		}
	}
	if sep == ", " {
		b = append(b, ')')
	}
	return b
}

// appendTrades appends what a notice of dealings says, or why that is not known.
func (p *positionRow) appendTrades(b []byte) []byte {
	switch {
	case p.Status == string(disclosure.DocumentPending):
		return append(b, ": the document was not read yet"...)
	case p.Status != string(disclosure.DocumentReady):
		return append(b, ": the document could not be read"...)
	case len(p.Trades) == 0:
		return append(b, ": the document states no trade"...)
	}
	for i, t := range p.Trades[:min(len(p.Trades), spokenTrades)] {
		b = fmt.Appendf(b, "%s %s %s", []string{":", ";"}[min(i, 1)], quote.Word(t.Side), quote.Word(t.Volume))
		if t.Side == string(disclosure.OtherSide) {
			b = append(append(b, ' '), quote.Text(t.Nature, 40)...)
		}
		b = fmt.Appendf(b, " at %s %s on %s", quote.Word(t.Price), quote.Word(t.Currency), quote.Word(t.Date))
	}
	if more := p.More + len(p.Trades) - min(len(p.Trades), spokenTrades); more > 0 {
		b = fmt.Appendf(b, "; and %s more", counted(more, "trade"))
	}
	if p.Amount != "" {
		b = fmt.Appendf(b, "; %s %s in all", quote.Word(p.Amount), quote.Word(p.Currency))
	}
	if p.Aggregates == string(disclosure.SumsDiffer) {
		b = append(b, " (the totals in the document differ)"...)
	}
	return b
}

func (s *Service) listDealings(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	list := p.PositionList(snapshot, disclosure.Dealing)
	return s.listPositions(ctx, snapshot, p, list, "Notices of dealings", dealingLimits)
}

// SearchPositions returns a page of positions of any kind.
func (s *Service) SearchPositions(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	list := p.LivePositions(snapshot)
	return s.listPositions(ctx, snapshot, p, list, "Positions", shortLimits+" "+holdingLimits)
}

// listPositions returns a page of a list of positions.
func (s *Service) listPositions(
	ctx context.Context,
	snapshot *catalog.Snapshot,
	p *query.Params,
	list query.PositionList,
	things, hint string,
) (Result, error) {
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	book := snapshot.Positions()
	found, err := s.Query.Positions(ctx, book, list)
	if err != nil {
		return Result{}, err
	}
	var members []byte
	if issuer, one := list.OneIssuer(); one && len(list.Filter.Kinds) == 1 && list.Kind() == disclosure.Short {
		total := s.Query.ShortTotal(book, issuer)
		encoded, err := query.Encode(total)
		if err != nil {
			return Result{}, err
		}
		members = append([]byte(`,"totals":`), encoded...)
		hint = "The present short positions in this issuer: " + totalWords(total) + ". " + hint
	}
	page := newPositionPage(things, "newest first", hint, found.Total, list.Page, list.Limit)
	for _, e := range found.Entries {
		row, err := readPosition(query.AppendPosition(nil, e))
		if err != nil {
			return Result{}, err
		}
		if err := page.add(row.JSON, s.appendPositionLine(nil, &row, true)); err != nil {
			return Result{}, err
		}
	}
	return page.result(s, snapshot, members), nil
}

// newPositionPage returns a page of positions. The hint says what the registers do not have.
func newPositionPage(things, order, hint string, total, page, limit int) *listPage {
	out := newListPage(things, order, total, page, limit)
	out.hint = " " + hint
	out.notice = hint + " " + quote.RegisterNotice
	return out
}

// totalWords says what the short positions in an issuer add up to.
func totalWords(t query.ShortTotal) string {
	if t.Date == nil {
		return "none"
	}
	return fmt.Sprintf("%s %% in total, %s, the newest of %s", t.Percent, counted(t.Names, "holder"), *t.Date)
}

// byIssuer is the value of the argument of with which list_shorts returns a total of each
// issuer.
const byIssuer = "issuers"

func (s *Service) listShorts(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	switch of := p.Text("of"); of {
	case "", "positions":
		list := p.PositionList(snapshot, disclosure.Short)
		return s.listPositions(ctx, snapshot, p, list, "Net short positions", shortLimits)
	case byIssuer:
	default:
		p.Reject("of", of, "must be positions or "+byIssuer)
	}
	for _, name := range []string{"holder", "from", "to", "current"} {
		if value := p.Text(name); value != "" && value != "false" {
			p.Reject(name, value, "is for of=positions: a total is that of all present positions in an issuer")
		}
	}
	list := p.ShortTotals(snapshot)
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found := s.Query.ShortTotals(snapshot.Positions(), list)
	page := newPositionPage("Issuers with short positions", "largest total first", shortLimits, found.Total, list.Page,
		list.Limit)
	for _, row := range found.Data {
		if err := page.add(row, s.appendTotalLine(nil, row)); err != nil {
			return Result{}, err
		}
	}
	return page.result(s, snapshot, nil), nil
}

// appendTotalLine appends the total of an issuer as one line.
func (s *Service) appendTotalLine(b []byte, row query.ShortRow) []byte {
	of := positionRow{
		IssuerID:   valueOf(row.IssuerID),
		IssuerName: valueOf(row.IssuerName),
		ISIN:       valueOf(row.ISIN),
		LEI:        valueOf(row.LEI),
	}
	b = fmt.Appendf(b, "- %s: %s", of.issuer(), totalWords(row.ShortTotal))
	if of.IssuerID != "" {
		b = append(append(b, ": "...), s.issuerLink(of.IssuerID)...)
	}
	return b
}

// withoutName is the name of an issuer that a register has without one.
func withoutName(name *string) string {
	if name == nil || strings.TrimSpace(*name) == "" {
		return "an issuer without a name"
	}
	return quote.Text(*name, 120)
}
