package simserver

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/sim/filler"
)

// company is a listed company of the exchange.
type company struct {
	*disclosure.Issuer
	key     string
	system  string
	segment string
}

// share is an entry of the lists of companies.
type share struct {
	Name          string `json:"name"`
	CompanyKey    string `json:"companyKey"`
	ISIN          string `json:"isin,omitempty"`
	ShareName     string `json:"shareName"`
	Sector        string `json:"sector,omitempty"`
	Subsector     string `json:"subsector,omitempty"`
	TradingSystem string `json:"tradingSystem"`
	MTFSegment    string `json:"mtfSegment,omitempty"`
	Country       string `json:"country,omitempty"`
	Indices       string `json:"indices,omitempty"`
}

// companies returns the listed companies. The key of the exchange is part of their
// ISIN.
func (s *Server) companies() []company {
	var out []company
	for n := range s.archive.Directory.All {
		i := &s.archive.Directory.All[n]
		if i.Kind != disclosure.Company || i.Market == "" || len(i.ISINs) == 0 {
			continue
		}
		c := company{Issuer: i, key: "9" + i.ISINs[0][7:11], system: i.Market}
		switch i.Market {
		case "BME Growth":
			c.system, c.segment = "MTF", "BMEGrowth"
		case "BME Scaleup":
			c.system, c.segment = "MTF", "BMEScaleUp"
		}
		out = append(out, c)
	}
	return out
}

func (c company) shareName() string {
	name, _, _ := strings.Cut(c.Name, ",")
	return name
}

// matches reports whether a company is of the trading systems and segments of a
// query. An empty parameter matches all.
func (c company) matches(q url.Values) bool {
	has := func(list, value string) bool {
		return list == "" || slices.ContainsFunc(strings.Split(list, ","), func(s string) bool { return strings.EqualFold(s, value) })
	}
	return has(q.Get("tradingSystem"), c.system) && has(q.Get("mtfSegment"), c.segment)
}

func (s *Server) listedCompanies(r *request) answer {
	q := r.URL.Query()
	var rows []share
	for _, c := range s.companies() {
		if !c.matches(q) || param(q, "isin") != "" && param(q, "isin") != c.ISINs[0] {
			continue
		}
		x := filler.Mix(s.seed ^ numberOf(c.key))
		one := share{
			Name: c.Name, CompanyKey: c.key, ISIN: c.ISINs[0], ShareName: c.shareName(),
			Sector: fmt.Sprintf("%02d", x%7+1), Subsector: fmt.Sprintf("%02d", x>>8%9+1), TradingSystem: c.system, MTFSegment: c.segment,
		}
		switch {
		case c.system == "Latibex":
			one.Country = "Brazil"
		case c.system == "SIBE" && x>>16%4 == 0:
			one.Indices = "IBEX SIM®, IGBM SIM"
		}
		rows = append(rows, one)
	}
	return paged(r, rows, map[string]any{"yearOfPriceData": r.now.Year()})
}

func numberOf(key string) uint64 {
	n, _ := strconv.ParseUint(key, 10, 64)
	return n
}

// paged answers a page of rows in the envelope of all lists of the exchange. A page
// size of zero returns all rows.
func paged[T any](r *request, rows []T, more map[string]any) answer {
	q := r.URL.Query()
	number, _ := strconv.Atoi(q.Get("page"))
	size, _ := strconv.Atoi(q.Get("pageSize"))
	total := len(rows)
	if size > 0 {
		number = min(max(number, 0), total)
		rows = rows[min(total, number*size):min(total, (number+1)*size)]
	}
	if rows == nil {
		rows = []T{}
	}
	out := map[string]any{"totalResults": total, "params": params(q), "hasMoreResults": size > 0 && (number+1)*size < total, "data": rows}
	for name, value := range more {
		out[name] = value
	}
	return inJSON(out)
}

func params(q url.Values) map[string]string {
	out := map[string]string{}
	for name := range q {
		out[name] = q.Get(name)
	}
	return out
}

func inJSON(v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		return answer{status: 500}
	}
	return answer{kind: "application/json; charset=utf-8", body: body}
}

func (s *Server) shareDetails(r *request) answer {
	isin := param(r.URL.Query(), "isin")
	for _, c := range s.companies() {
		if c.ISINs[0] != isin {
			continue
		}
		x := filler.Mix(s.seed ^ numberOf(c.key))
		shares, price := 4_000_000+x%300_000_000, float64(60+x>>32%4500)/100
		return inJSON(map[string]any{
			"name": c.Name, "shortName": c.shareName(), "isin": isin, "ticker": c.Ticker, "issuerCode": c.key, "tradingSystem": c.system,
			"shares": shares, "capitalisation": int64(float64(shares) * price), "lastClosePrice": price,
		})
	}
	return inJSON(map[string]any{})
}

// noData is the empty answer of the exchange.
var noData = map[string]any{"data": []any{}}

// companyData answers the NIF of a company, and nothing without the Referer of the
// exchange's own pages.
func (s *Server) companyData(r *request) answer {
	if r.Referer() != "https://www.bolsasymercados.es/" {
		return inJSON(noData)
	}
	c, ok := s.company(r)
	if !ok {
		return inJSON(noData)
	}
	return inJSON(map[string]any{"data": []any{map[string]any{
		"companyKey": c.key, "name": c.Name, "nif": c.CIF(), "address": s.address(int(numberOf(c.key))),
		"web": "https://www." + strings.ToLower(c.Ticker) + ".example", "admittedCapital": 1_000_000 + filler.Mix(numberOf(c.key))%90_000_000,
	}}})
}

func (s *Server) company(r *request) (company, bool) {
	key := param(r.URL.Query(), "companyKey")
	all := s.companies()
	n := slices.IndexFunc(all, func(c company) bool { return c.key == key })
	if n < 0 {
		return company{}, false
	}
	return all[n], true
}
