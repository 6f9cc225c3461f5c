package simserver

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"pregon/internal/disclosure"
)

// share is a listed company of the exchange.
type share struct {
	Name          string `json:"name"`
	CompanyKey    string `json:"companyKey"`
	ISIN          string `json:"isin"`
	ShareName     string `json:"shareName"`
	TradingSystem string `json:"tradingSystem"`
	MTFSegment    string `json:"mtfSegment,omitempty"`

	issuer *disclosure.Issuer
}

// shares returns the listed companies that match. The key of the exchange is part of
// their ISIN.
func (s *Server) shares(matches func(*share) bool) []share {
	out := []share{}
	for n := range s.archive.Directory.All {
		i := &s.archive.Directory.All[n]
		if i.Kind != disclosure.Company || i.Market == "" || len(i.ISINs) == 0 {
			continue
		}
		name, _, _ := strings.Cut(i.Name, ",")
		one := share{i.Name, "9" + i.ISINs[0][7:11], i.ISINs[0], name, i.Market, "", i}
		switch i.Market {
		case "BME Growth":
			one.TradingSystem, one.MTFSegment = "MTF", "BMEGrowth"
		case "BME Scaleup":
			one.TradingSystem, one.MTFSegment = "MTF", "BMEScaleUp"
		}
		if matches(&one) {
			out = append(out, one)
		}
	}
	return out
}

// listedCompanies answers the companies of some trading systems and segments. An
// empty parameter matches all.
func (s *Server) listedCompanies(r *request) answer {
	q := r.URL.Query()
	has := func(name, value string) bool {
		list := q.Get(name)
		return list == "" || slices.ContainsFunc(strings.Split(list, ","),
			func(s string) bool { return strings.EqualFold(s, value) })
	}
	all := s.shares(func(c *share) bool {
		return has("tradingSystem", c.TradingSystem) &&
			has("mtfSegment", c.MTFSegment)
	})
	return inJSON(map[string]any{"totalResults": len(all), "params": params(q), "hasMoreResults": false, "data": all})
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
	for _, c := range s.shares(func(c *share) bool { return c.ISIN == isin }) {
		return inJSON(map[string]any{
			"name": c.Name, "shortName": c.ShareName, "isin": isin, "ticker": c.issuer.Ticker, "issuerCode": c.CompanyKey,
			"tradingSystem": c.TradingSystem,
		})
	}
	return inJSON(map[string]any{})
}

// companyData answers the NIF of a company, and nothing without the Referer of the
// exchange's own pages.
func (s *Server) companyData(r *request) answer {
	key := param(r.URL.Query(), "companyKey")
	data := []any{}
	for _, c := range s.shares(func(c *share) bool {
		return c.CompanyKey == key &&
			r.Referer() == "https://www.bolsasymercados.es/"
	}) {
		data = append(data, map[string]any{"companyKey": c.CompanyKey, "name": c.Name, "nif": c.issuer.CIF()})
	}
	return inJSON(map[string]any{"data": data})
}
