package registers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/regulator"
	"pregon/internal/test/longtest"
)

// checkHoldings compares the present table of an issuer, and its own shares, with the
// truth.
func (w *world) checkHoldings(i disclosure.Issuer) {
	w.Helper()
	if err := w.compareHoldings(i); err != nil {
		w.Error(err)
	}
}

// compareHoldings is checkHoldings for a reader that may not have read everything yet.
func (w *world) compareHoldings(i disclosure.Issuer) (err error) {
	wrong := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	table, ok := w.site.Stakes().Table(time.Now(), i.ID)
	if !ok {
		return nil
	}
	want := map[string]bool{}
	from := w.reader().retainedFrom()
	for _, row := range table.Present {
		last := row.Notices[0]
		name := row.Name
		if last.On < from && !disclosure.IsLegalEntity(name) {
			name = ""
		}
		want[fmt.Sprintf("%d %s %s", last.Number, name, decimalOf(last.Total()))] = true
	}
	got := map[string]bool{}
	for _, p := range w.positions(disclosure.Holding) {
		if p.IsCurrent() && disclosure.IssuerKey(p.NIF) == disclosure.IssuerKey(i.NIF) {
			got[p.Number+" "+p.Name+" "+p.Percent] = true
		}
		if p.Name == "" != p.NameErased() {
			wrong("%s has the name %q", p.ID, p.Name)
		}
	}
	for row := range want {
		if !got[row] {
			wrong("%s: the holding %q is missing: %v", i.Name, row, got)
		}
	}
	if len(got) != len(want) {
		wrong("%s: got %d present holdings, want %d", i.Name, len(got), len(want))
	}
	for p := range w.cat.Known().PositionsOf(i.ID, disclosure.OwnShares) {
		newest := len(table.Own) > 0 && p.Number == numberOf(table.Own[0].Number)
		if p.IsCurrent() != newest || p.Percent == "" || p.Natural {
			wrong("own shares: %+v; the newest is %v", p, table.Own[0])
		}
	}
	return err
}

// decimalOf returns thousandths as the register's percentages are read.
func decimalOf(thousandths int) string {
	return fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000)
}

// holdingOf returns a present holding.
func holdingOf(number, name, registered, percent string) disclosure.Position {
	return disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Holding, number, 1),
		Kind:         disclosure.Holding,
		NIF:          "A69000016",
		IssuerName:   "BODEGAS DE VALDEBRISA, S.A.",
		Name:         name,
		Number:       number,
		RegisteredOn: registered,
		Percent:      percent,
		State:        disclosure.StateCurrent,
	}
}

// rowOf returns a row of the present table with its history.
func rowOf(number int64, name, registered, percent string) regulator.Holding {
	day := dayOf(registered)
	return regulator.Holding{
		Name:         name,
		Total:        percent,
		RegisteredOn: day,
		HasHistory:   true,
		History:      []regulator.HoldingNotice{{Number: number, RegisteredOn: day, Total: percent}},
	}
}

// walk stores what a walk of the issuer of holdingOf shows, and returns the holdings.
func (w *world) walk(rows ...regulator.Holding) map[string]*disclosure.Position {
	w.Helper()
	w.positions(disclosure.Holding) // waits
	f := w.reader(Holdings).newFollower()
	b := f.newBook("A69000016")
	for n := range rows {
		if !b.wantsHistory(rows[n]) {
			rows[n].History = nil
		}
	}
	found := regulator.Holdings{
		Name:     "BODEGAS DE VALDEBRISA, S.A.",
		NIF:      "A69000016",
		Holdings: rows,
	}
	if err := f.takeHoldings(w.Context(), b, &found); err != nil {
		w.Fatal(err)
	}
	return w.positions(disclosure.Holding)
}

// Two relatives notify on one day, and the name of one is erased: no later walk mixes them
// up, or brings the name back.
func TestErasedHolding(t *testing.T) {
	if longtest.Race {
		t.Skip("the simulator answers too late with the race detector on a loaded machine")
	}
	w := newWorld(t)
	x := func() regulator.Holding { return rowOf(101, "RUIZ SALVATIERRA, ELENA", "2026-03-04", "5.1") }
	y := func() regulator.Holding { return rowOf(102, "RUIZ SALVATIERRA, TOMAS", "2026-03-04", "3.2") }
	w.walk(x(), y())
	if _, err := w.store.EraseNames(t.Context(), nil, "holding-102"); err != nil {
		t.Fatal(err)
	}
	before := w.newest()
	for range 5 {
		for _, rows := range [][]regulator.Holding{{x(), y()}, {y(), x()}} {
			got := w.walk(rows...)
			if len(got) != 2 || got["holding-101"].Percent != "5.1" || got["holding-102"].Percent != "3.2" ||
				got["holding-102"].Name != "" || !got["holding-101"].IsCurrent() || !got["holding-102"].IsCurrent() {
				t.Fatalf("got %+v", got)
			}
		}
	}
	if got := w.newest(); got != before {
		t.Errorf("the same register appended %d changes", got-before)
	}
}

