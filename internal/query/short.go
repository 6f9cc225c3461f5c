package query

import (
	"slices"
	"strings"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// ShortTotal is the sum of the present net short positions in an issuer.
type ShortTotal struct {
	Percent string  `json:"percent"`
	Names   int     `json:"holders"`
	Date    *string `json:"date"` // of the newest of them; null if there are none
}

// ShortPoint is the sum from a day on, until the next one.
type ShortPoint struct {
	Date    string `json:"date"`
	Percent string `json:"percent"`
	Names   int    `json:"holders"`
}

// MaxShortPoints is how many points a series has: the newest.
const MaxShortPoints = 5000

// ShortTotal returns the sum of the short positions in an issuer, by any of its
// identifiers.
func (q *Service) ShortTotal(b *position.Book, issuer string) ShortTotal {
	total, ok := b.ShortTotal(positionKey(b, issuer))
	if !ok {
		return ShortTotal{Percent: "0"}
	}
	return newShortTotal(total)
}

func newShortTotal(t position.ShortTotal) ShortTotal {
	return ShortTotal{
		Percent: t.Percent,
		Names:   t.Names,
		Date:    OrNull(t.Newest.Day().String()),
	}
}

// ShortSeries returns the sum of the short positions in an issuer on each day on which it
// changed: see position.ShortLines.
func (q *Service) ShortSeries(b *position.Book, issuer string) []ShortPoint {
	points := position.ShortSeries(b.ShortLines(positionKey(b, issuer)))
	points = points[max(0, len(points)-MaxShortPoints):]
	out := make([]ShortPoint, len(points))
	for i, p := range points {
		out[i] = ShortPoint{
			Date:    p.Day.String(),
			Percent: p.Percent,
			Names:   p.Names,
		}
	}
	return out
}

// ShortRow is the total of an issuer in a list of all.
type ShortRow struct {
	IssuerID   *string `json:"issuer_id"`
	IssuerName *string `json:"issuer_name"`
	LEI        *string `json:"lei"`
	ISIN       *string `json:"isin"`
	ShortTotal
}

// ShortRows is a page of totals.
type ShortRows struct {
	Data    []ShortRow `json:"data"`
	Total   int        `json:"total"`
	Page    int        `json:"page"`
	Limit   int        `json:"limit"`
	AsOfSeq *int64     `json:"as_of_seq,omitempty"` // only of a past state
}

// ShortTotalsList is a request for a page of totals.
type ShortTotalsList struct {
	Issuers     []string                      // any identifiers; nil: all
	Among       func(*disclosure.Issuer) bool // nil: all
	Entries     *disclosure.Entries           // of a watchlist; nil: all
	Page, Limit int
}

// ShortTotals reads the parameters of the totals of all issuers, or of some.
func (p *Params) ShortTotals(s *catalog.Snapshot) ShortTotalsList {
	l := ShortTotalsList{
		Issuers: p.issuers(s, registeredKey),
		Among:   p.IssuersOf(s),
		Limit:   p.limit(),
		Page:    p.Integer("page", 1, 1, MaxPage),
	}
	_, l.Entries = p.watchlist()
	return l
}

// ShortTotals returns the totals of issuers with present short positions, the largest
// first.
func (q *Service) ShortTotals(b *position.Book, l ShortTotalsList) ShortRows {
	out := ShortRows{Data: []ShortRow{}, Page: l.Page, Limit: l.Limit}
	skip := (int64(l.Page) - 1) * int64(l.Limit)
	listed := listsIssuer(b, l.Entries)
	for _, t := range shortTotals(b, l.Issuers) {
		if !listed(t) {
			continue
		}
		if l.Among != nil && !l.Among(t.Newest.Issuer()) {
			continue
		}
		if int64(out.Total) >= skip && len(out.Data) < l.Limit {
			out.Data = append(out.Data, newShortRow(t))
		}
		out.Total++
	}
	return out
}

// listsIssuer returns the function that reports whether a watchlist selects the issuer of a
// total: it names the issuer, or has a search with conditions on issuers only that selects it.
func listsIssuer(b *position.Book, e *disclosure.Entries) func(position.ShortTotal) bool {
	if e == nil {
		return func(position.ShortTotal) bool { return true }
	}
	keys := positionKeys(b, e.Issuers)
	searches := search.Compile(disclosure.Filter{Entries: &disclosure.Entries{Filters: e.Filters}})
	return func(t position.ShortTotal) bool {
		i := t.Newest.Issuer()
		return slices.Contains(keys, t.Key) || i != nil && searches.MatchIssuer(i)
	}
}

// shortTotals returns the totals of all issuers, or those of some by any of their
// identifiers, the largest first.
func shortTotals(b *position.Book, issuers []string) []position.ShortTotal {
	all := b.ShortTotals()
	if issuers == nil {
		return all
	}
	keys := positionKeys(b, issuers)
	return slices.DeleteFunc(all, func(t position.ShortTotal) bool {
		return !slices.Contains(keys, t.Key)
	})
}

// ShortSeriesList is how the total of an issuer changed.
type ShortSeriesList struct {
	IssuerID   *string      `json:"issuer_id"`
	IssuerName *string      `json:"issuer_name"`
	Data       []ShortPoint `json:"data"`
	AsOfSeq    *int64       `json:"as_of_seq,omitempty"` // only of a past state
}

// ShortSeriesIssuer reads the issuer of a series, and returns an identifier of it.
func (p *Params) ShortSeriesIssuer(s *catalog.Snapshot) string {
	issuers := p.issuers(s, registeredKey)
	switch {
	case strings.TrimSpace(p.values.Get("issuer")) == "":
		p.Reject("issuer", "", "is needed: a series is that of one issuer")
	case len(issuers) > 1:
		p.Reject("issuer", p.Text("issuer"), "must be one issuer: a series is that of one")
	}
	return strings.Join(issuers, "")
}

// ShortSeriesOf returns how the total of an issuer changed, by any of its identifiers.
func (q *Service) ShortSeriesOf(s *catalog.Snapshot, b *position.Book, issuer string) ShortSeriesList {
	out := ShortSeriesList{Data: q.ShortSeries(b, issuer)}
	out.IssuerID, out.IssuerName = issuerOf(s.Directory(), b, positionKey(b, issuer))
	return out
}

func newShortRow(t position.ShortTotal) ShortRow {
	p := t.Newest.Decode()
	name := p.IssuerName
	if i := t.Newest.Issuer(); i != nil {
		name = i.Name
	}
	return ShortRow{
		IssuerID:   OrNull(p.Issuer),
		IssuerName: OrNull(name),
		LEI:        OrNull(p.LEI),
		ISIN:       OrNull(p.ISIN),
		ShortTotal: newShortTotal(t),
	}
}
