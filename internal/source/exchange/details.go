package exchange

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// Ticker returns the ticker of a share, which lists do not have. It returns NotFound
// for a share without one.
func (c *Client) Ticker(ctx context.Context, isin string) (string, error) {
	isin = strings.ToUpper(strings.TrimSpace(isin))
	if !disclosure.IsISIN(isin) {
		return "", fault.New(fault.Invalid, "%q is not an ISIN", isin)
	}
	body, err := c.get(ctx, "ShareDetailsInfo", url.Values{"isin": {isin}, "language": {"es"}})
	if err != nil {
		return "", err
	}
	return parseTicker(body, isin)
}

func parseTicker(body []byte, isin string) (string, error) {
	var answer struct{ ISIN, Ticker text }
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "the exchange's details of %s are not JSON of a share", isin)
	}
	of, ticker := strings.ToUpper(string(answer.ISIN)), strings.ToUpper(string(answer.Ticker))
	switch {
	case of == "" && ticker == "": // maybe a message: it says nothing about the share
		return "", fault.New(fault.Unavailable, "the exchange's details of %s are of no share", isin)
	case of != "" && of != isin:
		return "", fault.New(fault.Unavailable, "the exchange's details of %s are of %.20q", isin, of)
	case ticker == "":
		return "", fault.New(fault.NotFound, "the exchange has no ticker of %s", isin)
	case !isTicker(ticker):
		return "", fault.New(fault.Unavailable, "the exchange's ticker of %s is %.20q", isin, ticker)
	}
	return ticker, nil
}

// isTicker reports whether s has the form of a ticker in upper case. A single dash
// means none.
func isTicker(s string) bool {
	for i := range len(s) {
		word := (s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9')
		if !word && (i == 0 || (s[i] != '.' && s[i] != '-')) {
			return false
		}
	}
	return s != "" && len(s) <= 12
}

// NIF returns the normalized tax number of a company. It returns NotFound if there is
// none, or none of the Spanish form.
func (c *Client) NIF(ctx context.Context, companyKey string) (string, error) {
	companyKey = strings.TrimSpace(companyKey)
	if companyKey == "" {
		return "", fault.New(fault.Invalid, "a company without a key has no data")
	}
	body, err := c.get(ctx, "CompanyData/AllData", url.Values{"companyKey": {companyKey}, "language": {"es"}})
	if err != nil {
		return "", err
	}
	return parseNIF(body, companyKey)
}
