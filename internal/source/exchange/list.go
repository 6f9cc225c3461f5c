package exchange

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"pregon/internal/fault"
)

// maxPages is far more than needed: lists come in one page.
const maxPages = 50

// Listed returns all listed shares, each ISIN once, or an error. It skips rows that it
// cannot read, but a list without any readable row is an error.
func (c *Client) Listed(ctx context.Context) ([]Share, error) {
	var all []Share
	seen := map[string]bool{}
	for _, system := range []string{"SIBE,Floor,Latibex", "MTF"} {
		rows, err := c.rows(ctx, system)
		if err != nil {
			return nil, err
		}
		found := false
		for _, row := range rows {
			s, ok := parseShare(row)
			found = found || ok
			if ok && !seen[s.ISIN] {
				seen[s.ISIN] = true
				all = append(all, s)
			}
		}
		if !found {
			return nil, fault.New(fault.Unavailable, "the exchange's list of %s has %d rows and no company", system, len(rows))
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
			return nil, fault.Wrap(fault.Unavailable, err, "the exchange has no list of %s", system)
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
			return nil, fault.Wrap(fault.Unavailable, err, "the exchange's list of %s is not whole", system)
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
		return page{}, fault.New(fault.Unavailable, "the exchange's list has no data")
	}
	p := page{rows: *answer.Data, total: unknown, more: bool(answer.HasMoreResults)}
	if answer.TotalResults != "" {
		total, err := strconv.ParseUint(string(answer.TotalResults), 10, 31)
		if err != nil {
			return page{}, fault.Wrap(fault.Unavailable, err, "the exchange's list does not tell its length")
		}
		p.total = int(total)
	}
	return p, nil
}
