package registers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/document"
	"pregon/internal/document/extract/extracttest"
	"pregon/internal/document/extract/sandbox"
	"pregon/internal/fault"
	"pregon/internal/retry"
	"pregon/internal/sim/stake"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/shorts"
)

func TestParseNames(t *testing.T) {
	for list, want := range map[string][]Name{
		"none":                      nil,
		"shorts":                    {Shorts},
		" holdings , shorts,shorts": {Holdings, Shorts},
		"shorts,dealings,holdings":  Names,
	} {
		got, err := ParseNames(list)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", "all", "shorts,none", "shorts,"} {
		if got, err := ParseNames(list); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: got %v, %v, want an error", list, got, err)
		}
	}
}

func TestIntervals(t *testing.T) {
	for at, want := range map[string][2]time.Duration{
		"2026-10-06T09:00:00+02:00": {usual.shorts, usual.dealings}, // a Tuesday
		"2026-10-06T18:00:00+02:00": {usual.shortsSoon, usual.dealings},
		"2026-10-06T23:00:00+02:00": {usual.shorts, usual.dealingsIdle},
		"2026-10-10T12:00:00+02:00": {usual.shorts, usual.dealingsIdle},
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]time.Duration{usual.forShorts(now), usual.forDealings(now)}; got != want {
			t.Errorf("at %s: got %v, want %v", at, got, want)
		}
	}
}

func TestOrdinals(t *testing.T) {
	o := ordinals{}
	o.use("holding-7", "holding-7")
	o.use("holding-7", "holding-7-4")
	o.use("holding-7", "holding-7-2")
	if got := []int{o.next("holding-7"), o.next("holding-7"), o.next("holding-8")}; !slices.Equal(got, []int{5, 6, 1}) {
		t.Errorf("got %v, want 5 6 1", got)
	}
}

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

