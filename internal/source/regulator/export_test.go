package regulator

import (
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
	for _, l := range []*limit{&c.limits.feed, &c.limits.page, &c.limits.document, &c.limits.archive} {
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
