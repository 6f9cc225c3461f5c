package query

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
	"pregon/internal/text"
)

// PositionList is a request for a page of positions of one kind.
type PositionList struct {
	Filter      position.Filter     // its Issuers are any identifiers, as Params.issuers returns them
	Entries     *disclosure.Entries // of a watchlist; nil: the list does not have one
	Page, Limit int
}

// Kind returns the kind of the positions.
func (l PositionList) Kind() disclosure.PositionKind { return l.Filter.Kinds[0] }

// AppendPage appends total, page and limit to an encoded list.
func (l PositionList) AppendPage(b []byte, total int) []byte {
	return appendPage(b, total, l.Page, l.Limit)
}

// PositionList reads the parameters of a list of positions of a kind.
func (p *Params) PositionList(s *catalog.Snapshot, kind disclosure.PositionKind) PositionList {
	l := PositionList{
		Filter: position.Filter{
			Kinds:   []disclosure.PositionKind{kind},
			Issuers: p.issuers(s, registeredKey),
			From:    p.Day("from"),
			To:      p.Day("to"),
			Among:   p.IssuersOf(s),
		},
		Limit: p.limit(),
		Page:  p.Integer("page", 1, 1, MaxPage),
	}
	_, l.Entries = p.watchlist()
	f := &l.Filter
	p.checkDays(&disclosure.Filter{From: f.From, To: f.To})
	switch kind {
	case disclosure.Dealing:
		f.Name = p.words("person")
		switch {
		case f.Name == "":
		case p.Text("issuer") == "":
			p.Reject("person", f.Name, "needs issuer: there is no list of what a person deals in across issuers")
		case len(f.Issuers) > 1:
			p.Reject("person", f.Name, "needs one issuer, and there are several: there is no list of what a person "+
				"deals in across issuers")
		}
		f.Side = p.dealingSide()
		f.MinAmount, f.Currency = p.dealingAmount()
	case disclosure.OwnShares:
		f.Current = p.Flag("current")
	default:
		f.Name = p.words("holder")
		f.Current = p.Flag("current")
	}
	return l
}

// IssuersOf reads the parameters that select issuers by what they have in common. It
// returns nil if there are none.
func (p *Params) IssuersOf(s *catalog.Snapshot) func(*disclosure.Issuer) bool {
	market, marketWords := p.Market(s)
	sector, sectorWords := p.Sector(s)
	if market == "" && sector == "" {
		return nil
	}
	inMarket := search.NewNameFilter(market, marketWords)
	inSector := search.NewNameFilter(sector, sectorWords)
	return func(i *disclosure.Issuer) bool {
		return i != nil &&
			(market == "" || inMarket.Match(i.Market)) &&
			(sector == "" || inSector.MatchSector(i.Sector))
	}
}

// words reads a parameter that is words of a name.
func (p *Params) words(name string) string {
	s := p.LimitedText(name, maxName)
	if text.Wordless(s) {
		p.Reject(name, s, "does not have a word to compare: use letters or digits, or leave it out")
	}
	return strings.TrimSpace(s)
}

// Flag reads a parameter that is true or false. It is false if it is absent.
func (p *Params) Flag(name string) bool {
	switch s := p.Text(name); s {
	case "", "false":
		return false
	case "true":
		return true
	default:
		p.Reject(name, s, "must be true or false")
		return false
	}
}

// dealingSide reads the parameter side.
func (p *Params) dealingSide() disclosure.Side {
	s := disclosure.Side(p.Text("side"))
	if s != "" && !slices.Contains(disclosure.Sides, s) {
		p.Reject("side", string(s), "must be buy, sell or other")
	}
	return s
}

// dealingAmount reads the least amount of a notice of dealings, and its currency.
func (p *Params) dealingAmount() (least, currency string) {
	least = p.LimitedText("min_amount", maxAmount)
	currency = p.Text("currency")
	if least == "" {
		if currency != "" && currency != defaultCurrency { // forms send the default
			p.Reject("currency", currency, "is the currency of min_amount, which is missing")
		}
		return "", ""
	}
	if !disclosure.IsDecimal(least) || strings.HasPrefix(least, "-") {
		p.Reject("min_amount", least, "must be a number of units that is not negative, such as 50000 or 0.25")
	}
	if currency == "" {
		currency = defaultCurrency
	}
	if !isCurrency(currency) {
		p.Reject("currency", currency, "must be three capital letters, such as EUR")
	}
	return least, currency
}

// PositionsAt returns the positions as of a point, the present ones if at is nil.
func (q *Service) PositionsAt(ctx context.Context, s *catalog.Snapshot, at *Point) (*position.Book, error) {
	if at == nil {
		return s.Positions(), nil
	}
	return q.past.Positions(ctx, s, at.Seq)
}

