package catalog

import (
	"cmp"
	"slices"
	"time"

	"pregon/internal/disclosure"
	"pregon/internal/search"
)

// Analytics are the market's figures. Days, weekdays and hours are Madrid's.
type Analytics struct {
	GeneratedAt time.Time     `json:"generated_at"`
	AsOfSeq     int64         `json:"as_of_seq"`
	Totals      Totals        `json:"totals"`
	Daily       []Daily       `json:"daily"`      // the last 30 days, today last
	Weekdays    []Weekday     `json:"weekdays"`   // Monday first, all filings
	Hours       []Hour        `json:"hours"`      // 0 to 23, all filings
	Categories  []CategoryUse `json:"categories"` // most used first, all filings
	Issuers     []IssuerUse   `json:"issuers"`    // most active first, last 30 days
	Markets     []MarketUse   `json:"markets"`    // most filings first, all filings
	Pace        Pace          `json:"pace"`
}

// Counts are filings by type.
type Counts struct {
	IP  int `json:"IP"`
	HR  int `json:"HR"`
	OIR int `json:"OIR"`
}

func (c *Counts) add(t disclosure.Type) {
	switch t {
	case disclosure.IP:
		c.IP++
	case disclosure.HR:
		c.HR++
	case disclosure.OIR:
		c.OIR++
	}
}

type Totals struct {
	All    int    `json:"all"`
	ByType Counts `json:"by_type"`
}

type Daily struct {
	Date  string `json:"date"`
	Total int    `json:"total"`
	Counts
}

type Weekday struct {
	Weekday string `json:"weekday"`
	Total   int    `json:"total"`
}

type Hour struct {
	Hour  int `json:"hour"`
	Total int `json:"total"`
}

type CategoryUse struct {
	Category string `json:"category"`
	Total    int    `json:"total"`
}

type IssuerUse struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Ticker *string `json:"ticker"`
	Total  int     `json:"total"`
}

type MarketUse struct {
	Market  string `json:"market"`
	Filings int    `json:"filings"`
	Issuers int    `json:"issuers"`
}

// Pace compares today, up to now, with the same weekday up to the same time of
// day over the last eight weeks. Ratio is null when those were empty.
type Pace struct {
	Today int      `json:"today"`
	Usual float64  `json:"usual"`
	Ratio *float64 `json:"ratio"`
}

const (
	dailyDays     = 30
	topCategories = 20
	topIssuers    = 10
	paceWeeks     = 8
)

// Analytics returns the figures as of now, worked out at most once a minute
// for each snapshot.
func (s *Snapshot) Analytics(now time.Time) *Analytics {
	a := &s.analytics
	a.mu.Lock()
	defer a.mu.Unlock()
	if minute := now.Unix() / 60; a.latest == nil || a.minute != minute {
		a.minute, a.latest = minute, s.count(now)
	}
	return a.latest
}

func (s *Snapshot) count(now time.Time) *Analytics {
	c := newCounter(now)
	for _, f := range s.filings {
		c.filing(f)
	}
	for _, e := range s.entities {
		if e.Issuer.Market != "" {
			c.market(e.Issuer.Market).Issuers++
		}
	}
	return c.result(s.seq)
}

// counter gathers the figures in one pass.
type counter struct {
	now        time.Time
	today      disclosure.Day
	out        Analytics
	categories map[string]*CategoryUse
	issuers    map[string]*IssuerUse
	markets    map[string]*MarketUse
	usual      int
}

func newCounter(now time.Time) *counter {
	c := &counter{
		now: now.In(disclosure.Madrid), today: disclosure.DayOf(now),
		categories: map[string]*CategoryUse{}, issuers: map[string]*IssuerUse{}, markets: map[string]*MarketUse{},
	}
	for d := c.today - dailyDays + 1; d <= c.today; d++ {
		c.out.Daily = append(c.out.Daily, Daily{Date: d.String()})
	}
	for _, name := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		c.out.Weekdays = append(c.out.Weekdays, Weekday{Weekday: name})
	}
	for h := range 24 {
		c.out.Hours = append(c.out.Hours, Hour{Hour: h})
	}
	return c
}

func (c *counter) filing(f *search.Filing) {
	local := f.Report.PublishedAt.In(disclosure.Madrid)
	c.out.Totals.All++
	c.out.Totals.ByType.add(f.Report.Type)
	c.out.Weekdays[(f.Day().Weekday()+6)%7].Total++
	c.out.Hours[local.Hour()].Total++
	for _, name := range f.Report.Categories() {
		key := search.Fold(name)
		if c.categories[key] == nil {
			c.categories[key] = &CategoryUse{Category: name}
		}
		c.categories[key].Total++
	}
	if f.Issuer != nil && f.Issuer.Market != "" {
		c.market(f.Issuer.Market).Filings++
	}
	c.recent(f, local)
}

// recent counts what only the last days count for.
func (c *counter) recent(f *search.Filing, local time.Time) {
	age := int(c.today - f.Day())
	if age < 0 {
		return
	}
	if age < dailyDays {
		day := &c.out.Daily[dailyDays-1-age]
		day.Total++
		day.add(f.Report.Type)
		c.issuer(f)
	}
	if age%7 == 0 && age <= 7*paceWeeks && clock(local) <= clock(c.now) {
		if age == 0 {
			c.out.Pace.Today++
		} else {
			c.usual++
		}
	}
}

func (c *counter) issuer(f *search.Filing) {
	id := f.IssuerID()
	if id == "" {
		return
	}
	if c.issuers[id] == nil {
		u := &IssuerUse{ID: id, Name: f.Report.CompanyName}
		if f.Issuer != nil {
			u.Name = f.Issuer.Name
		}
		if f.Ticker != "" {
			u.Ticker = &f.Ticker
		}
		c.issuers[id] = u
	}
	c.issuers[id].Total++
}

func (c *counter) market(name string) *MarketUse {
	if c.markets[name] == nil {
		c.markets[name] = &MarketUse{Market: name}
	}
	return c.markets[name]
}

func (c *counter) result(seq int64) *Analytics {
	a := &c.out
	a.GeneratedAt, a.AsOfSeq = c.now.Truncate(time.Second), seq
	a.Categories = top(c.categories, topCategories, func(a, b CategoryUse) int {
		return cmp.Or(b.Total-a.Total, cmp.Compare(a.Category, b.Category))
	})
	a.Issuers = top(c.issuers, topIssuers, func(a, b IssuerUse) int {
		return cmp.Or(b.Total-a.Total, cmp.Compare(a.ID, b.ID))
	})
	a.Markets = top(c.markets, len(c.markets), func(a, b MarketUse) int {
		return cmp.Or(b.Filings-a.Filings, cmp.Compare(a.Market, b.Market))
	})
	a.Pace.Usual = float64(c.usual) / paceWeeks
	if c.usual > 0 {
		ratio := float64(a.Pace.Today) / a.Pace.Usual
		a.Pace.Ratio = &ratio
	}
	return a
}

// top returns the first n of the values in order.
func top[T any](values map[string]*T, n int, order func(a, b T) int) []T {
	all := make([]T, 0, len(values))
	for _, v := range values {
		all = append(all, *v)
	}
	slices.SortFunc(all, order)
	return all[:min(n, len(all))]
}

// clock is the time of day, so that times of different days compare.
func clock(t time.Time) int { return (t.Hour()*60+t.Minute())*60 + t.Second() }
