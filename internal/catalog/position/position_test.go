package position_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
)

// change returns the change that makes a state of a position. Its OccurredAt is noon of a
// day, which is given as 2026-03-04.
func change(event disclosure.Event, day string, p disclosure.Position) disclosure.Change {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	if err := p.Validate(); err != nil {
		panic(err)
	}
	return disclosure.Change{Event: event, OccurredAt: at.Add(12 * time.Hour), Position: &p}
}

func published(p disclosure.Position) disclosure.Change {
	return change(disclosure.PositionPublished, p.Day(), p)
}

const (
	isinA  = "ES0100000017"
	isinA2 = "ES0100000025"
	isinB  = "ES0100000033"
)

var (
	leiA = lei("PREGONTEST00000001")
	leiB = lei("PREGONTEST00000002")
)

// lei completes 18 characters to a LEI.
func lei(s string) string {
	for n := 2; n <= 98; n++ {
		if l := s + fmt.Sprintf("%02d", n); disclosure.IsLEI(l) {
			return l
		}
	}
	panic("no check digits for " + s)
}

func short(lei, isin, name, day, percent string, state disclosure.PositionState, n int) disclosure.Position {
	return disclosure.Position{
		ID:         disclosure.ShortID(isin, day, n),
		Kind:       disclosure.Short,
		LEI:        lei,
		ISIN:       isin,
		IssuerName: "Emisora de " + isin,
		Name:       name,
		Date:       day,
		Percent:    percent,
		State:      state,
		SourceURL:  "https://www.cnmv.es/DocPortal/Posiciones-Cortas/NetShortPositions.xls",
	}
}

func holding(nif, number, name, day, percent string, state disclosure.PositionState) disclosure.Position {
	return disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Holding, number, 1),
		Kind:         disclosure.Holding,
		NIF:          nif,
		Name:         name,
		Number:       number,
		RegisteredOn: day,
		Percent:      percent,
		State:        state,
	}
}

func trade(nature string, side disclosure.Side, date, volume, price, currency string) disclosure.Trade {
	return disclosure.Trade{
		Nature:   nature,
		Side:     side,
		Date:     date,
		Volume:   volume,
		Price:    price,
		Currency: currency,
		Page:     1,
		Quote:    nature + " " + volume,
	}
}

func dealing(nif, number, name, day string, trades ...disclosure.Trade) disclosure.Position {
	p := disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, number, 1),
		Kind:         disclosure.Dealing,
		NIF:          nif,
		Name:         name,
		Number:       number,
		RegisteredOn: day,
		State:        disclosure.StateCurrent,
	}
	if len(trades) > 0 {
		p.Trades = trades
		p.DocumentStatus = disclosure.DocumentReady
	}
	return p
}

// directory returns a function that finds issuers by any of their identifiers, and by
// those in also.
func directory(issuers ...disclosure.Issuer) position.Find {
	byKey := map[string]*disclosure.Issuer{}
	for i := range issuers {
		if err := issuers[i].Validate(); err != nil {
			panic(err)
		}
		for _, key := range issuers[i].Keys() {
			byKey[key] = &issuers[i]
		}
	}
	return func(key string) *disclosure.Issuer { return byKey[key] }
}

func book(find position.Find, positions ...disclosure.Position) *position.Book {
	b := position.New(find)
	for _, p := range positions {
		b = b.Next([]disclosure.Change{published(p)})
	}
	return b
}

