package position

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"pregon/internal/disclosure"
)

// Move is a position with the one that it follows: of the same issuer, the same kind and
// the same name and, for short positions, of the same instrument.
type Move struct {
	Entry    Entry
	Previous Entry
	First    bool // there is no previous one, or it had left the register: the value before is not known
	// Change is the percentage minus the previous one; of a first position it is the whole
	// percentage, although the value before is not known.
	Change string
}

// Moves returns the largest moves among the positions that match a filter, by the size of
// the change. The filter has one kind: Short, Holding or OwnShares.
func (b *Book) Moves(ctx context.Context, f Filter, limit int) ([]Move, error) {
	found, err := b.List(ctx, f, 1, b.Len())
	if err != nil {
		return nil, err
	}
	moves, err := b.MovesOf(ctx, found.Entries)
	if err != nil {
		return nil, err
	}
	moves = slices.DeleteFunc(moves, func(m Move) bool { return m.Change == "" })
	slices.SortStableFunc(moves, func(a, b Move) int {
		return cmp.Or(
			disclosure.CompareDecimals(magnitude(b.Change), magnitude(a.Change)),
			compareDays(a.Entry.r, b.Entry.r),
		)
	})
	return moves[:min(len(moves), limit)], nil
}

// MovesOf returns the moves of some positions of one kind, in their order. Those of
// positions without a percentage and of annulled ones do not have a change.
func (b *Book) MovesOf(ctx context.Context, entries []Entry) ([]Move, error) {
	byIssuer := map[string]map[pair][]*record{} // the newest first
	moves := make([]Move, len(entries))
	for i, e := range entries {
		if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		moves[i] = Move{Entry: e}
		if e.r.percent == "" || e.r.state == disclosure.StateAnnulled {
			continue
		}
		key := e.IssuerKey()
		pairs := byIssuer[key]
		if pairs == nil {
			pairs = b.pairs(key, e.r.kind)
			byIssuer[key] = pairs
		}
		moves[i] = b.move(e, pairs[movePair(e.r)])
	}
	return moves, nil
}

// movePair returns the pair of which a position is one of the values. Only short
// positions depend on the instrument.
func movePair(r *record) pair {
	p := pairOf(r)
	if r.kind != disclosure.Short {
		p.isin = ""
	}
	return p
}

// pairs returns the positions of an issuer by their pairs, the newest first.
func (b *Book) pairs(key string, kind disclosure.PositionKind) map[pair][]*record {
	pairs := map[pair][]*record{}
	for e := range b.Of(key, kind) {
		if e.r.percent != "" && e.r.state != disclosure.StateAnnulled {
			pairs[movePair(e.r)] = append(pairs[movePair(e.r)], e.r)
		}
	}
	return pairs
}

func (b *Book) move(e Entry, values []*record) Move {
	n := slices.Index(values, e.r)
	if n < 0 || n+1 == len(values) || values[n+1].state == disclosure.StateEnded {
		return Move{Entry: e, First: true, Change: e.r.percent}
	}
	before := values[n+1]
	return Move{
		Entry:    e,
		Previous: Entry{before, b},
		Change:   disclosure.AddDecimals(e.r.percent, "-"+before.percent),
	}
}

func magnitude(decimal string) string { return strings.TrimPrefix(decimal, "-") }