// Positions returns a page of a list of positions, the newest first.
func (q *Service) Positions(ctx context.Context, b *position.Book, l PositionList) (position.Page, error) {
	return b.List(ctx, l.resolve(b), l.Page, l.Limit)
}

// positionKey returns the key of an issuer in a book. An issuer without positions is not
// known to it.
func positionKey(b *position.Book, ident string) string {
	if key, ok := b.Key(ident); ok {
		return key
	}
	return ident
}

// positionKeys returns the keys of issuers in a book, nil for none.
func positionKeys(b *position.Book, idents []string) (keys []string) {
	for _, ident := range idents {
		keys = append(keys, positionKey(b, ident))
	}
	return keys
}

// OneIssuer returns the issuer of a list of the positions in one, by any identifier.
func (l PositionList) OneIssuer() (ident string, ok bool) {
	if len(l.Filter.Issuers) != 1 {
		return "", false
	}
	return l.Filter.Issuers[0], true
}

// AppendPosition appends the JSON of a position as lists and details have it: that of
// disclosure.AppendPosition, with the issuer as the directory decides.
func AppendPosition(b []byte, e position.Entry) []byte {
	return disclosure.AppendPosition(b, e.Decode())
}

// AppendPositions appends a list of positions.
func AppendPositions(b []byte, entries []position.Entry) []byte {
	b = append(b, '[')
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendPosition(b, e)
	}
	return append(b, ']')
}

// rawPositions returns positions as values of an answer.
func rawPositions(entries []position.Entry) []json.RawMessage {
	out := make([]json.RawMessage, len(entries))
	for i, e := range entries {
		out[i] = AppendPosition(nil, e)
	}
	return out
}

// Position returns the position with an id, in upper or lower case, as the JSON of its
// detail: as lists have it, with its origin.
func (q *Service) Position(s *catalog.Snapshot, id string) (json.RawMessage, error) {
	e, err := FindPosition(s, id)
	if err != nil {
		return nil, err
	}
	return q.positionDetail(e, nil)
}

func (q *Service) positionDetail(e position.Entry, at *Point) (json.RawMessage, error) {
	origin, err := Encode(q.Attribution())
	if err != nil {
		return nil, err
	}
	b := AppendPosition(nil, e)
	b = append(b[:len(b)-1], `,"attribution":`...)
	b = append(b, origin...)
	if at != nil {
		b = append(b, `,"as_of_seq":`...)
		b = strconv.AppendInt(b, at.Seq, 10)
	}
	return append(b, '}'), nil
}

// PositionAsOf returns the position with an id as it was known at a point.
func (q *Service) PositionAsOf(
	ctx context.Context,
	s *catalog.Snapshot,
	id string,
	at Point,
) (json.RawMessage, error) {
	known, err := FindPosition(s, id)
	if err != nil {
		return nil, err
	}
	e, err := q.past.Position(ctx, s, known.ID(), at.Seq)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, fault.New(fault.NotFound, "The position %s was not known yet as of seq %d.", known.ID(), at.Seq)
	}
	return q.positionDetail(*e, &at)
}

// PositionHistory returns the changes of a position.
func (q *Service) PositionHistory(
	ctx context.Context,
	s *catalog.Snapshot,
	id string,
	h HistoryQuery,
) (*History, error) {
	known, err := FindPosition(s, id)
	if err != nil {
		return nil, err
	}
	return q.history(ctx, s, disclosure.OfPosition, known.ID(), h)
}

// positionFields returns the names of the fields of positions of a kind as JSON, in their
// order.
func positionFields(kind disclosure.PositionKind) (names []string) {
	empty := disclosure.AppendPosition(nil, &disclosure.Position{Kind: kind})
	decoder := json.NewDecoder(bytes.NewReader(empty))
	_, _ = decoder.Token() // the brace; AppendPosition writes valid JSON
	for decoder.More() {
		name, _ := decoder.Token()
		var value json.RawMessage
		_ = decoder.Decode(&value)
		names = append(names, name.(string))
	}
	return names
}

// FindPosition returns the position with an id, in upper or lower case.
func FindPosition(s *catalog.Snapshot, id string) (position.Entry, error) {
	e, ok := s.Positions().Get(strings.ToLower(id))
	if ok {
		return e, nil
	}
	if _, ok := disclosure.KindOfPosition(strings.ToLower(id)); !ok {
		return e, fault.New(fault.NotFound, "There is no position with that id. Ids begin with short-, holding-, "+
			"own-shares- or dealing-, as in dealing-2026000001.")
	}
	return e, fault.New(fault.NotFound, "There is no position %s.", search.Quoted(strings.ToLower(id)))
}
