package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"pregon/internal/disclosure"
)

// Share is a row of the list of companies. A company has one for each class of shares.
type Share struct {
	ISIN       string
	CompanyKey string
	Name       string // of the company
	ShareName  string // short name, not the ticker
	System     string
	Segment    string // of the system MTF
	Country    string // of Latibex companies, in English
}

// The names of markets by system, or by segment of the system MTF. Other segments list
// funds.
var (
	systems  = map[string]string{"sibe": "SIBE", "floor": "Floor", "latibex": "Latibex"}
	segments = map[string]string{"bmegrowth": "BME Growth", "bmescaleup": "BME Scaleup"}
)

// Market returns the name of the market, or "" if it is not one of companies. The
// exchange writes both BMEScaleUp and BMEScaleup.
func (s Share) Market() string {
	if s.Segment != "" {
		return segments[strings.ToLower(strings.ReplaceAll(s.Segment, " ", ""))]
	}
	return systems[strings.ToLower(s.System)]
}

// Fingerprint returns a short hash of the row, to detect changes.
func (s Share) Fingerprint() string {
	// Quoted, so that a value that moves to the next field is a change.
	row := fmt.Sprintf("%q", []string{s.ISIN, s.CompanyKey, s.Name, s.ShareName, s.System, s.Segment, s.Country})
	sum := sha256.Sum256([]byte(row))
	return hex.EncodeToString(sum[:8])
}

// parseShare parses a row and reports whether it is the share of a company.
func parseShare(raw []byte) (Share, bool) {
	var row struct {
		ISIN, CompanyKey, Name, ShareName text
		TradingSystem, MTFSegment         text
		Country                           text
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return Share{}, false
	}
	s := Share{
		ISIN: strings.ToUpper(string(row.ISIN)), CompanyKey: string(row.CompanyKey),
		Name: string(row.Name), ShareName: string(row.ShareName),
		System: string(row.TradingSystem), Segment: string(row.MTFSegment), Country: string(row.Country),
	}
	return s, disclosure.IsISIN(s.ISIN) && s.Market() != ""
}
