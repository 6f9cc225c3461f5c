package stake_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
	"pregon/internal/sim/market"
	"pregon/internal/sim/stake"
)

var (
	testMarket = sync.OnceValue(func() *market.Market { return market.New(1) })
	began      = time.Date(2026, 11, 17, 11, 0, 0, 0, time.UTC)
)

func open(live bool) *stake.Register {
	return stake.New(stake.Options{
		Market: testMarket(),
		Seed:   1,
		Began:  began,
		Live:   live,
	})
}

// listed are the companies that have registers.
func listed() (out []disclosure.Issuer) {
	for _, i := range testMarket().Issuers() {
		if i.Kind == disclosure.Company && i.Market != "" {
			out = append(out, i)
		}
	}
	return out
}

const allDays = disclosure.Day(1 << 20)

func tables(r *stake.Register, at time.Time) (out []stake.Table) {
	for _, i := range listed() {
		if t, ok := r.Table(at, i.ID); ok {
			out = append(out, t)
		}
	}
	return out
}

// TestSameSeedSameRegister: a register depends on the seed and the clock, not on when it
// was asked.
func TestSameSeedSameRegister(t *testing.T) {
	a, b := open(true), open(true)
	later := began.Add(30 * time.Hour)
	for at := began; at.Before(later); at = at.Add(50 * time.Minute) {
		a.Dealings(at, "", 0, allDays)
	}
	since := disclosure.DayOf(began) - 90
	if diff := cmp.Diff(a.Dealings(later, "", since, allDays), b.Dealings(later, "", since, allDays)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(tables(a, later), tables(b, later)); diff != "" {
		t.Error(diff)
	}
}

// TestShapes: the past has every shape that the readers must know.
func TestShapes(t *testing.T) {
	r := open(false)
	seen := map[string]int{}
	numbers := map[int64]bool{}
	last := int64(1 << 62)
	dealings := r.Dealings(began, "", 0, allDays)
	for _, d := range dealings {
		if d.Number >= last || numbers[d.Number] {
			t.Fatalf("number %d comes after %d", d.Number, last)
		}
		last = d.Number
		numbers[d.Number] = true
		seen["dealings"]++
		for name, is := range map[string]bool{
			"associated": d.Associated, "rectifies": len(d.Rectifies) > 0, "rectified": len(d.RectifiedBy) > 0,
			"both": len(d.Rectifies) > 0 && len(d.RectifiedBy) > 0, "lost": d.Lost, "several rows": len(d.Notice.Trades) > 1,
		} {
			if is {
				seen[name]++
			}
		}
		if len(d.Notice.Trades) == 0 || !disclosure.IsLEI(d.Notice.LEI) || !strings.Contains(d.Notice.Other, "simulado") {
			t.Errorf("%d states %+v", d.Number, d.Notice)
		}
		for _, other := range d.Rectifies {
			o, ok := r.Dealing(began, other)
			if !ok || len(o.RectifiedBy) == 0 || o.Declarant != d.Declarant || o.On > d.On {
				t.Errorf("%d rectifies %d, which is %+v", d.Number, other, o)
			}
		}
		for _, trade := range d.Notice.Trades {
			seen[trade.Nature]++
			if trade.Date > d.On || !disclosure.IsDecimal(trade.Volume) || !disclosure.IsDecimal(trade.Price) {
				t.Errorf("%d has the trade %+v", d.Number, trade)
			}
		}
	}
	for _, table := range tables(r, began) {
		byNumber := map[int64]int{}
		for _, row := range table.Present {
			seen["present"]++
			byNumber[row.Notices[0].Number]++
			if row.Notices[0].Total() < 3000 {
				t.Errorf("%s has %s at present", row.Name, stake.Percent(row.Notices[0].Total()))
			}
			for n, notice := range row.Notices {
				if notice.AnnulledBy != 0 || n > 0 && notice.Number >= row.Notices[n-1].Number {
					t.Errorf("%s shows %+v", row.Name, notice)
				}
				if notice.Number < 1e9 {
					seen["nine digits"]++
				}
			}
			for n, a := range row.Annulments {
				seen["annulments"]++
				if n > 0 && a.Annuls[0].Number == row.Annulments[n-1].Annuls[0].Number {
					seen["annulled twice"]++
				}
			}
			if strings.Contains(row.Name, " , ") {
				seen["natural"]++
			}
		}
		for _, n := range byNumber {
			if n > 1 {
				seen["chains"]++
			}
		}
		seen["others"] += len(table.Others)
		seen["own"] += len(table.Own)
		if table.Concert {
			seen["agreements"]++
		}
	}
	for _, name := range []string{
		"associated", "rectifies", "rectified", "both", "lost", "several rows", "Compra", "Venta", "Otros", "present",
		"nine digits", "annulments", "annulled twice", "natural", "chains", "others", "own", "agreements",
	} {
		if seen[name] == 0 {
			t.Errorf("the register has no %s: %v", name, seen)
		}
	}
	if seen["lost"] != 1 || seen["dealings"] < 3000 || seen["dealings"] > 20_000 {
		t.Errorf("%d dealings, %d of them lost", seen["dealings"], seen["lost"])
	}
}

// TestDealingsChangeHoldings: after a manager with a holding has dealt, the holding
// differs by what was dealt.
func TestDealingsChangeHoldings(t *testing.T) {
	r := open(false)
	checked := 0
	for _, table := range tables(r, began) {
		for _, d := range r.Dealings(began, table.Issuer.ID, 0, allDays) {
			for _, row := range table.Present {
				for n := range len(row.Notices) - 1 {
					after, before := row.Notices[n], row.Notices[n+1]
					if after.Number != d.Number+1 || d.Associated || !isOf(row.Name, d.Declarant) || before.Direct == 0 {
						continue
					}
					volume := int64(0)
					for _, trade := range d.Notice.Trades {
						v, _ := strconv.ParseInt(trade.Volume, 10, 64)
						volume += v
					}
					changed := table.Votes * int64(abs(after.Direct-before.Direct)) / 100_000
					if volume != changed || after.Indirect != before.Indirect {
						t.Errorf("%s: %d deals with %d shares, and the holding changes by %d",
							table.Issuer.Name, d.Number, volume, changed)
					}
					checked++
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d dealings of those with a holding were compared, want more", checked)
	}
}

// isOf reports whether "SURNAMES , NAME" is the person "Name Surnames".
func isOf(row, declarant string) bool {
	family, name, _ := strings.Cut(row, " , ")
	return strings.EqualFold(name+" "+family, declarant)
}

func abs(n int) int { return max(n, -n) }

func TestLive(t *testing.T) {
	day := began.Add(24 * time.Hour)
	count := func(r *stake.Register, at time.Time) int { return len(r.Dealings(at, "", 0, allDays)) }
	quiet, live := open(false), open(true)
	if before := count(quiet, began); count(quiet, day) != before || count(live, began) != before {
		t.Error("the past depends on what is live, or goes on when it is not")
	}
	if got := count(live, day) - count(quiet, day); got < 24 || got > 96 {
		t.Errorf("%d new dealings in a day, want one to four an hour", got)
	}
	if count(live, began.AddDate(30, 0, 0)) == 0 {
		t.Error("a jump of the clock loses the register")
	}
}

func TestPublish(t *testing.T) {
	r := open(false)
	issuer := listed()[3]
	at := began.Add(time.Hour)
	before, _ := r.Table(at, issuer.ID)
	last := int64(0)
	for _, kind := range stake.Kinds {
		number, err := r.Publish(at, kind, issuer.NIF)
		if err != nil || number <= last || number/1_000_000 != 2026 {
			t.Errorf("%s: number %d after %d, %v", kind, number, last, err)
		}
		last = number
		switch kind {
		case stake.KindDealing:
			if d, ok := r.Dealing(at, number); !ok || d.Issuer.ID != issuer.ID || d.On != disclosure.DayOf(at) {
				t.Errorf("got the dealing %+v", d)
			}
		case stake.KindOwnShares:
			if after, _ := r.Table(at, issuer.ID); len(after.Own) != len(before.Own)+1 || after.Own[0].Number != number {
				t.Errorf("the own shares are %+v", after.Own)
			}
		}
	}
	changed := r.Changed(at, disclosure.DayOf(at))
	if len(changed) == 0 || changed[0].Issuer.ID != issuer.ID {
		t.Errorf("the changes of today are %+v", changed)
	}
	if number, err := r.Publish(at, stake.KindHolding, ""); err != nil || number <= last {
		t.Errorf("without an issuer: %d, %v", number, err)
	}
	for _, bad := range []struct{ kind, id string }{{"short", ""}, {"", ""}, {"dealing", "A00000000"}, {"dealing", "x"}} {
		if _, err := r.Publish(at, stake.Kind(bad.kind), bad.id); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v, want Invalid", bad, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	r := open(false)
	for _, i := range listed() {
		got, ok := r.Identity(began, i.ID)
		if !ok || !disclosure.IsLEI(got.LEI) || got.Sector == "" || got.ShortName == "" || !strings.HasSuffix(got.Capital, ",00 €") {
			t.Errorf("%s: %+v, %v", i.Name, got, ok)
		}
	}
	if _, ok := r.Identity(began, "A00000000"); ok {
		t.Error("an unknown issuer has general data")
	}
}

func BenchmarkPast(b *testing.B) {
	testMarket()
	for b.Loop() {
		open(false).Dealings(began, "", 0, allDays)
	}
}
