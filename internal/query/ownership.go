package query

import (
	"context"
	"encoding/json"
	"slices"

	"pregon/internal/catalog"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/search"
)

// Ownership is everything about who holds, trades in and bets against one issuer.
// Percentages of holdings are not added up: chains of holders repeat the same votes.
type Ownership struct {
	IssuerID   *string `json:"issuer_id"`
	IssuerName *string `json:"issuer_name"`
	VotingRights
	Holdings    []json.RawMessage `json:"holdings"` // present ones, the largest first
	OwnShares   []json.RawMessage `json:"own_shares"`
	Shorts      OwnershipShorts   `json:"shorts"`
	Dealings    OwnershipDealings `json:"dealings"`
	Attribution Attribution       `json:"attribution"`
	AsOfSeq     *int64            `json:"as_of_seq,omitempty"` // only of a past state
}

// VotingRights are those of an issuer, of which holdings have a percentage.
type VotingRights struct {
	Total *string `json:"voting_rights"`
	On    *string `json:"voting_rights_on"` // the day of the last change of that number
}

// OwnershipShorts are the net short positions in an issuer.
type OwnershipShorts struct {
	Totals  ShortTotal        `json:"totals"`
	Current []json.RawMessage `json:"current"` // the largest first
	Series  []ShortPoint      `json:"series"`
}

// OwnershipDealings are the newest notices of managers' dealings in an issuer.
type OwnershipDealings struct {
	Total  int               `json:"total"`
	Latest []json.RawMessage `json:"latest"`
	Months []DealingMonth    `json:"months"`
}

// DealingMonth is what was bought and sold in a month, in one currency.
type DealingMonth struct {
	Month    string `json:"month"`
	Currency string `json:"currency"`
	Bought   string `json:"bought"`
	Sold     string `json:"sold"`
	Buys     int    `json:"buys"`
	Sells    int    `json:"sells"`
}

const (
	maxOwnership   = 200 // positions of a kind
	latestDealings = 20
	// maxDealingMonths is how many sums there are: the newest.
	maxDealingMonths = 240
)

// Ownership returns everything about one issuer, by any of its identifiers, a ticker or a
// name.
func (q *Service) Ownership(ctx context.Context, s *catalog.Snapshot, issuer string) (*Ownership, error) {
	return q.ownership(ctx, s, s.Directory(), s.Positions(), issuer)
}

// OwnershipAsOf returns everything about one issuer as it was known at a point.
func (q *Service) OwnershipAsOf(
	ctx context.Context,
	s *catalog.Snapshot,
	issuer string,
	at Point,
) (*Ownership, error) {
	b, err := q.PositionsAt(ctx, s, &at)
	if err != nil {
		return nil, err
	}
	dir, err := q.past.Directory(ctx, s, at.Seq)
	if err != nil {
		return nil, err
	}
	out, err := q.ownership(ctx, s, dir, b, issuer)
	if err != nil {
		return nil, err
	}
	out.AsOfSeq = &at.Seq
	return out, nil
}

func (q *Service) ownership(
	ctx context.Context,
	s *catalog.Snapshot,
	dir *search.Directory,
	b *position.Book,
	issuer string,
) (*Ownership, error) {
	ident, unresolved := IssuerKey(s, issuer)
	if unresolved != nil {
		key, known := s.Positions().Key(issuer)
		if !known {
			return nil, fault.New(fault.NotFound, "%s", unresolved.Sentence)
		}
		ident = key
	}
	key := positionKey(b, ident)
	out := &Ownership{
		Holdings:    rawPositions(currentOf(b, key, disclosure.Holding)),
		OwnShares:   rawPositions(currentOf(b, key, disclosure.OwnShares)),
		Attribution: q.Attribution(),
		Shorts: OwnershipShorts{
			Totals:  q.ShortTotal(b, key),
			Current: rawPositions(currentOf(b, key, disclosure.Short)),
			Series:  q.ShortSeries(b, key),
		},
	}
	out.IssuerID, out.IssuerName = issuerOf(dir, b, key)
	out.VotingRights = votingRights(dir, key)
	latest, err := b.List(ctx, position.Filter{
		Kinds:   []disclosure.PositionKind{disclosure.Dealing},
		Issuers: []string{key},
	}, 1, latestDealings)
	if err != nil {
		return nil, err
	}
	out.Dealings = OwnershipDealings{
		Total:  latest.Total,
		Latest: rawPositions(latest.Entries),
		Months: q.DealingMonths(b, key),
	}
	return out, nil
}

// issuerOf returns the id and the name of an issuer: as in the directory, else as the
// registers have them.
func issuerOf(dir *search.Directory, b *position.Book, key string) (id, name *string) {
	if e, ok := dir.Find(key); ok {
		return &e.Issuer.ID, &e.Issuer.Name
	}
	for _, kind := range disclosure.PositionKinds {
		for e := range b.Of(key, kind) {
			return OrNull(e.IssuerID()), OrNull(e.Decode().IssuerName)
		}
	}
	return nil, nil
}

// VotingRights returns those of an issuer, by any of its identifiers, at a point, or now if
// it is nil.
func (q *Service) VotingRights(
	ctx context.Context,
	s *catalog.Snapshot,
	issuer string,
	at *Point,
) (VotingRights, error) {
	dir := s.Directory()
	if at != nil {
		var err error
		if dir, err = q.past.Directory(ctx, s, at.Seq); err != nil {
			return VotingRights{}, err
		}
	}
	return votingRights(dir, issuer), nil
}

func votingRights(dir *search.Directory, key string) VotingRights {
	e, ok := dir.Find(key)
	if !ok {
		return VotingRights{}
	}
	return VotingRights{
		Total: OrNull(e.Issuer.VotingRights),
		On:    OrNull(e.Issuer.VotingRightsOn),
	}
}

// currentOf returns the present positions of an issuer and a kind, the largest first.
func currentOf(b *position.Book, key string, kind disclosure.PositionKind) []position.Entry {
	var found []position.Entry
	for e := range b.Of(key, kind) {
		if e.State() == disclosure.StateCurrent {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b position.Entry) int {
		return disclosure.CompareDecimals(percentOf(b), percentOf(a))
	})
	return found[:min(len(found), maxOwnership)]
}

// percentOf returns a percentage to compare, which may be unknown.
func percentOf(e position.Entry) string {
	if e.Percent() == "" {
		return "0"
	}
	return e.Percent()
}

// CurrentPositions returns the present positions of an issuer, by any of its identifiers,
// and a kind: who holds now. The largest is the first.
func (q *Service) CurrentPositions(
	b *position.Book,
	issuer string,
	kind disclosure.PositionKind,
) []position.Entry {
	return currentOf(b, positionKey(b, issuer), kind)
}

// DealingMonths returns the sums of an issuer's dealings, by any of its identifiers, the
// oldest month first.
func (q *Service) DealingMonths(b *position.Book, issuer string) []DealingMonth {
	months := b.DealingMonths(positionKey(b, issuer))
	months = months[max(0, len(months)-maxDealingMonths):]
	out := make([]DealingMonth, len(months))
	for i, m := range months {
		out[i] = DealingMonth(m)
	}
	return out
}
