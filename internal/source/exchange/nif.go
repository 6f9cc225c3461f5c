package exchange

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

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
			return "", fault.New(fault.NotFound, "the exchange's data of company %s have several tax numbers", companyKey)
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
