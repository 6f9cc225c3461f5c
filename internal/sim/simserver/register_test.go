package simserver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/source/exchange"
	"pregon/internal/source/regulator"
)

func TestRegisters(t *testing.T) {
	s := open(t, early, "")
	c := s.reader()
	managers, err := c.Managers(t.Context())
	if err != nil || len(managers.Entities) != 40 || managers.Pages != 1 {
		t.Fatal(len(managers.Entities), managers.Pages, err)
	}
	if !strings.Contains(s.get("/portal/consultas/listadoentidad?id=2&tipoent=0"),
		"wucRelacionRegistros_MF_repListaPrincipal_ctl40_elementoPrimerNivel") {
		t.Error("the rows have other ids")
	}
	byKey, numbers := map[string]disclosure.Issuer{}, map[string]string{}
	for _, i := range testMarket().Issuers() {
		byKey[i.ID] = i
	}
	keepers := map[string]string{}
	for _, f := range testMarket().Funds() {
		keepers[f.ID] = f.Manager.Name + " / " + f.Depositary.Name
	}
	lists := map[int]int{}
	for _, r := range regulator.FundRegisters {
		for page, pages := 0, 1; page < pages; page++ {
			l, err := c.Funds(t.Context(), r, page)
			if err != nil {
				t.Fatal(err)
			}
			pages = l.Pages
			for _, e := range l.Entities {
				i := e.Issuer()
				if want := byKey[i.ID]; want.Name != e.Name || want.NIF != e.NIF || keepers[i.ID] != e.Manager+" / "+e.Depositary {
					t.Errorf("%+v is not %+v", e, want)
				}
				numbers[i.Aliases[0]] = e.Name
				lists[r.List]++
			}
		}
	}
	if len(numbers) != 180 {
		t.Errorf("%d funds: %v", len(numbers), lists)
	}
	for _, id := range []int{3, 17, 7, 18, 5} {
		if lists[id] == 0 {
			t.Errorf("list %d is empty", id)
		}
	}
	if lists[4]+lists[6]+lists[8] != 0 {
		t.Errorf("%v", lists)
	}
	s.openData(c, numbers)
}

// openData compares the open data with the numbers of the lists.
func (s *site) openData(c *regulator.Client, numbers map[string]string) {
	s.Helper()
	packages, err := c.OpenData(s.Context(), 2020)
	if err != nil || len(packages) != 10 || packages[9].Month != time.October {
		s.Fatal(packages, err)
	}
	if none, err := c.OpenData(s.Context(), 2021); err != nil || len(none) != 0 {
		s.Error(none, err)
	}
	records, _, err := c.FundRecords(s.Context(), packages[9])
	if err != nil || len(records) != 180 {
		s.Fatal(len(records), err)
	}
	gone := 0
	for _, r := range records {
		key := r.Register + "-" + jsonNumber(r.Number)
		if numbers[key] != r.Name || len(r.ISINs) == 0 || r.Manager == "" {
			s.Errorf("%s: got %q, want %+v", key, numbers[key], r)
		}
		if r.Gone {
			gone++
		}
	}
	if gone != 1 {
		s.Errorf("%d funds are struck off", gone)
	}
}

func jsonNumber(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestExchange(t *testing.T) {
	s := open(t, early, "")
	c, err := exchange.New(exchange.Options{Origin: s.origin, UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, i := range testMarket().Issuers() {
		if i.Market == "" {
			continue
		}
		if listed++; listed > 12 {
			continue
		}
		ticker, err := c.Ticker(t.Context(), i.ISINs[0])
		if err != nil || ticker != i.Ticker {
			t.Errorf("%s has the ticker %q: %v", i.Name, ticker, err)
		}
	}
	type row struct{ Name, CompanyKey, ISIN, TradingSystem, MTFSegment string }
	var all struct {
		TotalResults   int
		HasMoreResults bool
		Data           []row
	}
	ask := func(query string) {
		t.Helper()
		all.Data = nil
		if err := json.Unmarshal([]byte(s.get("/Market/v1/EQ/"+query)), &all); err != nil {
			t.Fatal(err)
		}
	}
	ask("ListedCompanies?tradingSystem=SIBE,Floor,Latibex&page=0&pageSize=0")
	main := len(all.Data)
	ask("ListedCompanies?tradingSystem=MTF&mtfSegment=")
	if main+len(all.Data) != listed || !slices.ContainsFunc(all.Data, func(x row) bool {
		return x.MTFSegment == "BMEScaleUp"
	}) {
		t.Errorf("listed companies: got %d and %d, want %d", main, len(all.Data), listed)
	}
	one := all.Data[0]
	if nif, err := c.NIF(t.Context(), one.CompanyKey); err != nil || len(nif) != 9 {
		t.Errorf("%s: %s %v", one.Name, nif, err)
	}
	for path, want := range map[string]string{
		"CompanyData/AllData?companyKey=" + one.CompanyKey + "&language=es": `{"data":[]}`, // without the Referer
		"ShareDetailsInfo?isin=ES0000000000&language=es":                    `{}`,
	} {
		if got := s.get("/Market/v1/EQ/" + path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
