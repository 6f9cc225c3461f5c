package history_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/catalog/history"
	"pregon/internal/catalog/position"
	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/store"
	"pregon/internal/test/longtest"
)

// shown returns the positions of a book with their issuers, in the order of lists.
func shown(t *testing.T, b *position.Book) (out []string) {
	t.Helper()
	found, err := b.List(t.Context(), position.Filter{}, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found.Entries {
		out = append(out, string(disclosure.AppendPosition(nil, e.Decode())))
	}
	return out
}

// The positions as of every point are those of a catalogue that read the log up to it, also
// after names were erased.
func TestPositions(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	m := market{rand.New(rand.NewPCG(7, 8))}
	for i := range 40 {
		var b store.Batch
		for n := range 1 + m.IntN(3) {
			b.Positions = append(b.Positions, disclosure.Position{
				ID:           disclosure.PositionID(disclosure.Dealing, fmt.Sprint(2026000000+m.IntN(12)), 1),
				Kind:         disclosure.Dealing,
				ISIN:         "ES0100000017",
				Name:         pick(m, "Ana Ficticia", "Luis Ficticio", "Ficticia Cartera, S.L."),
				RegisteredOn: fmt.Sprintf("2026-03-%02d", 1+m.IntN(20)),
				State:        pick(m, disclosure.StateCurrent, disclosure.StateRectified),
				SourceURL:    fmt.Sprintf("https://regulator.example/%d/%d", i, n),
			})
		}
		if i%9 == 4 {
			b.Issuers = append(b.Issuers, disclosure.Issuer{
				Name:  fmt.Sprintf("Emisora %d", i),
				NIF:   "A-10000004",
				ISINs: pick(m, []string{"ES0100000017"}, nil),
			})
		}
		for i := range b.Positions {
			if err := b.Positions[i].Validate(); err != nil {
				t.Fatal(err)
			}
		}
		mustAppend(t, db, b)
		if i == 30 {
			if _, err := db.EraseNames(t.Context(), nil, b.Positions[0].ID, "dealing-2026000003"); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := load(t, db).Snapshot()
	a := history.New(db)
	for seq := range now.Seq() + 1 {
		if seq == 0 {
			continue
		}
		want := shown(t, load(t, past{db, seq}).Snapshot().Positions())
		book, err := a.Positions(t.Context(), now, seq)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, shown(t, book)); diff != "" {
			t.Fatalf("the positions as of %d (-want +got):\n%s", seq, diff)
		}
		found, err := a.Position(t.Context(), now, "dealing-2026000003", seq)
		if err != nil {
			t.Fatal(err)
		}
		e, known := book.Get("dealing-2026000003")
		if known != (found != nil) || known && !cmp.Equal(e.Decode(), found.Decode()) {
			t.Fatalf("the position as of %d is %v, want %v", seq, found, e)
		}
	}
	if book, err := a.Positions(t.Context(), now, now.Seq()); err != nil || book != now.Positions() {
		t.Errorf("the present positions are not those of the snapshot: %v", err)
	}
}

// A point for which too many positions would have to be read is refused. One position can
// still be read.
func TestTooManyPositions(t *testing.T) {
	longtest.Skip(t, "it takes many seconds")
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "pregon.db"))
	positions := make([]disclosure.Position, history.MaxChanged+1)
	for n := range positions {
		positions[n] = disclosure.Position{
			ID:      disclosure.ShortID("ES0100000017", "2026-03-04", n+1),
			Kind:    disclosure.Short,
			ISIN:    "ES0100000017",
			Name:    "Fondo Ficticio LLP",
			Date:    "2026-03-04",
			Percent: "0.5",
			State:   disclosure.StateCurrent,
		}
	}
	then := mustAppend(t, db, store.Batch{Positions: positions})
	for n := range positions {
		positions[n].State = disclosure.StatePast
	}
	mustAppend(t, db, store.Batch{Positions: positions})
	s := load(t, db).Snapshot()
	a := history.New(db)
	if _, err := a.Positions(t.Context(), s, then); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the positions since which everything changed: %v", err)
	}
	book, err := a.Positions(t.Context(), s, then+1)
	if err != nil || book.Len() != len(positions) {
		t.Errorf("%d positions after one change, %v", book.Len(), err)
	}
	one, err := a.Position(t.Context(), s, positions[0].ID, then)
	if err != nil || one.State() != disclosure.StateCurrent {
		t.Errorf("one position was %v, %v", one, err)
	}
}
