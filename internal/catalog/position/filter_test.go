package position_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
)

func TestFilter(t *testing.T) {
	current, past := disclosure.StateCurrent, disclosure.StatePast
	find := directory(
		disclosure.Issuer{Name: "Aurora", NIF: "A-10000004", ISINs: []string{isinA}, Market: "Mercado Continuo"},
		disclosure.Issuer{Name: "Boreal", NIF: "A-10000012", ISINs: []string{isinB}},
	)
	b := book(find,
		short(leiA, isinA, "Fondo Alfa LLP", "2026-03-01", "0.6", past, 1),
		short(leiA, isinA, "Fondo Alfa LLP", "2026-03-05", "0.7", current, 1),
		short(leiB, isinB, "Fondo Beta, Ltd.", "2026-03-05", "1.2", current, 1),
		holding("A-10000004", "2026000001", "PÉREZ GÓMEZ , ANA", "2026-03-02", "5", current),
		holding("A10000012", "2026000002", "Inversiones Gómez, S.L.", "2026-03-04", "3.1", past),
		dealing("A-10000004", "2026000003", "ANA PÉREZ GÓMEZ", "2026-03-03",
			trade("Compra", disclosure.Buy, "2026-03-02", "100", "10.5", "EUR"),
			trade("Venta", disclosure.Sell, "2026-03-02", "10", "10", "EUR")),
		dealing("A-10000012", "2026000004", "Nadie Ficticio", "2026-03-03",
			trade("Otros", disclosure.OtherSide, "2026-03-02", "10", "5", "EUR"),
			trade("Venta", disclosure.Sell, "2026-03-02", "2", "5", "USD")),
		dealing("A-10000012", "2026000005", "Otra Ficticia", "2026-03-03"), // not read
	)
	for words, want := range map[string]bool{
		"alfa":              true,
		"gómez inversiones": true,
		"GOMEZ":             true, // that of the company
		"pérez":             false,
		"ana pérez gómez":   false,
		"gamma":             false,
	} {
		if got := b.HasName(words); got != want {
			t.Errorf("a legal person has the name %q: %v, want %v", words, got, want)
		}
	}
	if position.New(find).HasName("alfa") {
		t.Error("an empty book has a name")
	}
	const (
		alfaOld = "short-es0100000017-2026-03-01-1"
		alfa    = "short-es0100000017-2026-03-05-1"
		beta    = "short-es0100000033-2026-03-05-1"
	)
	kinds := func(k ...disclosure.PositionKind) []disclosure.PositionKind { return k }
	day := func(s string) disclosure.Day { d, _ := disclosure.ParseDay(s); return d }
	aurora, _ := b.Key("ES0100000017")
	for _, c := range []struct {
		f    position.Filter
		want []string
	}{
		{position.Filter{Kinds: kinds(disclosure.Short)}, []string{beta, alfa, alfaOld}},
		{position.Filter{Kinds: kinds(disclosure.OwnShares)}, nil},
		{
			position.Filter{Issuers: []string{aurora}},
			[]string{alfa, "dealing-2026000003", "holding-2026000001", alfaOld},
		},
		{position.Filter{Issuers: []string{aurora}, Kinds: kinds(disclosure.Short)}, []string{alfa, alfaOld}},
		{position.Filter{Issuers: []string{"unknown"}}, nil},
		{position.Filter{Current: true, Kinds: kinds(disclosure.Short, disclosure.Holding)}, []string{beta, alfa, "holding-2026000001"}},
		{position.Filter{From: day("2026-03-04")}, []string{beta, alfa, "holding-2026000002"}},
		{position.Filter{To: day("2026-03-02")}, []string{"holding-2026000001", alfaOld}},
		{position.Filter{From: day("2026-03-02"), To: day("2026-03-02")}, []string{"holding-2026000001"}},
		{position.Filter{From: day("2026-03-04"), To: day("2026-03-02")}, nil},
		{position.Filter{Name: "alfa"}, []string{alfa, alfaOld}},
		{position.Filter{MinPercent: "0.7"}, []string{beta, alfa, "holding-2026000002", "holding-2026000001"}},
		{position.Filter{MinPercent: "3.1", Current: true}, []string{"holding-2026000001"}},
		{position.Filter{MinPercent: "0", Kinds: kinds(disclosure.Dealing)}, nil},
		{position.Filter{MinPercent: "5.001"}, nil},
		{position.Filter{Name: "ALFA fondo"}, []string{alfa, alfaOld}},
		{position.Filter{Name: "alf"}, nil},
		{position.Filter{Name: "alfa beta"}, nil},
		// The names of natural persons are found only with an issuer.
		{position.Filter{Name: "gomez"}, []string{"holding-2026000002"}},
		{position.Filter{Name: "pérez"}, nil},
		{position.Filter{Name: "perez", Issuers: []string{aurora}}, []string{"dealing-2026000003", "holding-2026000001"}},
		{position.Filter{Name: "perez", Issuers: []string{aurora, "unknown"}}, nil},
		{
			position.Filter{Issuers: []string{"unknown", aurora, aurora}},
			[]string{alfa, "dealing-2026000003", "holding-2026000001", alfaOld},
		},
		{position.Filter{Side: disclosure.Buy}, []string{"dealing-2026000003"}},
		{position.Filter{Side: disclosure.Sell}, []string{"dealing-2026000004", "dealing-2026000003"}},
		{position.Filter{Side: disclosure.OtherSide}, []string{"dealing-2026000004"}},
		{position.Filter{MinAmount: "1150", Currency: "EUR"}, []string{"dealing-2026000003"}},
		{position.Filter{MinAmount: "1150.01", Currency: "EUR"}, nil},
		{position.Filter{MinAmount: "1", Currency: "USD"}, nil}, // several currencies have no sum
		{position.Filter{MinAmount: "10", Currency: "USD", Side: disclosure.Sell}, []string{"dealing-2026000004"}},
		{position.Filter{MinAmount: "101", Currency: "EUR", Side: disclosure.Sell}, nil},
		{position.Filter{MinAmount: "0", Currency: "EUR"}, []string{"dealing-2026000003"}},
		{
			position.Filter{
				Kinds: kinds(disclosure.Short),
				Among: func(i *disclosure.Issuer) bool { return i != nil && i.Market != "" },
			},
			[]string{alfa, alfaOld},
		},
	} {
		wantIDs(t, b, c.f, c.want...)
		for e := range b.All(disclosure.Short) {
			found, _ := list(t, b, c.f, 1, 100)
			want := false
			for _, id := range found {
				want = want || id == e.ID()
			}
			if e.Match(c.f) != want {
				t.Errorf("%+v: Match(%s) = %t", c.f, e.ID(), !want)
			}
		}
	}
	for _, c := range []struct {
		page, limit, want int
	}{{1, 2, 2}, {2, 2, 1}, {3, 2, 0}, {1<<31 - 1, 50, 0}} {
		ids, total := list(t, b, position.Filter{Kinds: kinds(disclosure.Short)}, c.page, c.limit)
		if len(ids) != c.want || total != 3 {
			t.Errorf("page %d has %d positions of %d, want %d of 3", c.page, len(ids), total, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.List(ended, position.Filter{}, 1, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("a list for a request that has ended: %v", err)
	}
}

// The issuer of a position is that of its first identifier that the directory has.
func TestIssuer(t *testing.T) {
	unknown := short(leiA, isinA, "x", "2026-03-01", "1", disclosure.StateCurrent, 1)
	second := short(leiA, isinA2, "x", "2026-03-01", "1", disclosure.StateCurrent, 1)
	byNIF := holding("A-10000004", "1", "x", "2026-03-01", "3", disclosure.StateCurrent)
	byID := holding("A-10000012", "2", "x", "2026-03-01", "3", disclosure.StateCurrent)
	byID.Issuer = "a10000004"
	nothing := holding("", "3", "x", "2026-03-01", "3", disclosure.StateCurrent)
	nothing.IssuerName = "Sin Identificador, S.A."
	b := book(nil, unknown, second, byNIF, byID, nothing)
	if key, ok := b.Key(isinA); !ok || key != leiA {
		t.Errorf("an ISIN that only the register has is of %q, %t", key, ok)
	}
	wantIDs(t, b, position.Filter{Issuers: []string{leiA}}, second.ID, unknown.ID)
	if _, ok := b.Key("ES0000000000"); ok {
		t.Error("an unknown ISIN is known")
	}
	if _, ok := b.Key(""); ok {
		t.Error("an empty identifier is known")
	}
	if e, _ := b.Get(unknown.ID); e.IssuerID() != "" || e.Issuer() != nil {
		t.Errorf("without a directory the issuer is %q", e.IssuerID())
	}
	if e, _ := b.Get(byNIF.ID); e.IssuerID() != "a10000004" && e.IssuerID() != "A10000004" {
		t.Errorf("without a directory the issuer of a NIF is %q", e.IssuerID())
	}
	aurora := disclosure.Issuer{Name: "Aurora", NIF: "A-10000004", ISINs: []string{isinA}}
	boreal := disclosure.Issuer{Name: "Boreal", NIF: "A-10000012", ISINs: []string{isinB}}
	joined := b.Join(directory(aurora, boreal))
	if err := aurora.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []disclosure.Position{unknown, byNIF, second} { // the second one has the same LEI
		if e, _ := joined.Get(p.ID); e.IssuerID() != aurora.ID || e.Decode().Issuer != aurora.ID {
			t.Errorf("%s: the issuer is %q, want %q", p.ID, e.IssuerID(), aurora.ID)
		}
	}
	wantIDs(t, joined, position.Filter{Issuers: []string{aurora.ID}, Kinds: []disclosure.PositionKind{disclosure.Short}}, second.ID, unknown.ID)
	if key, ok := joined.Key(isinA); !ok || key != aurora.ID {
		t.Errorf("the key of a known issuer is %q", key)
	}
	// A LEI of two issuers proves nothing.
	clash := book(directory(aurora, boreal), unknown, short(leiA, isinB, "x", "2026-03-01", "1", disclosure.StateCurrent, 1), second)
	if e, _ := clash.Get(second.ID); e.Issuer() != nil {
		t.Errorf("the LEI of two issuers is that of %s", e.Issuer().Name)
	}
	if e, _ := b.Get(unknown.ID); e.Issuer() != nil {
		t.Error("the book before has the directory of the next one")
	}
}

// A past state has the former positions and none that came later.
func TestFormer(t *testing.T) {
	old := short(leiA, isinA, "x", "2026-03-01", "1", disclosure.StateCurrent, 1)
	b := book(nil, old, short(leiA, isinA, "y", "2026-03-01", "2", disclosure.StateCurrent, 2))
	before := b
	ended := old
	ended.State = disclosure.StateEnded
	b = b.Next([]disclosure.Change{
		change(disclosure.PositionUpdated, "2026-03-09", ended),
		published(short(leiB, isinB, "z", "2026-03-08", "3", disclosure.StateCurrent, 1)),
	})
	past := b.Former([]string{old.ID, "short-es0100000033-2026-03-08-1", "unknown"}, []disclosure.Change{published(old)}, nil)
	for _, book := range []*position.Book{before, past} {
		wantIDs(t, book, position.Filter{Current: true},
			"short-es0100000017-2026-03-01-2", "short-es0100000017-2026-03-01-1")
	}
	if b.Len() != 3 || past.Len() != 2 {
		t.Errorf("the books have %d and %d positions, want 3 and 2", b.Len(), past.Len())
	}
}

// The registers may have several ISINs of one issuer, which its LEI joins.
func TestISINs(t *testing.T) {
	first := short(leiA, isinA2, "x", "2026-03-01", "1", disclosure.StateCurrent, 1)
	second := short(leiA, isinA, "x", "2026-03-01", "1", disclosure.StateCurrent, 1)
	other := short(leiB, isinB, "x", "2026-03-01", "1", disclosure.StateCurrent, 1)
	b := book(directory(disclosure.Issuer{ID: "A10000004", Name: "Aurora", LEI: leiA}), first, second, other)
	want := []string{isinA, isinA2}
	slices.Sort(want)
	if got := b.ISINs("A10000004"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.ISINs("A10000012"); len(got) > 0 {
		t.Errorf("an issuer without positions has %q", got)
	}
}