func list(t *testing.T, b *position.Book, f position.Filter, page, limit int) (ids []string, total int) {
	t.Helper()
	found, err := b.List(t.Context(), f, page, limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found.Entries {
		ids = append(ids, e.ID())
	}
	return ids, found.Total
}

func wantIDs(t *testing.T, b *position.Book, f position.Filter, want ...string) {
	t.Helper()
	got, total := list(t, b, f, 1, 100)
	if !slices.Equal(got, want) || total != len(want) {
		t.Errorf("%+v: got %v, total %d, want %v", f, got, total, want)
	}
}

// random returns some positions of all kinds, with few issuers and names.
func random(r *rand.Rand, n int) disclosure.Position {
	day := (disclosure.Day(40000) + disclosure.Day(r.IntN(3000))).String()
	issuer := r.IntN(150)
	switch k := r.IntN(10); {
	case k < 6:
		isin := "ES01" + fmt.Sprintf("%08d", issuer)
		p := short("", isin, "Fondo Ficticio "+strconv.Itoa(r.IntN(200))+" LLP", day,
			strconv.FormatFloat(float64(r.IntN(400))/100, 'f', -1, 64), disclosure.StatePast, n)
		p.FirstSeenAt = time.UnixMicro(1_700_000_000_000_000 + int64(n)).UTC()
		p.AvailableAt = p.FirstSeenAt
		p.Backfilled = true
		return p
	case k < 8:
		p := holding(fmt.Sprintf("A-%08d", issuer), strconv.Itoa(2_026_000_000+n), "Sociedad Tenedora "+strconv.Itoa(r.IntN(500))+", S.L.",
			day, "5.033", disclosure.StatePast)
		p.PercentShares = "4.1"
		p.PercentDirect = "4.1"
		p.PercentIndirect = "0"
		p.DocumentURL = "https://www.cnmv.es/webservices/verdocumento/ver?e=" + strings.Repeat("x", 88) + strconv.Itoa(n)
		p.SourceURL = "https://www.cnmv.es/portal/consultas/derechosvoto/ps_ac_ini.aspx?nif=A-" + strconv.Itoa(issuer)
		p.FirstSeenAt = time.UnixMicro(1_700_000_000_000_000 + int64(n)).UTC()
		return p
	default:
		p := dealing(fmt.Sprintf("A-%08d", issuer), strconv.Itoa(2_025_000_000+n), "Apellido Ficticio "+strconv.Itoa(r.IntN(900)), day)
		p.DocumentURL = "https://www.cnmv.es/webservices/verdocumento/ver?e=" + strings.Repeat("x", 88) + strconv.Itoa(n)
		p.Relation = disclosure.RelationManager
		p.DocumentStatus = disclosure.DocumentReady
		for i := range 3 {
			p.Trades = append(p.Trades, trade("Compra", disclosure.Buy, day, strconv.Itoa(1000+i), "27.05", "EUR"))
		}
		return p
	}
}

func randomChanges(r *rand.Rand, from, n int) []disclosure.Change {
	out := make([]disclosure.Change, n)
	for i := range out {
		p := random(r, from+i)
		p.Natural = p.Kind == disclosure.Dealing
		out[i] = disclosure.Change{Event: disclosure.PositionBackfilled, Position: &p}
	}
	return out
}

// What a book keeps is what the log had, for positions of all kinds and with all fields.
func TestDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	changes := randomChanges(r, 0, 2000)
	full := dealing("A-10000004", "2026000009", "Nadie", "2026-02-01", trade("Venta", disclosure.Sell, "2026-01-31", "1", "2", "EUR"))
	value := reflect.ValueOf(&full).Elem()
	for i := range value.NumField() {
		switch f := value.Field(i); {
		case f.Kind() == reflect.String && f.String() == "":
			f.SetString("x" + value.Type().Field(i).Name)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Type() == reflect.TypeFor[[]string]():
			f.Set(reflect.ValueOf([]string{"1", "2"}))
		case f.Type() == reflect.TypeFor[time.Time]():
			f.Set(reflect.ValueOf(time.UnixMicro(1).UTC()))
		}
		if value.Field(i).IsZero() {
			t.Fatalf("the field %s is zero", value.Type().Field(i).Name)
		}
	}
	odd := holding("", "7", "x", "2026-1-1", "", "")
	odd.RegisteredOn = "not a day"
	for _, p := range []disclosure.Position{full, odd, {ID: "short-x", Kind: disclosure.Short, RegisteredOn: "2026-01-01"}} {
		changes = append(changes, disclosure.Change{Position: &p})
	}
	b := position.New(nil).Next(changes)
	for _, ch := range changes {
		e, ok := b.Get(ch.Position.ID)
		if !ok || !reflect.DeepEqual(e.Stored(), ch.Position) {
			t.Fatalf("%s: known: %v\n got %+v\nwant %+v", ch.Position.ID, ok, e.Stored(), ch.Position)
		}
	}
}

