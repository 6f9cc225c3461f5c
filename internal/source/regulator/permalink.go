package regulator

import (
	"context"
	"regexp"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/fault"
)

// Permalink reads the page of a report. It returns a fault.NotFound when there is
// no such report.
func (c *Client) Permalink(ctx context.Context, t disclosure.Type, number int64) (Row, error) {
	s, err := findSeries(t)
	if err != nil {
		return Row{}, err
	}
	return c.permalink(ctx, t, s, number)
}

// IssuersHR reads the page of a relevant fact in the division Issuers, like Permalink.
func (c *Client) IssuersHR(ctx context.Context, number int64) (Row, error) {
	return c.permalink(ctx, disclosure.HR, hrOf(Issuers), number)
}

func (c *Client) permalink(ctx context.Context, t disclosure.Type, s series, number int64) (Row, error) {
	a, err := c.get(ctx, s.withNumber(s.page, number), c.limits.page)
	if isGone(err) {
		return Row{}, fault.Wrap(fault.NotFound, err, "the regulator does not have report %s",
			disclosure.ReportID(t, number))
	}
	if err != nil {
		return Row{}, err
	}
	row, err := parsePermalink(t, s, number, a.body, c.site())
	return row, c.checkRedirects(&a, err)
}

func parsePermalink(t disclosure.Type, of series, number int64, body []byte, s site) (Row, error) {
	id := disclosure.ReportID(t, number)
	l := listing{
		site:    s,
		surface: "page of " + id,
		t:       t,
		series:  of,
		dir:     of.dir,
		page:    anyPage,
	}
	p, rows, err := l.read(body)
	if err != nil {
		return Row{}, err
	}
	if len(rows) == 0 {
		return Row{}, fault.New(fault.NotFound, "the regulator does not have report %s", id)
	}
	for _, row := range rows {
		if row.Number != number {
			p.defects.fail(p.line(p.rows[0]), "it shows %s", disclosure.ReportID(t, row.Number))
			return Row{}, p.defects.err()
		}
	}
	row := rows[0]
	row.refineTime(p.published)
	return row, nil
}

var publishedForm = regexp.MustCompile(`^\s*(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})`)

// refineTime adds the seconds from the publication time of the page, that of its
// newest row. It is local time in spite of its Z.
func (r *Row) refineTime(published string) {
	m := publishedForm.FindStringSubmatch(published)
	if m == nil {
		return
	}
	w := wallTime{
		year:  atoi(m[1]),
		month: time.Month(atoi(m[2])),
		day:   atoi(m[3]),
		hour:  atoi(m[4]),
		min:   atoi(m[5]),
		secs:  atoi(m[6]),
	}
	at, later := w.instants()
	if !w.exists() || !at.Truncate(time.Minute).Equal(r.At) {
		return
	}
	r.At = at
	r.Later = later
	r.Surface = disclosure.FromPermalink
}
