package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"pregon/internal/catalog"
	"pregon/internal/mcp/quote"
	"pregon/internal/query"
)

// Limits of the parts of an ownership in a result, in bytes, and in points and months.
// Dealings have the room that the others leave. The rest is in the lists.
const (
	maxPositions = 10_600 // of all kinds
	maxHoldings  = 4_000
	maxOwnShares = 1_000
	maxShorts    = 2_600
	maxPoints    = 24
	maxMonths    = 8
)

// ownership is that of an issuer, with the first rows of each list.
type ownership struct {
	IssuerID       *string           `json:"issuer_id"`
	IssuerName     *string           `json:"issuer_name"`
	Holdings       []json.RawMessage `json:"holdings"`
	HoldingsTotal  int               `json:"holdings_total"`
	OwnShares      []json.RawMessage `json:"own_shares"`
	OwnSharesTotal int               `json:"own_shares_total"`
	Shorts         ownershipShorts   `json:"shorts"`
	Dealings       ownershipDealings `json:"dealings"`
	Attribution    query.Attribution `json:"attribution"`
}

type ownershipShorts struct {
	Totals       query.ShortTotal   `json:"totals"`
	Current      []json.RawMessage  `json:"current"`
	CurrentTotal int                `json:"current_total"`
	Series       []query.ShortPoint `json:"series"` // the newest
}

type ownershipDealings struct {
	Total  int                  `json:"total"`
	Latest []json.RawMessage    `json:"latest"`
	Months []query.DealingMonth `json:"months"` // the newest
}

// ownership answers who holds, trades in and bets against one issuer.
func (s *Service) ownership(ctx context.Context, snapshot *catalog.Snapshot, p *query.Params) (Result, error) {
	issuer := p.Text("issuer")
	if err := p.Err(); err != nil {
		return Result{}, err
	}
	found, err := s.readOwnership(ctx, snapshot, issuer)
	if err != nil {
		return Result{}, err
	}
	b, err := encodeWithSeq(found.result(), snapshot)
	return newResult(b, s.Simulated()+s.ownershipText(found)), err
}

// ownershipRows is an ownership with its rows as texts show them.
type ownershipRows struct {
	*query.Ownership
	holdings []positionRow
	own      []positionRow
	shorts   []positionRow
	dealings []positionRow
}

func (s *Service) readOwnership(
	ctx context.Context,
	snapshot *catalog.Snapshot,
	issuer string,
) (found ownershipRows, err error) {
	if found.Ownership, err = s.Query.Ownership(ctx, snapshot, issuer); err != nil {
		return found, err
	}
	for _, part := range []struct {
		to   *[]positionRow
		from []json.RawMessage
	}{
		{&found.holdings, found.Holdings},
		{&found.own, found.OwnShares},
		{&found.shorts, found.Shorts.Current},
		{&found.dealings, found.Dealings.Latest},
	} {
		if *part.to, err = readPositions(part.from); err != nil {
			return found, err
		}
	}
	return found, nil
}

// entries returns how many positions there are.
func (o ownershipRows) entries() int {
	return len(o.holdings) + len(o.own) + len(o.shorts) + o.Dealings.Total
}

// result returns the rows that fit.
func (o ownershipRows) result() ownership {
	out := ownership{
		IssuerID:       o.IssuerID,
		IssuerName:     o.IssuerName,
		Holdings:       fitting(o.holdings, maxHoldings),
		HoldingsTotal:  len(o.holdings),
		OwnShares:      fitting(o.own, maxOwnShares),
		OwnSharesTotal: len(o.own),
		Shorts: ownershipShorts{
			Totals:       o.Shorts.Totals,
			Current:      fitting(o.shorts, maxShorts),
			CurrentTotal: len(o.shorts),
			Series:       o.Shorts.Series[max(0, len(o.Shorts.Series)-maxPoints):],
		},
		Dealings: ownershipDealings{
			Total:  o.Dealings.Total,
			Months: o.Dealings.Months[max(0, len(o.Dealings.Months)-maxMonths):],
		},
		Attribution: o.Attribution,
	}
	left := maxPositions
	for _, part := range [][]json.RawMessage{out.Holdings, out.OwnShares, out.Shorts.Current} {
		for _, row := range part {
			left -= len(row)
		}
	}
	out.Dealings.Latest = fitting(o.dealings, left)
	return out
}

