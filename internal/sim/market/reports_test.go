package market_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pregon/internal/disclosure"
	"pregon/internal/sim/market"
)

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