// Names of natural persons that are older than the retention are not loaded, and erased
// when they become so.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	r := w.reader()
	day := disclosure.DayOf(time.Now())
	at := func(id, name string, on disclosure.Day) disclosure.Position {
		return disclosure.Position{
			ID:           disclosure.PositionID(disclosure.Holding, id, 1),
			Kind:         disclosure.Holding,
			NIF:          "A69000016",
			Name:         name,
			Number:       id,
			RegisteredOn: on.String(),
			State:        disclosure.StateCurrent,
		}
	}
	err := r.append(t.Context(), disclosure.Published, []disclosure.Position{
		at("1", "Elena Ruiz Salvatierra", day-100),
		at("2", "Elena Ruiz Salvatierra", day-101),
		at("3", "Cartera Imaginaria, S.L.", day-101),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.positions(disclosure.Holding) // waits
	r.Retention = 100
	if n, err := r.eraseExpired(t.Context()); n != 1 || err != nil {
		t.Errorf("erased %d names, %v, want 1", n, err)
	}
	got := w.positions(disclosure.Holding)
	for id, want := range map[string]string{
		"holding-1": "Elena Ruiz Salvatierra",
		"holding-2": "",
		"holding-3": "Cartera Imaginaria, S.L.",
	} {
		if got[id].Name != want {
			t.Errorf("%s has the name %q, want %q", id, got[id].Name, want)
		}
	}
	if n, err := r.eraseExpired(t.Context()); n != 0 || err != nil {
		t.Errorf("erased %d names again, %v", n, err)
	}
}

// Every kind of position is loaded, what happens later is news, and another term of the
// lease appends nothing.
func TestStakes(t *testing.T) {
	w := newWorld(t)
	companies := listedCompanies()
	loaded := func() error {
		for _, name := range []string{string(Dealings), string(Holdings), string(disclosure.OwnShares)} {
			if _, ok := w.coverage.Register(name); !ok {
				return fmt.Errorf("%s were not read", name)
			}
		}
		if from := w.reader(Dealings).dealingsState().From; from > w.reader().firstDealing() {
			return fmt.Errorf("the dealings are loaded from %s on", from)
		}
		return nil
	}
	w.run(w.reader(Dealings, Holdings), loaded)
	w.checkDealings()
	for _, i := range companies {
		w.checkHoldings(i)
	}
	if got := w.events(0); got[disclosure.PositionPublished] > 0 || got[disclosure.PositionWithdrawn] > 0 {
		t.Errorf("the first load has the events %v", got)
	}
	before := w.newest()
	if err := w.coverage.SetValue(t.Context(), nil, dealingsKey, ""); err != nil {
		t.Fatal(err)
	}
	w.run(w.reader(Dealings, Holdings), loaded)
	if got := w.events(before); len(got) > 0 {
		t.Errorf("loading everything again appended %v", got)
	}

	stop := w.start(w.reader(Dealings, Holdings))
	defer stop()
	before = w.newest()
	w.publish("dealing", companies[0].ID)
	w.publish("own_shares", companies[0].ID)
	w.publish("holding", companies[1].ID)
	w.eventually(func() error {
		if got := w.events(before); got[disclosure.PositionPublished] < 3 {
			return fmt.Errorf("the new entries have the events %v", got)
		}
		return nil
	})
	w.publish("annulment", companies[1].ID)
	w.eventually(func() error {
		if got := w.events(before); got[disclosure.PositionWithdrawn] == 0 {
			return fmt.Errorf("the annulment has the events %v", got)
		}
		return nil
	})
	stop()
	w.checkDealings()
	for _, i := range companies[:2] {
		w.checkHoldings(i)
	}
	if i, _ := w.cat.Known().Issuer(companies[0].ID); i.LEI == "" || i.Sector == "" || i.Capital == "" || i.VotingRights == "" {
		t.Errorf("the issuer is %+v", i)
	}
	for _, surface := range []string{health.Dealings, health.Holdings, health.Identity} {
		if got := w.failures(surface); len(got) > 0 {
			t.Errorf("%s failed: %v", surface, got)
		}
	}
}

func (w *world) publish(kind, issuer string) {
	w.Helper()
	if _, err := w.site.Stakes().Publish(time.Now(), stake.Kind(kind), issuer); err != nil {
		w.Fatal(err)
	}
}

// checkDealings compares the store with the truth of the register.
func (w *world) checkDealings() {
	w.Helper()
	now := time.Now()
	from := disclosure.DayOf(now) - dealingHistory
	got := w.positions(disclosure.Dealing)
	want := w.site.Stakes().Dealings(now, "", from, disclosure.DayOf(now))
	if len(got) != len(want) || len(want) == 0 {
		w.Errorf("got %d dealings, want %d", len(got), len(want))
	}
	for _, d := range want {
		p := got[disclosure.PositionID(disclosure.Dealing, numberOf(d.Number), 1)]
		if p == nil {
			w.Errorf("the dealing %d is missing", d.Number)
			continue
		}
		associated := p.Relation == disclosure.RelationAssociated
		rectified := p.State == disclosure.StateRectified
		if p.Name != d.Declarant || p.RegisteredOn != d.On.String() || associated != d.Associated ||
			!slices.Equal(p.Rectifies, numbersOf(d.Rectifies)) || rectified != (len(d.RectifiedBy) > 0) {
			w.Errorf("got %+v, want %+v", p, d)
		}
	}
}

// checkHoldings compares the present table of an issuer, and its own shares, with the
// truth.
func (w *world) checkHoldings(i disclosure.Issuer) {
	w.Helper()
	table, ok := w.site.Stakes().Table(time.Now(), i.ID)
	if !ok {
		return
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
			w.Errorf("%s has the name %q", p.ID, p.Name)
		}
	}
	for row := range want {
		if !got[row] {
			w.Errorf("%s: the holding %q is missing: %v", i.Name, row, got)
		}
	}
	if len(got) != len(want) {
		w.Errorf("%s: got %d present holdings, want %d", i.Name, len(got), len(want))
	}
	for p := range w.cat.Known().PositionsOf(i.ID, disclosure.OwnShares) {
		newest := len(table.Own) > 0 && p.Number == numberOf(table.Own[0].Number)
		if p.IsCurrent() != newest || p.Percent == "" || p.Natural {
			w.Errorf("own shares: %+v; the newest is %v", p, table.Own[0])
		}
	}
}

// decimalOf returns thousandths as the register's percentages are read.
func decimalOf(thousandths int) string {
	return fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000)
}

