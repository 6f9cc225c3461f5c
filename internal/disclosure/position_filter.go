package disclosure

import (
	"fmt"
	"slices"
	"strings"

	"pregon/internal/text"
)

// PositionSet is a set of kinds of positions. The zero value names none.
type PositionSet uint8

// NewPositionSet returns a set of kinds.
func NewPositionSet(kinds ...PositionKind) (s PositionSet) {
	for _, k := range kinds {
		s |= 1 << slices.Index(PositionKinds, k)
	}
	return s
}

// ParsePositionSet reads kinds separated by commas. An empty text is the empty set.
func ParsePositionSet(list string) (s PositionSet, ok bool) {
	if strings.TrimSpace(list) == "" {
		return 0, true
	}
	for name := range strings.SplitSeq(list, ",") {
		k, known := ParsePositionKind(strings.TrimSpace(name))
		if !known {
			return 0, false
		}
		s |= NewPositionSet(k)
	}
	return s, true
}

// Has reports whether a kind is in the set.
func (s PositionSet) Has(k PositionKind) bool {
	i := slices.Index(PositionKinds, k)
	return i >= 0 && s&(1<<i) != 0
}

// String returns the kinds in the order of PositionKinds, separated by commas.
func (s PositionSet) String() string {
	var names []string
	for _, k := range PositionKinds {
		if s.Has(k) {
			names = append(names, string(k))
		}
	}
	return strings.Join(names, ",")
}

// MarshalText implements encoding.TextMarshaler.
func (s PositionSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *PositionSet) UnmarshalText(b []byte) error {
	set, ok := ParsePositionSet(string(b))
	if !ok {
		return fmt.Errorf("%q are not kinds of positions", text.ClipBytes(string(b), maxShown))
	}
	*s = set
	return nil
}

// HasPercent reports whether positions of a kind have a percentage that filters compare:
// that of a short position, the total of a holding, or the own shares.
func (k PositionKind) HasPercent() bool { return k == Short || k == Holding || k == OwnShares }

// WithoutIssuer returns the filter without its conditions on issuers, which apply to
// reports, to positions and to the directory. It does not have NoRoutine either, which
// excludes reports only.
func (f Filter) WithoutIssuer() Filter {
	f.Issuer = ""
	f.Kind = ""
	f.Market = ""
	f.MarketWords = false
	f.Sector = ""
	f.SectorWords = false
	f.NoSecuritisation = false
	f.NoRoutine = false
	return f
}

// ForPositions reports whether the filter has a condition that only positions can meet.
// Then it selects no report.
func (f Filter) ForPositions() bool {
	return f.withoutPosition() != f
}

// withoutPosition returns the filter without the conditions that only positions can meet.
// Without a kind of facts, an amount is one of dealings.
func (f Filter) withoutPosition() Filter {
	f.Positions = 0
	f.HeldBy = ""
	f.MinPercent = ""
	f.Side = ""
	if f.Fact == "" {
		f.MinAmount = ""
		f.Currency = ""
	}
	return f
}

// ForReports reports whether the filter has a condition that only reports can meet. Then it
// selects no position.
func (f Filter) ForReports() bool {
	f = f.WithoutIssuer().withoutPosition().WithoutList()
	f.From = 0
	f.To = 0
	return f != Filter{}
}

// MatchPosition reports whether a position meets all conditions of the filter apart from
// those on its issuer, which need the directory: see package search. The days are compared
// with Position.Day.
//
// A condition on something that a position does not have selects no position: a dealing
// does not have a percentage, and its amount is unknown until its document was read.
func (f Filter) MatchPosition(p *Position) bool {
	switch {
	case f.ForReports(),
		f.Positions != 0 && !f.Positions.Has(p.Kind),
		!f.matchDay(p),
		f.HeldBy != "" && !f.matchName(p),
		f.MinPercent != "" && !f.matchPercent(p),
		f.MinAmount != "" && !f.matchAmount(p),
		f.Side != "" && !p.hasSide(f.Side):
		return false
	}
	return true
}

func (f Filter) matchDay(p *Position) bool {
	if f.From == 0 && f.To == 0 {
		return true
	}
	day, ok := ParseDay(p.Day())
	return ok && (f.From == 0 || day >= f.From) && (f.To == 0 || day <= f.To)
}

// matchName reports whether the name has the words of the filter. There is no list of what
// a natural person holds across issuers, so that such names are compared only within one.
func (f Filter) matchName(p *Position) bool {
	if p.Name == "" || p.Natural && !f.NamesOneIssuer() {
		return false
	}
	have := text.Words(p.Name)
	for _, word := range text.Words(f.HeldBy) {
		if !slices.Contains(have, word) {
			return false
		}
	}
	return true
}

func (f Filter) matchPercent(p *Position) bool {
	return p.Kind.HasPercent() && IsDecimal(p.Percent) && CompareDecimals(p.Percent, f.MinPercent) >= 0
}

// matchAmount compares the trades of the filter's side, or all trades.
func (f Filter) matchAmount(p *Position) bool {
	if p.Kind != Dealing {
		return false
	}
	amount, currency := p.Amount()
	if f.Side != "" {
		amount, currency = p.AmountOf(f.Side)
	}
	return amount != "" && currency == f.Currency && CompareDecimals(amount, f.MinAmount) >= 0
}

func (p *Position) hasSide(s Side) bool {
	return slices.ContainsFunc(p.Trades, func(t Trade) bool { return t.Side == s })
}
