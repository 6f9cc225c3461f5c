package position_test

import (
	"fmt"
	"strings"
	"testing"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
)

func points(points []position.Point) string {
	var out []string
	for _, p := range points {
		out = append(out, fmt.Sprintf("%s %s %d", p.Day, p.Percent, p.Names))
	}
	return strings.Join(out, ", ")
}

func TestShorts(t *testing.T) {
	current, past, ended, closed := disclosure.StateCurrent, disclosure.StatePast, disclosure.StateEnded, disclosure.StateClosed
	b := book(directory(disclosure.Issuer{Name: "Aurora", NIF: "A-10000004", ISINs: []string{isinA, isinA2}}),
		short(leiA, isinA, "Alfa LLP", "2026-01-10", "0.5", past, 1),
		short(leiA, isinA, "Alfa LLP", "2026-01-12", "0.62", current, 1),
		short(leiA, isinA2, "Alfa LLP", "2026-01-12", "0.1", current, 1), // another ISIN of the same issuer
		short(leiA, isinA, "Beta LLP", "2026-01-12", "0.49", current, 2),
		short(leiA, isinA, "Gamma LLP", "2026-01-11", "1", past, 1),
		short(leiA, isinA, "Gamma LLP", "2026-01-14", "0", closed, 1),
		short(leiA, isinA, "Delta LLP", "2012-05-05", "2.547", ended, 1), // never seen in the present table
		short(leiB, isinB, "Alfa LLP", "2026-01-12", "0.8", current, 1),
	)
	key, _ := b.Key(isinA)
	total, ok := b.ShortTotal(key)
	if !ok || total.Percent != "1.21" || total.Names != 2 || total.Newest.Day().String() != "2026-01-12" {
		t.Errorf("the total is %+v", total)
	}
	if _, ok := b.ShortTotal("unknown"); ok {
		t.Error("an issuer without short positions has a total")
	}
	totals := b.ShortTotals()
	if len(totals) != 2 || totals[0].Key != key || totals[1].Percent != "0.8" {
		t.Errorf("the totals are %+v", totals)
	}
	const want = "2012-05-05 2.547 1, 2012-05-06 0 0, 2026-01-10 0.5 1, 2026-01-11 1.5 2, 2026-01-12 2.21 3, 2026-01-14 1.21 2"
	if got := points(position.ShortSeries(b.ShortLines(key))); got != want {
		t.Errorf("the series is\n%s, want\n%s", got, want)
	}
	if lines := b.ShortLines(key); len(lines) != 5 {
		t.Errorf("there are %d lines, want 5", len(lines))
	}
	// A pair leaves the present table, unnoticed for some days.
	gone := short(leiA, isinA, "Beta LLP", "2026-01-12", "0.49", ended, 2)
	b = b.Next([]disclosure.Change{change(disclosure.PositionUpdated, "2026-01-20", gone)})
	if got := points(position.ShortSeries(b.ShortLines(key))); got != want+", 2026-01-20 0.72 1" {
		t.Errorf("after an end the series is\n%s", got)
	}
	if total, _ := b.ShortTotal(key); total.Percent != "0.72" || total.Names != 1 {
		t.Errorf("after an end the total is %+v", total)
	}
	// The pair returns.
	b = b.Next([]disclosure.Change{published(short(leiA, isinA, "Beta LLP", "2026-02-01", "0.51", current, 1))})
	if got := points(position.ShortSeries(b.ShortLines(key))); got != want+", 2026-01-20 0.72 1, 2026-02-01 1.23 2" {
		t.Errorf("after a return the series is\n%s", got)
	}
	if got := b.SeriesOf(key, disclosure.Short, "Beta LLP"); len(got) != 2 || got[0].Percent() != "0.49" || got[1].Percent() != "0.51" {
		t.Errorf("the series of one is %v", got)
	}
	if got := b.SeriesOf(key, disclosure.Short, ""); len(got) != 0 {
		t.Errorf("the series of nobody is %v", got)
	}
}

// Names that were erased are not taken for one.
func TestErasedNames(t *testing.T) {
	one := short(leiA, isinA, "", "2026-01-10", "0.5", disclosure.StateCurrent, 1)
	one.Natural, one.Erased = true, true
	two := one
	two.ID = disclosure.ShortID(isinA, "2026-01-10", 2)
	b := book(nil, one, two)
	if total, _ := b.ShortTotal(leiA); total.Percent != "1" || total.Names != 2 {
		t.Errorf("the total is %+v", total)
	}
	if got := points(position.ShortSeries(b.ShortLines(leiA))); got != "2026-01-10 1 2" {
		t.Errorf("the series is %s", got)
	}
}