// A name in another spelling is the same holding, a holder that is not shown any more has
// ended, and one who shares a number keeps its own.
func TestHoldingSpelling(t *testing.T) {
	w := newWorld(t)
	w.walk(rowOf(101, "CARTERA IMAGINARIA , S.L.", "2026-03-04", "5.1"), rowOf(101, "FUNDACION IMAGINARIA", "2026-03-04", "5.1"))
	got := w.walk(rowOf(101, "CARTERA IMAGINARIA SOCIEDAD LIMITADA", "2026-03-04", "5.1"), rowOf(101, "FUNDACION IMAGINARIA", "2026-03-04", "5.1"))
	if len(got) != 2 || got["holding-101"].Name != "CARTERA IMAGINARIA SOCIEDAD LIMITADA" || got["holding-101-2"].Name != "FUNDACION IMAGINARIA" {
		t.Errorf("after another spelling: %+v", got)
	}
	got = w.walk(rowOf(101, "FUNDACION IMAGINARIA", "2026-03-04", "5.1"))
	if got["holding-101"].State != disclosure.StateEnded || !got["holding-101-2"].IsCurrent() {
		t.Errorf("after one has left: %+v and %+v", got["holding-101"], got["holding-101-2"])
	}
	b := w.reader(Holdings).newBook("A69000016")
	if !b.isHollow(&regulator.Holdings{}) || b.isHollow(&regulator.Holdings{Holdings: make([]regulator.Holding, 1)}) {
		t.Error("a register without any holding is believed")
	}
}

// A notice of someone who holds nothing any more, and that one of theirs was annulled, is
// found when the register names new notices about the issuer.
func TestFormerHolderNotifies(t *testing.T) {
	w := newWorld(t)
	f := w.reader(Holdings).newFollower()
	walk := func(hasChanged bool, former regulator.Holding, annulled ...regulator.HoldingAnnulment) map[string]*disclosure.Position {
		t.Helper()
		w.positions(disclosure.Holding) // waits
		b := f.newBook("A69000016")
		b.former = f.former
		b.hasChanged = hasChanged
		if !b.wantsHistory(former) {
			former.History = nil
			annulled = nil
		}
		found := &regulator.Holdings{
			Name:       "BODEGAS DE VALDEBRISA, S.A.",
			NIF:        "A69000016",
			Former:     []regulator.Holding{former},
			Annulments: annulled,
		}
		if err := f.takeHoldings(t.Context(), b, found); err != nil {
			t.Fatal(err)
		}
		return w.positions(disclosure.Holding)
	}
	former := func(hasAnnulled bool, numbers ...int64) regulator.Holding {
		h := regulator.Holding{
			Name:        "CARTERA IMAGINARIA, S.L.",
			Former:      true,
			HasHistory:  true,
			HasAnnulled: hasAnnulled,
		}
		for _, n := range numbers {
			h.History = append(h.History, regulator.HoldingNotice{Number: n, RegisteredOn: disclosure.Day(20_000 + n), Total: "2"})
		}
		return h
	}
	f.intervals.former = 0
	walk(false, former(false, 7))
	if got := walk(false, former(false, 7, 8)); len(got) != 1 {
		t.Errorf("without news of the issuer: got %d holdings, want 1", len(got))
	}
	if got := walk(true, former(false, 7, 8)); len(got) != 2 || got["holding-8"].State != disclosure.StateEnded {
		t.Errorf("after another notice: got %+v", got)
	}
	f.intervals.former = time.Hour
	if got := walk(true, former(false, 7, 8, 9)); len(got) != 2 {
		t.Errorf("within the hour: got %d holdings, want 2", len(got))
	}
	got := walk(true, former(true, 7), regulator.HoldingAnnulment{By: 10, Annuls: []regulator.AnnulledNotice{{Number: 8}}})
	if p := got["holding-8"]; p == nil || p.State != disclosure.StateAnnulled {
		t.Errorf("after the annulment: got %+v", got)
	}
}

// The history of someone who holds nothing any more is not read each time.
func TestFormerHolder(t *testing.T) {
	w := newWorld(t)
	f := w.reader(Holdings).newFollower()
	b := f.newBook("A69000016")
	b.former = f.former
	former := regulator.Holding{Name: "RUIZ SALVATIERRA, ELENA", Former: true, HasHistory: true}
	if !b.wantsHistory(former) {
		t.Error("a history that was never read is not wanted")
	}
	former.History = []regulator.HoldingNotice{{Number: 7, RegisteredOn: 7000, Total: "2"}}
	if err := f.takeHoldings(t.Context(), b, &regulator.Holdings{Name: "X", NIF: "A69000016", Former: []regulator.Holding{former}}); err != nil {
		t.Fatal(err)
	}
	if b.wantsHistory(former) {
		t.Error("a history is wanted again at once")
	}
}