// A load that ends anywhere is continued, and loses or doubles nothing.
func TestInterruptedLoad(t *testing.T) {
	w := newWorld(t)
	left := 0
	w.appended = func() error {
		if left--; left < 0 {
			return unavailable
		}
		return nil
	}
	for _, n := range []int{0, 1, 2, 5} {
		left = n
		r := w.reader(Shorts, Holdings)
		if err := r.readShorts(t.Context()); err == nil {
			break
		}
		f := r.newFollower()
		if err := f.readIssuer(t.Context(), listedCompanies()[0].ID, 0); err == nil {
			t.Errorf("a read whose result was not stored has no error")
		}
	}
	w.appended = nil
	r := w.reader(Shorts, Holdings)
	if err := r.readShorts(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := r.newFollower()
	if err := f.readIssuer(t.Context(), listedCompanies()[0].ID, 0); err != nil {
		t.Fatal(err)
	}
	w.checkShorts()
	w.checkHoldings(listedCompanies()[0])
	if got := w.events(0); got[disclosure.PositionPublished] > 0 || got[disclosure.PositionUpdated] > 0 {
		t.Errorf("the load has the events %v", got)
	}
}

// A dealing that the register does not show any more is withdrawn, without the name.
func TestDealingWithdrawn(t *testing.T) {
	w := newWorld(t)
	r := w.reader(Dealings)
	day := disclosure.DayOf(time.Now())
	gone := disclosure.Position{
		ID:           disclosure.PositionID(disclosure.Dealing, "2026999999", 1),
		Kind:         disclosure.Dealing,
		NIF:          listedCompanies()[0].NIF,
		Name:         "Elena Ruiz Salvatierra",
		Number:       "2026999999",
		RegisteredOn: day.String(),
		State:        disclosure.StateCurrent,
	}
	if err := r.append(t.Context(), disclosure.Published, []disclosure.Position{gone}); err != nil {
		t.Fatal(err)
	}
	if err := r.readNewDealings(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := w.positions(disclosure.Dealing)[gone.ID]
	if got.State != disclosure.StateAnnulled || got.Name != "" || !got.NameErased() {
		t.Errorf("got %+v", got)
	}
	if events := w.events(0); events[disclosure.PositionWithdrawn] != 1 {
		t.Errorf("the events are %v", events)
	}
	// a list that lacks many is not believed
	var many []disclosure.Position
	for n := range 2000 {
		p := gone
		p.Number = fmt.Sprint(2026900000 + n)
		p.ID = disclosure.PositionID(disclosure.Dealing, p.Number, 1)
		many = append(many, p)
	}
	if err := r.append(t.Context(), disclosure.Published, many); err != nil {
		t.Fatal(err)
	}
	if err := r.readNewDealings(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks") {
		t.Errorf("a list that lacks 2,000 notices: %v", err)
	}
	if events := w.events(0); events[disclosure.PositionWithdrawn] != 1 {
		t.Errorf("the events are %v", events)
	}
}

// A register that fails is recorded, and read again.
func TestFailure(t *testing.T) {
	w := newWorld(t)
	w.arm(`{"kind":"error500","surface":"positions"}`)
	stop := w.start(w.reader(Dealings, Holdings))
	defer stop()
	w.eventually(func() error {
		if len(w.failures(health.Dealings)) < 2 || len(w.failures(health.Holdings)) < 2 {
			return fmt.Errorf("no failures")
		}
		return nil
	})
	w.disarm()
	w.eventually(func() error {
		for _, name := range []string{string(Dealings), string(Holdings)} {
			if _, ok := w.coverage.Register(name); !ok {
				return fmt.Errorf("%s were not read", name)
			}
		}
		return nil
	})
}

// A position that is not valid is left out, and does not keep the others from being stored.
func TestAppendInvalid(t *testing.T) {
	w := newWorld(t)
	valid := holdingOf("7", "Cartera Imaginaria, S.L.", "2026-03-04", "5")
	invalid := valid
	invalid.ID = "holding-8"
	invalid.LEI = "PREGONSIM000000BVB00"
	if err := w.reader().append(t.Context(), disclosure.Published, []disclosure.Position{invalid, valid}); err != nil {
		t.Fatal(err)
	}
	if got := w.positions(disclosure.Holding); len(got) != 1 || got["holding-7"] == nil {
		t.Errorf("got %v", got)
	}
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

// A notice is rectified if either of the two says so, also after it was read again.
func TestRectified(t *testing.T) {
	w := newWorld(t)
	r := w.reader(Dealings)
	day := disclosure.DayOf(time.Now())
	row := func(number int64, rectifies ...int64) regulator.Dealing {
		return regulator.Dealing{
			Number:       number,
			RegisteredOn: day,
			Name:         "BODEGAS DE VALDEBRISA, S.A.",
			NIF:          "A69000016",
			Declarant:    "Elena Ruiz Salvatierra",
			Relation:     disclosure.RelationManager,
			Rectifies:    rectifies,
		}
	}
	for n, rows := range [][]regulator.Dealing{{row(1)}, {row(2, 1), row(1)}, {row(1)}, {row(3, 2)}} {
		if err := r.takeDealings(t.Context(), rows, r.knownDealings(day-1, day), disclosure.Published); err != nil {
			t.Fatal(err)
		}
		got := w.positions(disclosure.Dealing)
		isRectified := got["dealing-1"].State == disclosure.StateRectified
		if isRectified != (n > 0) {
			t.Errorf("after read %d the first is %s", n, got["dealing-1"].State)
		}
		if n == 3 && (got["dealing-2"].State != disclosure.StateRectified || got["dealing-2"].Name == "") {
			t.Errorf("the second is %+v", got["dealing-2"])
		}
	}
}

// The name of a natural person in a notice that was annulled is erased, whatever its age.
func TestAnnulledName(t *testing.T) {
	w := newWorld(t)
	r := w.reader()
	p := holdingOf("7", "Elena Ruiz Salvatierra", disclosure.DayOf(time.Now()).String(), "5")
	p.State = disclosure.StateAnnulled
	if err := r.append(t.Context(), disclosure.Published, []disclosure.Position{p}); err != nil {
		t.Fatal(err)
	}
	w.positions(disclosure.Holding)
	if n, err := r.eraseExpired(t.Context()); n != 1 || err != nil {
		t.Errorf("erased %d names, %v", n, err)
	}
}

// The documents of dealings are read, the newest first, and state what the register says of
// their trades.
func TestDealingDocuments(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	command, err := extracttest.BuildWorker(dir)
	if err != nil {
		t.Fatal(err)
	}
	reader := sandbox.NewReader(sandbox.Options{
		Command:   command,
		CacheDir:  dir,
		Tesseract: "-",
	})
	t.Cleanup(func() { _ = reader.Close() })
	w.documents = document.NewKeeper(document.Options{
		Store:   w.store,
		Readers: []document.Reader{reader},
		Logger:  slog.New(slog.DiscardHandler),
	})
	today := disclosure.DayOf(time.Now())
	truth := w.site.Stakes().Dealings(time.Now(), "", today-dealingWindow, today)
	if len(truth) < 5 {
		t.Fatalf("only %d dealings", len(truth))
	}
	w.run(w.reader(Dealings), func() error {
		got := w.positions(disclosure.Dealing)
		for _, d := range truth[:5] {
			p := got[disclosure.PositionID(disclosure.Dealing, numberOf(d.Number), 1)]
			if p == nil || p.DocumentStatus == "" && !d.Lost {
				return fmt.Errorf("the document of %d was not read", d.Number)
			}
		}
		return nil
	})
	got := w.positions(disclosure.Dealing)
	read := 0
	for _, d := range truth[:5] {
		p := got[disclosure.PositionID(disclosure.Dealing, numberOf(d.Number), 1)]
		if p.DocumentStatus != disclosure.DocumentReady {
			continue // it is unreadable, and says why
		}
		read++
		if len(p.Trades) != len(d.Notice.Trades) || p.DocumentSHA256 == "" {
			t.Fatalf("%s has %d trades, want %d", p.ID, len(p.Trades), len(d.Notice.Trades))
		}
		for n, want := range d.Notice.Trades {
			trade := p.Trades[n]
			if trade.Nature != want.Nature || trade.Date != want.Date.String() || trade.Currency != want.Currency ||
				disclosure.CompareDecimals(trade.Volume, want.Volume) != 0 {
				t.Errorf("%s: got %+v, want %+v", p.ID, trade, want)
			}
		}
	}
	if read == 0 {
		t.Error("no document is readable")
	}
}

// Old documents are read from the newest on, whatever is loaded later, and new ones before
// all of them.
func TestOrderOfDocuments(t *testing.T) {
	r := New(Options{Documents: document.NewKeeper(document.Options{})})
	today := disclosure.DayOf(time.Now())
	dealing := func(number string, day disclosure.Day) disclosure.Position {
		return disclosure.Position{
			ID:           "dealing-" + number,
			Kind:         disclosure.Dealing,
			RegisteredOn: day.String(),
			DocumentURL:  "https://regulator.example/" + number,
		}
	}
	r.queueDocuments([]disclosure.Position{dealing("5", today), dealing("4", today), dealing("3", today-100)})
	r.queueDocuments([]disclosure.Position{dealing("2", today-200), dealing("1", today-201)})
	r.queueDocuments([]disclosure.Position{dealing("6", today)})
	for name, test := range map[string]struct {
		queue *retry.Queue
		want  string
	}{
		"new": {r.fresh, "dealing-6 dealing-5 dealing-4"},
		"old": {r.old, "dealing-3 dealing-2 dealing-1"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var order []string
		_ = test.queue.Run(ctx, func(id string, _ int) time.Duration {
			if order = append(order, id); len(order) == 3 {
				cancel()
			}
			return 0
		})
		if got := strings.Join(order, " "); got != test.want {
			t.Errorf("%s documents are read in the order %s, want %s", name, got, test.want)
		}
	}
}
