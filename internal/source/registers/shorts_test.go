package registers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/shorts"
)

// The newest notice of a pair decides: 0 closes, the present table is current, and a notice
// that is in neither has ended.
func TestShortStates(t *testing.T) {
	notice := func(name string, day disclosure.Day, percent string, current bool) shorts.Notice {
		return shorts.Notice{
			Row:     shorts.Row{ISIN: "ES0SIM000010", Name: name, Day: day, Percent: percent},
			Current: current,
		}
	}
	notices := []shorts.Notice{
		notice("A", 1, "0.6", false),
		notice("A", 2, "0.7", true),
		notice("B", 2, "0.5", false),
		notice("B", 3, "0", false),
		notice("C", 3, "0.51", false),
		notice("A", 4, "0.4", false), // below the threshold: the one before is still listed
		notice("D", 4, "0.49", true),
		notice("E", 5, "0", true),
	}
	want := []disclosure.PositionState{
		disclosure.StatePast, disclosure.StateCurrent, disclosure.StatePast, disclosure.StateClosed,
		disclosure.StateEnded, disclosure.StatePast, disclosure.StateCurrent, disclosure.StateClosed,
	}
	if got := shortStates(notices); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The workbook is loaded as history, its next version is news, and reading it again changes
// nothing.
func TestShorts(t *testing.T) {
	w := newWorld(t)
	loaded := func() error {
		if _, ok := w.coverage.Register(string(Shorts)); !ok {
			return fmt.Errorf("the register was not read")
		}
		return nil
	}
	w.run(w.reader(Shorts), loaded)
	w.checkShorts()
	if got := w.events(0); got[disclosure.PositionPublished] > 0 || got[disclosure.PositionBackfilled] < 300 {
		t.Errorf("the first load has the events %v", got)
	}
	for _, i := range listedCompanies() {
		known, _ := w.cat.Known().Issuer(i.ID)
		for p := range w.cat.Known().PositionsOf(i.ID, disclosure.Short) {
			if known.LEI != p.LEI {
				t.Errorf("%s has the LEI %q, and its short positions %q", i.ID, known.LEI, p.LEI)
			}
		}
	}
	before := w.newest()
	read, _ := w.coverage.Register(string(Shorts))
	w.run(w.reader(Shorts), func() error {
		if again, _ := w.coverage.Register(string(Shorts)); !again.ReadAt.After(read.ReadAt) {
			return fmt.Errorf("the register was not read again")
		}
		return nil
	})
	if got := w.newest(); got != before {
		t.Errorf("reading the same workbook again appended %d changes", got-before)
	}
	// without its state the whole workbook is compared again
	if err := w.coverage.SetValue(t.Context(), nil, shortsKey, ""); err != nil {
		t.Fatal(err)
	}
	if err := w.reader(Shorts).readShorts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.newest(); got != before {
		t.Errorf("comparing the same workbook again appended %d changes", got-before)
	}
}

// checkShorts compares the store with the truth of the register.
func (w *world) checkShorts() {
	w.Helper()
	type row struct{ lei, isin, name, day, percent string }
	want := map[row]bool{}
	from := disclosure.DayOf(time.Now()) - disclosure.Day(w.retention)
	for _, p := range w.site.Shorts().Truth(time.Now()) {
		if p.Day < from && !disclosure.IsLegalEntity(p.Name) {
			p.Name = ""
		}
		want[row{p.LEI, p.ISIN, p.Name, p.Day.String(), p.Percent}] = p.Current
	}
	got := w.positions(disclosure.Short)
	if truth := len(w.site.Shorts().Truth(time.Now())); len(got) != truth {
		w.Errorf("got %d short positions, want %d", len(got), truth)
	}
	for id, p := range got {
		current, known := want[row{p.LEI, p.ISIN, p.Name, p.Date, p.Percent}]
		if !known || current != p.IsCurrent() && p.Percent != "0" {
			w.Errorf("%s: %s %s %s is %s; in the register: %v, current: %v", id, p.Name, p.Date, p.Percent, p.State, known, current)
		}
	}
}

// A workbook that is cut, older than the last, or not whole changes nothing.
func TestShortsRefused(t *testing.T) {
	w := newWorld(t)
	r := w.reader(Shorts)
	if err := r.readShorts(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := w.newest()
	state := fmt.Sprintf(`{"published":%d,"loaded":true}`, disclosure.DayOf(time.Now())-1) // without validators
	if err := w.coverage.SetValue(t.Context(), nil, shortsKey, state); err != nil {
		t.Fatal(err)
	}
	for _, fault := range []string{
		`{"kind":"half","surface":"shorts"}`,
		`{"kind":"stale","surface":"shorts"}`,
		`{"kind":"errorpage","surface":"shorts"}`,
		`{"kind":"error500","surface":"shorts"}`,
	} {
		w.arm(fault)
		if err := r.readShorts(t.Context()); err == nil {
			t.Errorf("%s: no error", fault)
		}
		w.disarm()
	}
	if got := w.newest(); got != before {
		t.Errorf("bad workbooks appended %d changes", got-before)
	}
}

// A notice that is not in the workbook any more, and one whose name was erased.
func TestShortsVanish(t *testing.T) {
	w := newWorld(t)
	r := w.reader(Shorts)
	day := disclosure.DayOf(time.Now()) - 10
	row := func(name, percent string) shorts.Notice {
		return shorts.Notice{
			Row: shorts.Row{
				LEI:     "PREGONSIM000000BVB37",
				ISIN:    "ES0SIM000010",
				Issuer:  "BODEGAS DE VALDEBRISA, S.A.",
				Name:    name,
				Day:     day,
				Percent: percent,
			},
			Current: true,
		}
	}
	take := func(notices ...shorts.Notice) map[string]*disclosure.Position {
		t.Helper()
		history, news := r.shortChanges(notices, "https://regulator.example/shorts.xls", 0)
		if err := r.append(t.Context(), disclosure.Published, append(history, news...)); err != nil {
			t.Fatal(err)
		}
		return w.positions(disclosure.Short)
	}
	fund := row("Fondo Imaginario Alfa LLP", "0.6")
	person := row("Elena Ruiz Salvatierra", "0.7")
	got := take(fund, person)
	if len(got) != 2 {
		t.Fatalf("got %d positions, want 2", len(got))
	}
	first, second := disclosure.ShortID(fund.ISIN, day.String(), 1), disclosure.ShortID(fund.ISIN, day.String(), 2)
	if got[first].Name != fund.Name || got[second].Name != person.Name || !got[second].Natural {
		t.Fatalf("got %+v and %+v", got[first], got[second])
	}
	if err := r.eraseNames(t.Context(), []string{second}); err != nil {
		t.Fatal(err)
	}
	before := w.newest()
	got = take(fund, person)
	if len(got) != 2 || got[second].Name != "" || w.newest() != before {
		t.Errorf("after its name was erased: %d positions, %+v", len(got), got[second])
	}
	got = take(person)
	if got[first].State != disclosure.StateEnded || got[second].State != disclosure.StateCurrent {
		t.Errorf("the states are %s and %s, want ended and current", got[first].State, got[second].State)
	}
	corrected := row(fund.Name, "0.61")
	got = take(corrected, person)
	third := got[disclosure.ShortID(fund.ISIN, day.String(), 3)]
	if len(got) != 3 || third == nil || third.Percent != "0.61" || third.State != disclosure.StateCurrent {
		t.Errorf("after a correction: %d positions, %+v", len(got), third)
	}
}

// A short position in another spelling is the same, a LEI with wrong check digits is
// unknown, and a workbook of the future is refused.
func TestShortSpelling(t *testing.T) {
	w := newWorld(t)
	r := w.reader(Shorts)
	notice := shorts.Notice{
		Row: shorts.Row{
			ISIN:    "ES0SIM000010",
			Issuer:  "BODEGAS DE VALDEBRISA, S.A.",
			Name:    "Fondo Imaginario Alfa LLP",
			Day:     20000,
			Percent: "0.6",
		},
		Current: true,
	}
	for _, name := range []string{notice.Name, "FONDO IMAGINARIO ALFA LIMITED LIABILITY PARTNERSHIP"} {
		notice.Name = name
		history, news := r.shortChanges([]shorts.Notice{notice}, "", 0)
		if err := r.append(t.Context(), disclosure.Published, append(history, news...)); err != nil {
			t.Fatal(err)
		}
		got := w.positions(disclosure.Short)
		if len(got) != 1 || got[disclosure.ShortID(notice.ISIN, notice.Day.String(), 1)].Name != name {
			t.Errorf("%s: got %v", name, got)
		}
	}
	today := disclosure.DayOf(time.Now())
	for reason, register := range map[string]shorts.Register{
		"":              {Published: today, Current: make([]shorts.Row, 60)},
		"older":         {Published: today - 2, Current: make([]shorts.Row, 60)},
		"in the future": {Published: today + 2, Current: make([]shorts.Row, 60)},
		"present":       {Published: today, Current: make([]shorts.Row, 40)},
	} {
		got := refusal(&register, 1000, &shortsState{Published: today - 1, Entries: 1000, Current: 100})
		if !strings.Contains(got, reason) || (got == "") != (reason == "") {
			t.Errorf("got %q, want %q", got, reason)
		}
	}
	if got := refusal(&shorts.Register{Published: today}, 900, &shortsState{Entries: 1000}); got == "" {
		t.Error("a workbook that has lost a tenth of its notices is believed")
	}
}
