package exchange

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// maxPages is far more than needed: lists come in one page.
const maxPages = 50

// Listed returns all listed shares, each ISIN once, or an error. It skips rows that it
// cannot read, but a list without any readable row is an error.
func (c *Client) Listed(ctx context.Context) ([]Share, error) {
	return c.List(ctx, func(string, int) {})
}

// List is like Listed, and calls skipped for each row that it skips, with the list
// and the number of the row, from 1.
func (c *Client) List(ctx context.Context, skipped func(list string, row int)) ([]Share, error) {
	var all []Share
	seen := map[string]bool{}
	for _, system := range []string{"SIBE,Floor,Latibex", "MTF"} {
		rows, err := c.rows(ctx, system)
		if err != nil {
			return nil, err
		}
		found := false
		for n, row := range rows {
			s, ok := parseShare(row)
			found = found || ok
			if !ok && !s.ofFunds() {
				skipped(system, n+1)
			}
			if ok && !seen[s.ISIN] {
				seen[s.ISIN] = true
				all = append(all, s)
			}
		}
		if !found {
			return nil, fault.New(fault.Unavailable, "the exchange's list of %s has %d rows and no company",
				system, len(rows))
		}
	}
	return all, nil
}

// rows reads all pages of a list.
func (c *Client) rows(ctx context.Context, system string) ([]json.RawMessage, error) {
	r := listReader{total: unknown, seen: map[string]bool{}}
	for n := range maxPages {
		body, err := c.get(ctx, "ListedCompanies", url.Values{
			"ISIN": {""}, "sectorKey": {""}, "subsectorKey": {""}, "tradingSystem": {system}, "mtfSegment": {""},
			"page": {strconv.Itoa(n)}, "pageSize": {"0"}, // all in one page
		})
		if fault.KindOf(err) == fault.NotFound { // callers take NotFound for a missing share
			return nil, fault.Wrap(fault.Unavailable, err, "the exchange does not have a list of %s", system)
		}
		if err != nil {
			return nil, err
		}
		p, err := parsePage(body)
		if err != nil {
			return nil, err
		}
		done, err := r.add(p)
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the exchange's list of %s is incomplete", system)
		}
		if done {
			return r.rows, nil
		}
	}
	return nil, fault.New(fault.Unavailable, "the exchange's list of %s does not end after %d pages", system, maxPages)
}

// page is a part of a list.
type page struct {
	rows  []json.RawMessage
	total int // rows of all pages, or unknown
	more  bool
}

const unknown = -1

func parsePage(body []byte) (page, error) {
	var answer struct {
		TotalResults   text
		HasMoreResults flag
		Data           *[]json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return page{}, fault.Wrap(fault.Unavailable, err, "the exchange's list is not JSON of a list")
	}
	if answer.Data == nil {
		return page{}, fault.New(fault.Unavailable, "the exchange's list does not have data")
	}
	p := page{rows: *answer.Data, total: unknown, more: bool(answer.HasMoreResults)}
	if answer.TotalResults != "" {
		total, err := strconv.ParseUint(string(answer.TotalResults), 10, 31)
		if err != nil {
			return page{}, fault.Wrap(fault.Unavailable, err, "the exchange's list has an invalid total")
		}
		p.total = int(total)
	}
	return p, nil
}

// text is a field that is a string, a number or null. Runs of spaces become one space;
// any other type counts as null.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	*t = ""
	switch {
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*t = text(strings.Join(strings.FieldsFunc(s, isGap), " "))
	case raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9'):
		*t = text(raw)
	}
	return nil
}

func isGap(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }

// flag is a field that is a boolean, a string or null.
type flag bool

func (f *flag) UnmarshalJSON(raw []byte) error {
	*f = flag(strings.EqualFold(strings.Trim(string(raw), `" `), "true"))
	return nil
}

// listReader collects the pages of a list.
type listReader struct {
	rows  []json.RawMessage
	seen  map[string]bool // rows as text: a page may overlap the previous one
	total int             // from the first page that has it, or unknown
}

// add appends a page and reports whether the list is complete.
func (r *listReader) add(p page) (done bool, err error) {
	if r.total == unknown {
		r.total = p.total
	}
	if p.total != unknown && p.total != r.total {
		return false, errors.New("its length changed between two pages")
	}
	before := len(r.rows)
	for _, row := range p.rows {
		if !r.seen[string(row)] {
			r.rows = append(r.rows, row)
		}
	}
	for _, row := range p.rows { // afterwards, since a page may contain a row twice
		r.seen[string(row)] = true
	}
	stuck := len(r.rows) == before
	switch { // a list may be longer than its total, but not shorter
	case stuck && len(p.rows) > 0:
		return false, errors.New("it repeats a page")
	case !p.more && (r.total == unknown || len(r.rows) >= r.total):
		return true, nil
	case stuck:
		return false, fmt.Errorf("it ends after %d rows", len(r.rows))
	}
	return false, nil
}

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

// ofFunds reports whether a share is of a segment that is not one of companies.
func (s Share) ofFunds() bool { return s.Segment != "" && s.Market() == "" }

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
		ISIN:       strings.ToUpper(string(row.ISIN)),
		CompanyKey: string(row.CompanyKey),
		Name:       string(row.Name),
		ShareName:  string(row.ShareName),
		System:     string(row.TradingSystem),
		Segment:    string(row.MTFSegment),
		Country:    string(row.Country),
	}
	return s, disclosure.IsISIN(s.ISIN) && s.Market() != ""
}
