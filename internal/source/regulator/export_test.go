package regulator

import (
	"maps"
	"slices"
	"time"

	"pregon/internal/disclosure"
)

func ParseFeed(t disclosure.Type, body []byte, public string) ([]Row, error) {
	return parseFeed(t, body, site{public: public})
}

func ParsePermalink(t disclosure.Type, number int64, body []byte, public string) (Row, error) {
	return parsePermalink(t, seriesOf[t], number, body, site{public: public})
}

func ParseEntities(r Register, body []byte) (Entities, error) { return parseEntities(r, body, anyPage) }

func ParseOpenData(year int, body []byte, public string) ([]FundArchive, error) {
	return parseOpenData(year, body, site{public: public})
}

func ParseFundRecords(archive []byte) ([]FundRecord, error) {
	return parseFundRecords(archive, maxUnpacked)
}

// ParseFundRecordsWithin has a size limit of its own.
func ParseFundRecordsWithin(archive []byte, unpacked int64) ([]FundRecord, error) {
	return parseFundRecords(archive, unpacked)
}

// Hurry shortens the timeouts of the client.
func (c *Client) Hurry(within, stall time.Duration) {
	for _, l := range []*limit{&c.limits.feed, &c.limits.page, &c.limits.document, &c.limits.archive, &c.limits.workbook} {
		l.within = within
	}
	c.limits.stall = stall
}

// Skip returns the offset of the first relevant element.
func Skip(body []byte) int {
	at, _ := new(page).skip(body)
	return at
}

// Limits of feeds and pages.
var (
	MostFeed    = int(defaultLimits.feed.most)
	MostPage    = int(defaultLimits.page.most)
	MostContent = maxContent
)

// Moves returns the number of cached redirects.
func (c *Client) Moves() int {
	c.redirects.mu.Lock()
	defer c.redirects.mu.Unlock()
	return len(c.redirects.to)
}

func ParseDealings(body []byte, page int, public string) (Dealings, error) {
	return parseDealings(body, page, site{public: public})
}

// AnyPage is the number of a page that was not requested.
const AnyPage = anyPage

// ParseHub returns the issuer and the pages that a hub links.
func ParseHub(body []byte) (name string, pages []string, err error) {
	h, err := parseHub(body)
	return h.name, slices.Sorted(maps.Keys(h.steps)), err
}

// ParsePresent returns the totals and the rows of a page of present holdings.
func ParsePresent(body []byte, public string) (VotingRights, []Holding, error) {
	s, err := openSheet("table of holdings", body)
	if err != nil {
		return VotingRights{}, nil, err
	}
	t, err := s.present(site{public: public})
	return t.rights, t.rows, err
}

func ParseHistory(body []byte, name, public string) ([]HoldingNotice, error) {
	s, err := openSheet("history of a holding", body)
	if err != nil {
		return nil, err
	}
	return s.history(name, site{public: public})
}

func ParseOthers(body []byte) ([]Holding, error) {
	s, err := openSheet("list of other holdings", body)
	if err != nil {
		return nil, err
	}
	return s.others()
}

func ParseAnnulments(body []byte) ([]HoldingAnnulment, error) {
	s, err := openSheet("page of annulments", body)
	if err != nil {
		return nil, err
	}
	return s.annulments()
}

func ParseLastDays(body []byte) (LastDays, error) { return parseLastDays(body) }

func ParseIdentity(body []byte, nif string) (Identity, bool, error) { return parseIdentity(body, nif) }

// ParseDecimal and ParseDate are the readers of single cells.
var (
	ParseDecimal = parseDecimal
	ParsePercent = parsePercent
	ParseDate    = parseDay
)
