package registers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/stake"
	"pregon/internal/source/health"
	"pregon/internal/source/regulator"
	"pregon/internal/source/throttle"
	"pregon/internal/test/longtest"
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
	if longtest.Race {
		t.Skip("a whole market takes ten minutes with the race detector; the tests of single registers run with it")
	}
	w := newWorld(t)
	companies := listedCompanies()
	loaded := func() error {
		for _, name := range []string{string(Dealings), string(Holdings), string(disclosure.OwnShares)} {
			if _, ok := w.coverage.Register(name); !ok {
				return fmt.Errorf("%s were not read", name)
			}
		}
		if from := w.reader(Dealings).dealingsState().From; from == 0 || from > w.reader().firstDealing() {
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
		return errors.Join(w.compareHoldings(companies[0]), w.compareHoldings(companies[1]))
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

// Issuers that change again as soon as they were read do not keep others from being read,
// whether these have changed or are only due.
func TestTurns(t *testing.T) {
	w := newWorld(t)
	f := w.reader(Holdings).newFollower()
	var changing []string
	for n := range 5 {
		changing = append(changing, fmt.Sprintf("A6900000%d", n))
	}
	unread := map[string]bool{}
	for _, i := range listedCompanies() {
		unread[disclosure.IssuerKey(i.NIF)] = true
	}
	for _, key := range changing {
		unread[key] = true
	}
	at := time.Now().Add(-time.Minute)
	for range 2 * len(unread) {
		for _, key := range changing {
			f.changed[key] = regulator.ChangedIssuer{}
		}
		key, priority, ok := f.next()
		if !ok {
			t.Fatal("no issuer is to be read")
		}
		f.readChanged = priority == throttle.Registers
		at = at.Add(time.Second)
		if err := f.Coverage.SetTime(t.Context(), nil, issuerClock(key), at); err != nil {
			t.Fatal(err)
		}
		delete(unread, key)
	}
	if len(unread) > 0 {
		t.Errorf("never read: %v", slices.Sorted(maps.Keys(unread)))
	}
}
