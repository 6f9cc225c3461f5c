package exchange

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
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
		return "", fault.New(fault.Unavailable, "the exchange's details of %s do not describe a share", isin)
	case of != "" && of != isin:
		return "", fault.New(fault.Unavailable, "the exchange's details of %s are of %.20q", isin, of)
	case ticker == "":
		return "", fault.New(fault.NotFound, "the exchange does not have a ticker for %s", isin)
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
		return "", fault.New(fault.Invalid, "the company does not have a key, which is needed to read its data")
	}
	body, err := c.get(ctx, "CompanyData/AllData", url.Values{"companyKey": {companyKey}, "language": {"es"}})
	if err != nil {
		return "", err
	}
	return parseNIF(body, companyKey)
}

// parseNIF searches the tax number at any depth. The topmost is that of the company;
// deeper ones may be of its auditor or manager.
func parseNIF(body []byte, companyKey string) (string, error) {
	var answer any
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "the exchange's data of company %s are not JSON", companyKey)
	}
	switch answer.(type) {
	case map[string]any, []any:
	default:
		return "", fault.New(fault.Unavailable, "the exchange's data of company %s are empty", companyKey)
	}
	var about struct{ CompanyKey text }
	_ = json.Unmarshal(body, &about) // the syntax is valid; a list does not name the company
	if of := string(about.CompanyKey); of != "" && !sameKey(of, companyKey) {
		return "", fault.New(fault.Unavailable, "the exchange's data of company %s are of %.20q", companyKey, of)
	}
	for level := []any{answer}; len(level) > 0; {
		var nifs []string
		nifs, level = descend(level)
		switch len(nifs) {
		case 0:
		case 1:
			return nifs[0], nil
		default: // a wrong one would merge two issuers
			return "", fault.New(fault.NotFound, "the exchange's data of company %s have several tax numbers",
				companyKey)
		}
	}
	return "", fault.New(fault.NotFound, "the exchange's data of company %s have no tax number", companyKey)
}

// descend returns the distinct tax numbers of a level, and the next level.
func descend(level []any) (nifs []string, below []any) {
	for _, value := range level {
		switch value := value.(type) {
		case []any:
			below = append(below, value...)
		case map[string]any:
			for key, field := range value {
				if s, ok := field.(string); ok && isNIFKey(key) {
					if nif, ok := disclosure.ParseNIF(strings.TrimSpace(s)); ok {
						nifs = append(nifs, string(nif))
					}
				}
			}
			below = slices.AppendSeq(below, maps.Values(value))
		}
	}
	slices.Sort(nifs)
	return slices.Compact(nifs), below
}

func isNIFKey(key string) bool {
	return strings.EqualFold(key, "nif") || strings.EqualFold(key, "cif")
}

// sameKey compares keys of companies. Numbers have lost their leading zeros.
func sameKey(a, b string) bool {
	return strings.EqualFold(strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0"))
}