// fitting returns the first rows that fit, at least one.
func fitting(rows []positionRow, most int) []json.RawMessage {
	out := []json.RawMessage{}
	size := 0
	for _, row := range rows {
		if size += len(row.JSON) + len(","); size > most && len(out) > 0 {
			break
		}
		out = append(out, row.JSON)
	}
	return out
}

// ownershipText returns an ownership as a few lines for each register.
func (s *Service) ownershipText(found ownershipRows) string {
	b := append([]byte("Who holds, bets against and deals in "), withoutName(found.IssuerName)...)
	ident := identOf(found.IssuerID, found.shorts, found.holdings, found.own, found.dealings)
	if ident != "" {
		b = fmt.Appendf(b, " (%s)", quote.Word(ident))
	}
	b = fmt.Appendf(b, ". %s %s\n", s.nowInMadrid(), quote.RegisterNotice)
	rest := func(path string) string { return s.BaseURL + "/api/v1/" + path + "issuer=" + url.QueryEscape(ident) }
	b = s.appendSection(b, section{
		title: "Significant holdings now, in per cent of the votes: " + known(found.holdings) + ". " + holdingLimits,
		rows:  found.holdings,
		most:  1_300,
		rest:  rest("holdings?current=true&"),
	})
	b = s.appendSection(b, section{
		title: "Own shares now: " + known(found.own) + ".",
		rows:  found.own,
		most:  300,
		rest:  rest("own-shares?current=true&"),
	})
	b = s.appendSection(b, section{
		title: "Net short positions now: " + totalWords(found.Shorts.Totals) + ". " + shortLimits,
		rows:  found.shorts,
		most:  900,
		rest:  "list_shorts with this issuer and current=true",
	})
	b = s.appendSection(b, section{
		title: fmt.Sprintf("Managers' dealings: %s, the newest first. %s", counted(found.Dealings.Total, "notice"),
			dealingLimits),
		rows: found.dealings,
		most: 1_000,
		rest: "list_dealings with this issuer",
		of:   found.Dealings.Total,
	})
	if found.entries() == 0 {
		b = append(b, "No register has an entry about this issuer here. This does not prove that there is none.\n"...)
	}
	return string(b)
}

// known says how many positions are known. The page of an issuer may not have been read yet.
func known(rows []positionRow) string {
	if len(rows) == 0 {
		return "none known here"
	}
	return strconv.Itoa(len(rows))
}

// identOf returns the id of an issuer, or what the registers have in its place.
func identOf(id *string, parts ...[]positionRow) string {
	if id != nil {
		return *id
	}
	for _, rows := range parts {
		for _, row := range rows {
			if ident := cmp.Or(row.IssuerID, row.ISIN, row.LEI); ident != "" {
				return ident
			}
		}
	}
	return ""
}

// section is a part of the text about an ownership.
type section struct {
	title string
	rows  []positionRow
	most  int    // bytes of the lines
	of    int    // rows in all; 0 if rows are all
	rest  string // where the other rows are
}

// appendSection appends the first rows that fit, at least one.
func (s *Service) appendSection(b []byte, part section) []byte {
	b = append(append(b, part.title...), '\n')
	size := 0
	shown := 0
	for i := range part.rows {
		line := s.appendPositionLine(nil, &part.rows[i], false)
		if size += len(line) + len("\n"); size > part.most && shown > 0 {
			break
		}
		b = append(append(b, line...), '\n')
		shown++
	}
	if more := max(part.of, len(part.rows)) - shown; more > 0 {
		b = fmt.Appendf(b, "… and %d more: %s\n", more, part.rest)
	}
	return b
}
