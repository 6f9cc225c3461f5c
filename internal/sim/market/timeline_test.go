package market_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

func TestTimelineAgreesWithTheHistory(t *testing.T) {
	m := market.New(1)
	last, _ := disclosure.ParseDay("2020-06-30")
	a := m.Timeline(last)
	var got []disclosure.Report
	for day := market.Epoch; day <= a.Last(); day++ {
		got = append(got, a.On(day)...)
	}
	if diff := cmp.Diff(m.History(time.Time{}, (last+1).Start()), got); diff != "" {
		t.Error(diff)
	}
	for _, r := range got {
		if day, ok := a.DayOf(r.Type, r.Number); !ok || day != disclosure.DayOf(r.PublishedAt) {
			t.Fatalf("%s: got day %v, want %v", r.ID, disclosure.DayOf(r.PublishedAt), day)
		}
	}
	for s, series := range disclosure.Types {
		end := a.Numbers(last + 1)[s]
		for _, number := range []int64{a.Numbers(market.Epoch)[s], end + 1, 0, -1} {
			if day, ok := a.DayOf(series, number); ok {
				t.Errorf("%s %d was filed on %v", series, number, day)
			}
		}
	}
	if len(a.On(last+1)) != 0 || len(a.On(market.Epoch-1)) != 0 {
		t.Error("got reports outside of the counted days")
	}
}

func TestDraw(t *testing.T) {
	m := market.New(1)
	for n, i := range m.Issuers() {
		series := m.Series(i.ID)
		if len(series) == 0 {
			t.Errorf("%s never publishes", i.Name)
		}
		for _, s := range disclosure.Types {
			r := m.NewReport(s, int64(n+1), today, i.ID)
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
			if key := r.IssuerKey(); key != "" && key != i.ID || !strings.HasPrefix(r.Title, market.Mark) || !r.PublishedAt.Equal(today) {
				t.Errorf("%+v is not of %s", r, i.Name)
			}
			if unspecific := strings.HasPrefix(r.Title, market.Mark+"Comunicación de "+r.CompanyName); unspecific && slices.Contains(series, s) {
				t.Errorf("%s has no title for %s", i.Name, s)
			}
			if diff := cmp.Diff(r, m.NewReport(s, int64(n+1), today, i.ID)); diff != "" {
				t.Error(diff)
			}
		}
	}
	if m.Series("") != nil {
		t.Error("no issuer publishes")
	}
	if cmp.Equal(m.NewReport(disclosure.OIR, 1, today, "").Title, m.NewReport(disclosure.OIR, 2, today, "").Title) {
		t.Error("two reports are equal")
	}
}

func TestFunds(t *testing.T) {
	funds := market.New(1).Funds()
	if len(funds) != 180 {
		t.Errorf("%d funds", len(funds))
	}
	for _, f := range funds {
		if f.Kind != disclosure.Fund || f.Manager.Kind != disclosure.Manager || f.Depositary.Kind != disclosure.Company {
			t.Errorf("%+v", f)
		}
	}
}

func TestAmpersand(t *testing.T) {
	if !slices.ContainsFunc(market.New(1).Issuers(), func(i disclosure.Issuer) bool { return strings.Contains(i.Name, " & ") }) {
		t.Error("no name has an ampersand")
	}
}