func TestMoves(t *testing.T) {
	current, past := disclosure.StateCurrent, disclosure.StatePast
	b := book(nil,
		short(leiA, isinA, "Alfa LLP", "2026-01-10", "0.5", past, 1),
		short(leiA, isinA, "Alfa LLP", "2026-01-12", "0.9", past, 1),
		short(leiA, isinA, "Alfa LLP", "2026-01-13", "0.2", current, 1),
		short(leiB, isinB, "Beta LLP", "2026-01-12", "0.55", current, 1),
	)
	day, _ := disclosure.ParseDay("2026-01-12")
	shorts := position.Filter{Kinds: []disclosure.PositionKind{disclosure.Short}, From: day}
	moves, err := b.Moves(t.Context(), shorts, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range moves {
		before := "none"
		if !m.First {
			before = m.Previous.Percent()
		}
		got = append(got, m.Entry.Name()+" "+before+" "+m.Change)
	}
	const want = "Alfa LLP 0.9 -0.7, Beta LLP none 0.55, Alfa LLP 0.5 0.4"
	if strings.Join(got, ", ") != want {
		t.Errorf("the moves are %s, want %s", strings.Join(got, ", "), want)
	}
	if moves, _ := b.Moves(t.Context(), shorts, 1); len(moves) != 1 {
		t.Errorf("one was asked for, got %d", len(moves))
	}
	h := book(nil,
		holding("A-10000004", "1", "Tenedora, S.L.", "2026-01-01", "3.1", past),
		holding("A-10000004", "2", "Tenedora, S.L.", "2026-01-05", "5.1", current),
		holding("A-10000004", "3", "Sin Porcentaje, S.L.", "2026-01-05", "", current),
	)
	moves, _ = h.Moves(t.Context(), position.Filter{Kinds: []disclosure.PositionKind{disclosure.Holding}}, 10)
	if len(moves) != 2 || moves[0].Change != "3.1" || !moves[0].First || moves[1].Change != "2" {
		t.Errorf("the moves of holdings are %+v", moves)
	}
	all, _ := h.List(t.Context(), position.Filter{}, 1, 10)
	if moves, err = h.MovesOf(t.Context(), all.Entries); err != nil || len(moves) != 3 || moves[0].Change != "" {
		t.Errorf("the moves of all holdings are %+v, %v", moves, err)
	}
}

// A position that had left the register does not have a value from which the next one
// moves.
func TestMoveAfterEnd(t *testing.T) {
	b := book(nil,
		short(leiA, isinA, "Alfa LLP", "2020-01-10", "0.9", disclosure.StateEnded, 1),
		short(leiA, isinA, "Alfa LLP", "2026-01-12", "0.5", disclosure.StateCurrent, 1),
	)
	moves, err := b.Moves(t.Context(), position.Filter{Kinds: []disclosure.PositionKind{disclosure.Short}}, 1)
	if err != nil || len(moves) != 1 {
		t.Fatal(moves, err)
	}
	newest, _ := b.List(t.Context(), position.Filter{}, 1, 1)
	moves, _ = b.MovesOf(t.Context(), newest.Entries)
	if !moves[0].First || moves[0].Change != "0.5" {
		t.Errorf("the move is %+v", moves[0])
	}
}

func TestLargestDealings(t *testing.T) {
	rectified := dealing("A-10000004", "1", "Ana Ficticia", "2026-02-03", trade("Compra", disclosure.Buy, "2026-01-31", "9", "900", "EUR"))
	rectified.State = disclosure.StateRectified
	b := book(nil, rectified,
		dealing("A-10000004", "2", "Ana Ficticia", "2026-02-04", trade("Compra", disclosure.Buy, "2026-01-31", "10", "1.5", "EUR")),
		dealing("A-10000004", "3", "Ana Ficticia", "2026-02-05",
			trade("Compra", disclosure.Buy, "2026-01-31", "1", "1", "EUR"),
			trade("Venta", disclosure.Sell, "2026-01-31", "100", "1", "EUR")),
		dealing("A-10000004", "4", "Otra Ficticia", "2026-02-05", trade("Venta", disclosure.Sell, "2026-02-01", "1000", "1", "USD")),
		dealing("A-10000004", "5", "Otra Ficticia", "2026-02-05"),
	)
	for _, c := range []struct {
		f    position.Filter
		want string
	}{
		{position.Filter{}, "dealing-3 dealing-2"},
		{position.Filter{Side: disclosure.Buy}, "dealing-2 dealing-3"},
		{position.Filter{MinAmount: "100", Currency: "USD"}, "dealing-4"},
	} {
		found, err := b.LargestDealings(t.Context(), c.f, "EUR", 2)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range found {
			ids = append(ids, e.ID())
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v: the largest are %s, want %s", c.f, got, c.want)
		}
	}
}

func TestDealingMonths(t *testing.T) {
	rectified := dealing("A-10000004", "1", "Ana Ficticia", "2026-02-03", trade("Compra", disclosure.Buy, "2026-01-31", "9", "9", "EUR"))
	rectified.State = disclosure.StateRectified
	b := book(nil, rectified,
		dealing("A-10000004", "2", "Ana Ficticia", "2026-02-04",
			trade("Compra", disclosure.Buy, "2026-01-31", "10", "1.5", "EUR"),
			trade("Compra", disclosure.Buy, "2026-02-01", "10", "1", "EUR"),
			trade("Venta", disclosure.Sell, "2026-02-01", "0.1", "0.2", "EUR"),
			trade("Otros", disclosure.OtherSide, "2026-02-01", "1000", "1", "EUR"),
			trade("Venta", disclosure.Sell, "2026-02-01", "3", "2", "USD")),
		dealing("A-10000004", "3", "Otra Ficticia", "2026-02-05"),
		dealing("A-10000012", "4", "Otra Ficticia", "2026-02-05", trade("Compra", disclosure.Buy, "2026-02-01", "1", "1", "EUR")),
	)
	key, _ := b.Key("A-10000004")
	const want = "[{2026-01 EUR 15 0 1 0} {2026-02 EUR 10 0.02 1 1} {2026-02 USD 0 6 0 1}]"
	if got := fmt.Sprint(b.DealingMonths(key)); got != want {
		t.Errorf("the months are %s, want %s", got, want)
	}
	if got := b.DealingMonths("unknown"); len(got) != 0 {
		t.Errorf("the months of no issuer are %v", got)
	}
}
