package query

import (
	"context"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
)

// moveDays is the number of days of the largest moves, if a request does not name any.
const moveDays = 30

// Moves are the largest moves of some days.
type Moves struct {
	From, To disclosure.Day
	Moves    []position.Move // without a change for dealings, which are ordered by amount
}

// Moves returns the largest moves that match a list: changes of a percentage, or amounts of
// dealings. Without days in the request they are those of the last month of the register,
// which may have ended long ago.
func (q *Service) Moves(ctx context.Context, b *position.Book, l PositionList, limit int) (Moves, error) {
	f := l.resolve(b)
	if f.To == 0 {
		f.To = newestDay(b, l.Kind())
	}
	if f.From == 0 {
		f.From = max(1, f.To-moveDays+1)
	}
	out := Moves{From: f.From, To: f.To}
	var err error
	if l.Kind() != disclosure.Dealing {
		out.Moves, err = b.Moves(ctx, f, limit)
		return out, err
	}
	found, err := b.LargestDealings(ctx, f, defaultCurrency, limit)
	for _, e := range found {
		out.Moves = append(out.Moves, position.Move{Entry: e})
	}
	return out, err
}

// newestDay returns the day of the newest position of a kind, or 0 if there are none.
func newestDay(b *position.Book, kind disclosure.PositionKind) disclosure.Day {
	for e := range b.All(kind) {
		return e.Day()
	}
	return 0
}