// A book that grew by many small steps is that which grew by one, and both have the order
// of a plain sort. The books before remain as they were.
func TestNext(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	known := map[string]disclosure.Position{}
	b := position.New(nil)
	type kept struct {
		book *position.Book
		want []string
	}
	var before []kept
	ids := func() []string {
		var sorted []disclosure.Position
		for _, p := range known {
			sorted = append(sorted, p)
		}
		slices.SortFunc(sorted, func(a, b disclosure.Position) int {
			if c := strings.Compare(b.Day(), a.Day()); c != 0 {
				return c
			}
			return strings.Compare(b.ID, a.ID)
		})
		var out []string
		for _, p := range sorted {
			out = append(out, p.ID)
		}
		return out
	}
	for step := range 60 {
		var changes []disclosure.Change
		for range 1 + r.IntN(200) {
			p := random(r, r.IntN(4000))
			if r.IntN(3) == 0 && len(changes) > 0 { // again in the same step
				p.ID = changes[0].Position.ID
				p.Kind = changes[0].Position.Kind
				p.Date, p.RegisteredOn = p.Day(), p.Day()
			}
			known[p.ID] = p
			changes = append(changes, disclosure.Change{Position: &p})
		}
		b = b.Next(changes)
		if step%7 == 0 {
			before = append(before, kept{b, ids()})
		}
	}
	before = append(before, kept{b, ids()})
	for _, k := range before {
		got, total := list(t, k.book, position.Filter{}, 1, 1_000_000)
		if !slices.Equal(got, k.want) || total != len(k.want) || k.book.Len() != total {
			t.Fatalf("the list of %d positions has another order or other positions (%d)", len(k.want), total)
		}
	}
	// the list of each issuer together
	n := 0
	for key := range b.Issuers() {
		_, total := list(t, b, position.Filter{Issuers: []string{key}}, 1, 1)
		n += total
	}
	if n != b.Len() {
		t.Errorf("the issuers have %d positions, want %d", n, b.Len())
	}
}

func BenchmarkBook(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 100_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var l position.Loader
	for i := 0; i < n; i += 500 {
		l.Add(randomChanges(r, i, 500))
	}
	book := l.Book(nil)
	l = position.Loader{}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Logf("%.1f MB for %d positions", float64(after.HeapAlloc-before.HeapAlloc)/1e6, book.Len())
	for _, size := range []int{1, 2000} {
		changes := randomChanges(r, n, size)
		b.Run("next/"+strconv.Itoa(size), func(b *testing.B) {
			for b.Loop() {
				book.Next(changes)
			}
		})
	}
	b.Run("load", func(b *testing.B) {
		changes := randomChanges(r, 0, n)
		for b.Loop() {
			var l position.Loader
			l.Add(changes)
			l.Book(nil)
		}
	})
	for name, f := range map[string]position.Filter{
		"all":    {Kinds: []disclosure.PositionKind{disclosure.Short}},
		"name":   {Kinds: []disclosure.PositionKind{disclosure.Holding}, Name: "tenedora 17"},
		"issuer": {Kinds: []disclosure.PositionKind{disclosure.Short}, Issuers: []string{"ES0100000017"}},
		"amount": {Kinds: []disclosure.PositionKind{disclosure.Dealing}, MinAmount: "50000", Currency: "EUR"},
	} {
		b.Run("list/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := book.List(b.Context(), f, 1, 10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("totals", func(b *testing.B) {
		for b.Loop() {
			book.ShortTotals()
		}
	})
	b.Run("series", func(b *testing.B) {
		for b.Loop() {
			position.ShortSeries(book.ShortLines("ES0100000017"))
		}
	})
	runtime.KeepAlive(book)
}
